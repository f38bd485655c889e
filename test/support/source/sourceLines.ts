import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';

/** A place in a built file that was made from a line of a source. */
export interface MappedPlace {
  /** Characters from the start of the built file. */
  readonly offset: number;
  /** Relative to the project. */
  readonly source: string;
  /** From 1. */
  readonly line: number;
}

interface SourceMapText {
  readonly sources: readonly string[];
  readonly mappings: string;
}

/** The places of a built file that come from sources `wanted`, in the order of the file, by its source map. */
export function mappedPlaces(file: string, project: string, wanted: (source: string) => boolean): MappedPlace[] {
  const text = readFileSync(file, 'utf8');
  const map = mapOf(file, text);
  if (!map) return [];
  const sources = map.sources.map((source) => relative(project, resolve(dirname(file), source)).replaceAll('\\', '/'));
  return placesOf(map.mappings, lineStarts(text), sources).filter(({ source }) => wanted(source));
}

/** `starts`: where each line of the built text begins. */
export function placesOf(mappings: string, starts: readonly number[], sources: readonly string[]): MappedPlace[] {
  const places: MappedPlace[] = [];
  let [source, line] = [0, 0];
  for (const [row, segments] of mappings.split(';').entries()) {
    let column = 0;
    for (const segment of segments === '' ? [] : segments.split(',')) {
      const [columns = 0, ofSource, lines = 0] = numbersOf(segment);
      column += columns;
      if (ofSource === undefined) continue;
      source += ofSource;
      line += lines;
      places.push({ offset: (starts[row] ?? 0) + column, source: sources[source] ?? '', line: line + 1 });
    }
  }
  return places;
}

export function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function mapOf(file: string, text: string): SourceMapText | undefined {
  const at = text.lastIndexOf('//# sourceMappingURL=');
  if (at === -1) return undefined;
  const url = text.slice(at + '//# sourceMappingURL='.length).trim();
  const inline = /^data:application\/json;base64,(.*)$/s.exec(url)?.[1];
  return JSON.parse(
    inline === undefined ? readFileSync(resolve(dirname(file), url), 'utf8') : Buffer.from(inline, 'base64').toString('utf8'),
  ) as SourceMapText;
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Base64 VLQ: five bits to a digit, the lowest first, a sixth says that more follow; the lowest bit of the number is its sign. */
function numbersOf(segment: string): number[] {
  const numbers: number[] = [];
  let [value, shift] = [0, 0];
  for (const digit of segment) {
    const bits = digits.indexOf(digit);
    value += (bits & 31) << shift;
    shift += 5;
    if (bits & 32) continue;
    numbers.push(value & 1 ? -(value >>> 1) : value >>> 1);
    [value, shift] = [0, 0];
  }
  return numbers;
}
