import { posix } from 'node:path';

export interface FileLink {
  /**
   * As a file system of `/` has it, decoded, without `.` and with `..` only in front; absolute or relative to a folder of the workspace.
   */
  readonly path: string;
  /** Counted from 1. */
  readonly line: number | null;
}

/**
 * What a link of an answer means that is no web address: `src/a.ts`, `src/a.ts#L12`, `src/a.ts:12:3`, `file:///tides/src/a.ts`; null for
 * anything else.
 */
export function fileLink(href: string): FileLink | null {
  const text = href.trim();
  const place = /^(.+?)(?:#L?(\d+)(?:[-,:CL][-,:CL\d]*)?|:(\d+)(?::\d+)?)?$/.exec(text);
  const path = decoded(place?.[1]?.replace(/^file:\/\/(?=\/)/i, '') ?? '');
  // A scheme of one letter is the drive of a path of Windows.
  if (!place || path === null || path === '' || path.startsWith('//') || path.startsWith('#') || /^[a-z][a-z\d+.-]+:/i.test(path))
    return null;
  const line = Number(place[2] ?? place[3] ?? 0);
  return { path: posix.normalize(path.replaceAll('\\', '/')), line: line > 0 ? line : null };
}

function decoded(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}
