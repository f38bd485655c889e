import { Frames } from '../../../src/core/frames/frames';

/** Of a session in a test without a store. */
export const testSeal = '01234567890123456789012345678';
export const testFrames = new Frames(testSeal);
