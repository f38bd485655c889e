import { homedir } from 'node:os';
import type { Machine } from './places';

export function thisMachine(folders: readonly string[]): Machine {
  return { home: homedir(), platform: process.platform, env: process.env, folders };
}
