const { createElement } = document;

/**
 * While it loads, the toolkit's foundation asks whether the browser knows `:focus-visible` by adding an inline style element.
 * The content security policy blocks that, and the toolkit would then draw focus rings around what the mouse has clicked. So
 * the question is answered by a sheet that applies to nothing, in an element that is allowed. Import before the toolkit.
 */
document.createElement = ((name: string, options?: ElementCreationOptions) => {
  if (name !== 'style') return createElement.call(document, name, options);
  return Object.defineProperty(createElement.call(document, 'template'), 'sheet', { value: new CSSStyleSheet() });
}) as typeof createElement;

/** Call once the toolkit is loaded. */
export function endToolkitProbe(): void {
  document.createElement = createElement;
}
