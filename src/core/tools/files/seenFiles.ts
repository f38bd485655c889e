import type { Place } from '../guard/workspacePath';

/** What the model knows of files: as it last read or wrote them in this conversation, since it was opened. */
export class SeenFiles {
  private readonly marks = new Map<string, string>();

  note(place: Place, text: string): void {
    this.marks.set(keyOf(place), markOf(text));
  }

  /** True when the model has seen another text than this one; false also when it has seen none. */
  hasChanged(place: Place, text: string): boolean {
    const mark = this.marks.get(keyOf(place));
    return mark !== undefined && mark !== markOf(text);
  }
}

function keyOf({ folder, path }: Place): string {
  return `${folder}/${path}`;
}

/** Length and two 32-bit hashes (FNV-1a with different seeds): enough to tell versions of a file apart. */
function markOf(text: string): string {
  let a = 0x811c9dc5;
  let b = 0x01000193;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ code, 0x85ebca6b);
  }
  return `${text.length}.${a >>> 0}.${b >>> 0}`;
}
