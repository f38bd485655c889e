import createDOMPurify from 'dompurify';

const purify = createDOMPurify(window);

/** Nothing that loads, runs, styles or submits. Links carry their target in `data-href` and are opened by the host. */
const tags = [
  'a',
  'b',
  'blockquote',
  'br',
  'code',
  'del',
  'div',
  'em',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'hr',
  'i',
  'ins',
  'kbd',
  'li',
  'mark',
  'ol',
  'p',
  'pre',
  's',
  'small',
  'span',
  'strong',
  'sub',
  'sup',
  'table',
  'tbody',
  'td',
  'th',
  'thead',
  'tr',
  'u',
  'ul',
];

/**
 * Web and mail addresses, and what may be a file: without a scheme, with that of files, with a drive's letter, or a name and a line
 * (`package.json:12`). The host looks closer.
 */
export const openableLink =
  /^(?:https?:|mailto:|file:\/\/\/|[\w+-][\w.+-]*\.\w+:\d+(?::\d+)?$|(?:[a-z]:[\\/]|(?![a-z][a-z\d+.-]*:|\/\/|#))[^\s"'<>&?*|]+$)/i;

/** The only way from text to nodes in this view. */
export function sanitise(html: string): DocumentFragment {
  return purify.sanitize(html, {
    ALLOWED_TAGS: tags,
    ALLOWED_ATTR: ['align', 'class', 'data-href', 'data-math', 'start', 'title'],
    ALLOWED_URI_REGEXP: openableLink,
    ADD_URI_SAFE_ATTR: ['align', 'start'],
    ALLOW_ARIA_ATTR: false,
    ALLOW_DATA_ATTR: false,
    KEEP_CONTENT: true,
    RETURN_DOM_FRAGMENT: true,
  });
}

const purifyMath = createDOMPurify(window);

/** Presentation only: nothing that links, loads, acts or carries another language. */
const mathTags = [
  '#text',
  'span',
  'math',
  'menclose',
  'merror',
  'mfrac',
  'mi',
  'mn',
  'mo',
  'mover',
  'mpadded',
  'mphantom',
  'mroot',
  'mrow',
  'ms',
  'mspace',
  'msqrt',
  'mstyle',
  'msub',
  'msubsup',
  'msup',
  'mtable',
  'mtd',
  'mtext',
  'mtr',
  'munder',
  'munderover',
  'semantics',
];

const mathAttributes = [
  'accent',
  'accentunder',
  'class',
  'depth',
  'display',
  'displaystyle',
  'fence',
  'height',
  'largeop',
  'linethickness',
  'lspace',
  'mathbackground',
  'mathcolor',
  'mathvariant',
  'maxsize',
  'minsize',
  'movablelimits',
  'rspace',
  'scriptlevel',
  'separator',
  'stretchy',
  'symmetric',
  'width',
];

/** Back by more than a thin space, a formula could write over what others have said. */
const mostBack = 0.5;
purifyMath.addHook('uponSanitizeAttribute', (_, data) => {
  if (data.attrValue.startsWith('-') && !(Number.parseFloat(data.attrValue) >= -mostBack && data.attrValue.endsWith('em')))
    data.keepAttr = false;
});

/** Nodes of a formula, of what a library has made of it. */
export function sanitiseFormula(markup: string): DocumentFragment {
  return purifyMath.sanitize(markup, {
    ALLOWED_TAGS: mathTags,
    ALLOWED_ATTR: mathAttributes,
    ALLOW_ARIA_ATTR: false,
    ALLOW_DATA_ATTR: false,
    KEEP_CONTENT: false,
    RETURN_DOM_FRAGMENT: true,
  });
}
