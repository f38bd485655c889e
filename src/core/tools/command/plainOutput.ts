/** A sequence that is not complete by then is none. */
const mostHeld = 4_096;

/** CSI, OSC with either end, other strings, and escapes of two signs (ECMA-48). */
const sequences = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[PX^_][^\u001b]*\u001b\\|[ -/]+[0-~]|[0-Z\\^-~])/g;
/** What may be the beginning of one. */
const begun = /\u001b(?:\[[0-?]*[ -/]*|\][^\u0007\u001b]*\u001b?|[PX^_][^\u001b]*\u001b?|[ -/]*)?$/;

/** Takes from what a program prints to a terminal all that is not text, whatever pieces it comes in. Lines end in `\n`. */
export class PlainOutput {
  private held = '';

  constructor(private readonly print: (text: string) => void) {}

  add(part: string): void {
    const text = this.held + part;
    const at = text.search(begun);
    const cut = text.endsWith('\r') ? text.length - 1 : at >= 0 && text.length - at <= mostHeld ? at : text.length;
    this.held = text.slice(cut);
    this.show(text.slice(0, cut));
  }

  end(): void {
    this.show(this.held);
    this.held = '';
  }

  private show(text: string): void {
    const plain = text
      .replace(sequences, '')
      .replaceAll('\r\n', '\n')
      // A line that is written over, as progress is.
      .replaceAll('\r', '\n')
      // Bells, backspaces and the like.
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, '');
    if (plain !== '') this.print(plain);
  }
}
