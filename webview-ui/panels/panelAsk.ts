import type { PanelRequest } from '../../src/protocol/panels';

/** What an element of a panel wants of the host. */
export class PanelAskEvent extends Event {
  static readonly type = 'tk-panel-ask';
  constructor(readonly request: PanelRequest) {
    super(PanelAskEvent.type, { bubbles: true });
  }
}

declare global {
  interface GlobalEventHandlersEventMap {
    'tk-panel-ask': PanelAskEvent;
  }
}
