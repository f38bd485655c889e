export interface Allowed {
  readonly tags: readonly string[];
  readonly attributes: readonly string[];
  /** A selector of what is not looked at; may be empty. */
  readonly except: string;
}

/** Elements and attributes below `root` that are not on the list, in words. Runs in a page, and so refers to nothing outside of itself. */
export function oddNodes(root: Element, { tags, attributes, except }: Allowed): string[] {
  return [...root.querySelectorAll('*')].flatMap((element) => {
    if (except !== '' && element.matches(except)) return [];
    const name =
      element.namespaceURI === 'http://www.w3.org/1999/xhtml' ? element.localName : `${element.namespaceURI} ${element.localName}`;
    const odd = [...element.attributes]
      .filter((attribute) => !attributes.includes(attribute.name))
      .map((attribute) => `${attribute.name}=${attribute.value}`);
    return [...(tags.includes(name) ? [] : [`<${name}>`]), ...odd];
  });
}
