import { html, type TemplateResult } from 'lit';

/** Line drawings on a 16 × 16 grid. */
const paths = {
  add: 'M8 3v10M3 8h10',
  apply: 'M8 2.5v6M5 5.5h6M5 12.5h6',
  arrowDown: 'M8 3v10M4 9l4 4 4-4',
  arrowUp: 'M8 13V3M4 7l4-4 4 4',
  bell: 'M8 2.5a3.5 3.5 0 0 0-3.5 3.5c0 3-1.5 4.2-1.5 5h10c0-.8-1.5-2-1.5-5A3.5 3.5 0 0 0 8 2.5zM6.7 13.2a1.4 1.4 0 0 0 2.6 0',
  branch:
    'M5 5v6M5 2.5a1.3 1.3 0 1 0 0 2.6 1.3 1.3 0 0 0 0-2.6zM5 11a1.3 1.3 0 1 0 0 2.6A1.3 1.3 0 0 0 5 11zM11 4a1.3 1.3 0 1 0 0 2.6A1.3 1.3 0 0 0 11 4zM11 6.6c0 2.6-6 1.6-6 4.4',
  check: 'M3 8.5l3.2 3.2L13 5',
  chevronDown: 'M4 6l4 4 4-4',
  chevronLeft: 'M10 4L6 8l4 4',
  chevronRight: 'M6 4l4 4-4 4',
  clock: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM8 5v3l2.2 1.6',
  close: 'M4 4l8 8M12 4l-8 8',
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
  edit: 'M10.8 2.8l2.4 2.4-7.7 7.7-3 .6.6-3z',
  error: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM6 6l4 4M10 6l-4 4',
  folder: 'M2.5 4h4l1.3 1.5h5.7v7h-11z',
  image: 'M2.5 3.5h11v9h-11zM2.5 11l3.2-3.2 2.6 2.6L10.5 8l3 3M10.5 6h.1',
  eye: 'M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8zM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z',
  history: 'M2.5 8a5.5 5.5 0 1 0 1.7-4M2.5 2.5v2.8h2.8M8 5v3.3l2.2 1.4',
  eyeClosed: 'M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8zM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6zM3 13L13 3',
  file: 'M4 2.5h5l3 3v8H4zM9 2.5v3h3',
  fold: 'M3 8h10M8 1.8v4M6 4.2l2 2 2-2M8 14.2v-4M6 11.8l2-2 2 2',
  info: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM8 7.4v3.4M8 5.2v.3',
  insert: 'M2.5 8h7M6.5 4.8L9.7 8l-3.2 3.2M13 3v10',
  label: 'M2.5 3h5l6 5.5-4.8 4.8L2.5 7.5zM5.3 5.4v.3',
  lock: 'M4.5 7.2h7v6h-7zM6 7.2V5a2 2 0 0 1 4 0v2.2',
  milestone: 'M8 2.5v11M4 5.5h8l1.8 2-1.8 2H4z',
  more: 'M3.5 8h.1M8 8h.1M12.5 8h.1',
  paperclip: 'M11.5 5v5.8a3.3 3.3 0 0 1-6.6 0V4.4a2.1 2.1 0 0 1 4.2 0v6.1a.9.9 0 0 1-1.8 0V5',
  pin: 'M6 2.5h4M6.7 2.5v4.2L4.5 9.5h7L9.3 6.7V2.5M8 9.5v4.3',
  play: 'M4.5 3v10l8-5z',
  retry: 'M13 3v3.5H9.5M12.7 6.2A5.2 5.2 0 1 0 13 9.5',
  send: 'M2.8 13.2L13.5 8 2.8 2.8l1.4 4.4L9 8l-4.8.8z',
  stop: 'M4.5 4.5h7v7h-7z',
  terminal: 'M2.5 3.5h11v9h-11zM5 6l2 2-2 2M8.5 10H11',
  tool: 'M13 4.6a3.2 3.2 0 0 1-4.3 4L4.6 12.8a1.2 1.2 0 0 1-1.7-1.7L7.3 7.2a3.2 3.2 0 0 1 4-4.3L9.4 4.9l1.7 1.7z',
  undo: 'M5.5 3L2.8 5.7l2.7 2.7M3 5.7h6.5a3.6 3.6 0 0 1 0 7.2H6',
  warning: 'M8 2.5l5.8 10.5H2.2zM8 6.5v3.3M8 11.3v.3',
} as const;
export type IconName = keyof typeof paths;

/** Decoration: whatever carries it has a text or a label of its own. */
export function icon(name: IconName): TemplateResult {
  return html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false"><path d=${paths[name]}></path></svg>`;
}

export function iconElement(name: IconName): SVGSVGElement {
  const space = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(space, 'svg');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(space, 'path');
  path.setAttribute('d', paths[name]);
  svg.append(path);
  return svg;
}
