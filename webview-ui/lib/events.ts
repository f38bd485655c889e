import type { Attachment } from '../../src/protocol/composer';
import type { ViewRequest } from '../../src/protocol/messages';

/** What the elements tell the app. All bubble; none crosses a shadow root, because the view has none of its own. */
export class AskEvent extends Event {
  static readonly type = 'tk-ask';
  constructor(readonly request: ViewRequest) {
    super(AskEvent.type, { bubbles: true });
  }
}

/** A listener that asks the host for something. */
export function ask(request: ViewRequest): (event: Event) => void {
  return (event) => void event.target?.dispatchEvent(new AskEvent(request));
}

/** A row is expanded or collapsed; remembered while the view is hidden. */
export class ToggleEvent extends Event {
  static readonly type = 'tk-toggle';
  constructor(readonly id: string) {
    super(ToggleEvent.type, { bubbles: true });
  }
}

/** What is being written in a row has changed; remembered while the view is hidden. */
export class UnsentEvent extends Event {
  static readonly type = 'tk-unsent';
  constructor() {
    super(UnsentEvent.type, { bubbles: true });
  }
}

/** Another text for a message of the user; `settled` is told whether it is on its way. */
export class EditEvent extends Event {
  static readonly type = 'tk-edit';
  constructor(
    readonly entry: string,
    readonly text: string,
    readonly settled: (ok: boolean) => void,
  ) {
    super(EditEvent.type, { bubbles: true });
  }
}

/** A queued message was sent, or given back, while the user was giving it another text, which is not lost. */
export class LateEditEvent extends Event {
  static readonly type = 'tk-late-edit';
  constructor(
    readonly text: string,
    /** What the message said before; null where that is not known. */
    readonly original: string | null,
  ) {
    super(LateEditEvent.type, { bubbles: true });
  }
}

/** Spoken politely by a screen reader. */
export class AnnounceEvent extends Event {
  static readonly type = 'tk-announce';
  constructor(readonly text: string) {
    super(AnnounceEvent.type, { bubbles: true });
  }
}

/** Where the reader is: null at the end of the conversation. */
export interface ScrollAnchor {
  readonly id: string;
  /** Pixels from the top of the transcript to the top of the row. */
  readonly offset: number;
}

export class AnchorEvent extends Event {
  static readonly type = 'tk-anchor';
  constructor(readonly anchor: ScrollAnchor | null) {
    super(AnchorEvent.type, { bubbles: true });
  }
}

/** Asks for the picture of an attachment; `show` is called with its address, or null when there is none. */
export class PictureEvent extends Event {
  static readonly type = 'tk-picture';
  constructor(
    readonly attachment: Pick<Attachment, 'hash' | 'mime'>,
    readonly show: (address: string | null) => void,
  ) {
    super(PictureEvent.type, { bubbles: true });
  }
}

/** Asks which links open as files of the workspace; `show` is called with those that do. */
export class FilesEvent extends Event {
  static readonly type = 'tk-files';
  constructor(
    readonly hrefs: readonly string[],
    readonly show: (found: readonly string[]) => void,
  ) {
    super(FilesEvent.type, { bubbles: true });
  }
}

/** Something grows because the user wants to see it: what is above it stays where it is. */
export class HoldEvent extends Event {
  static readonly type = 'tk-hold';
  constructor() {
    super(HoldEvent.type, { bubbles: true });
  }
}

export class OlderEvent extends Event {
  static readonly type = 'tk-older';
  constructor() {
    super(OlderEvent.type, { bubbles: true });
  }
}

/** Sent on the document, because the element that failed may no longer be in it. */
export class FaultEvent extends Event {
  static readonly type = 'tk-fault';
  constructor(readonly fault: string) {
    super(FaultEvent.type);
  }
}

/** The user wants a fresh view; sent on the document. */
export class ReloadEvent extends Event {
  static readonly type = 'tk-reload';
  constructor() {
    super(ReloadEvent.type);
  }
}

declare global {
  interface GlobalEventHandlersEventMap {
    'tk-ask': AskEvent;
    'tk-toggle': ToggleEvent;
    'tk-edit': EditEvent;
    'tk-announce': AnnounceEvent;
    'tk-anchor': AnchorEvent;
    'tk-older': OlderEvent;
    'tk-picture': PictureEvent;
    'tk-files': FilesEvent;
    'tk-hold': HoldEvent;
    'tk-late-edit': LateEditEvent;
  }
  interface DocumentEventMap {
    'tk-fault': FaultEvent;
    'tk-reload': ReloadEvent;
  }
}
