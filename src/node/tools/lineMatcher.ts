import { createContext, Script } from 'node:vm';
import { errorText } from '../../core/errors';
import { ToolFault } from '../../core/tools/tool';

/** All files of one search together. */
const mostMs = 2_000;
const script = new Script('lines.flatMap((line, i) => (expression.test(line) ? [i + 1] : []))');
/** A context of its own, only because that can be given a time limit: an expression may take exponential time. */
const sandbox: { lines: readonly string[]; expression: RegExp | null } = { lines: [], expression: null };
createContext(sandbox);

/** Numbers of the lines that match; throws `ToolFault` for an expression that is not valid, or takes too long over its calls. */
export function lineMatcher(pattern: string, ignoreCase: boolean): (lines: readonly string[]) => readonly number[] {
  let expression: RegExp;
  try {
    expression = new RegExp(pattern, ignoreCase ? 'iu' : 'u');
  } catch (error) {
    throw new ToolFault(`This is no regular expression: ${errorText(error)}`);
  }
  let left = mostMs;
  return (lines) => {
    const began = performance.now();
    Object.assign(sandbox, { lines, expression });
    try {
      return Array.from(script.runInContext(sandbox, { timeout: Math.max(1, Math.round(left)) }) as Iterable<number>);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw new ToolFault('This regular expression takes too long. Make it simpler, search fewer files, or search for plain text.');
      throw error;
    } finally {
      left -= performance.now() - began;
      Object.assign(sandbox, { lines: [], expression: null });
    }
  };
}
