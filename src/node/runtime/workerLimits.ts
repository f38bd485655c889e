import type { ResourceLimits } from 'node:worker_threads';

/**
 * They bound every worker that lives as long as its program. V8 lets the young generation of each thread grow to 48 MB before it looks for
 * garbage there: in a chat of 300 turns that was 90 of 280 MB in four threads, most of it garbage. A quarter costs no measurable time.
 */
export const workerLimits: ResourceLimits = { maxYoungGenerationSizeMb: 12 };
