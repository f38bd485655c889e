/** What a script would try that has got into the document, and the directive that refuses it. */
export const attempts = {
  'inline script': 'script-src-elem',
  'inline handler': 'script-src-attr',
  eval: 'script-src',
  'remote script': 'script-src-elem',
  'remote image': 'img-src',
  fetch: 'connect-src',
  font: 'font-src',
  frame: 'frame-src',
  'style sheet': 'style-src-elem',
  form: 'form-action',
  base: 'base-uri',
} as const;
export type Attempt = keyof typeof attempts;

/**
 * Source of a function for a page, as text since the tests of VS Code know no document: takes `tried`, an attempt, the `url` of a witness,
 * and `waits`, whether it ends where nothing refuses the attempt. Resolves with the directive that did and whether code of it ran.
 */
export const tryInPage = `({ tried, url, waits }) => new Promise((resolve) => {
  delete globalThis.ran;
  const end = (refused) => resolve({ refused, ran: globalThis.ran === true });
  const passed = () => waits && setTimeout(() => end(''));
  document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => end(effectiveDirective), { once: true });
  const add = (tag, attributes, text = '') => {
    const element = Object.assign(document.createElement(tag), { textContent: text });
    for (const type of ['load', 'error']) element.addEventListener(type, passed);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    document.body.append(element);
    return element;
  };
  const all = {
    'inline script': () => (add('script', {}, 'globalThis.ran = true'), passed()),
    'inline handler': () => (add('button', { onclick: 'globalThis.ran = true' }).click(), passed()),
    eval: () => ((0, eval)('globalThis.ran = true'), passed()),
    'remote script': () => add('script', { src: url + '/script.js' }),
    'remote image': () => add('img', { src: url + '/picture.png' }),
    fetch: () => fetch(url + '/fetch').then(passed, passed),
    font: () => new FontFace('witness', 'url(' + url + '/font.woff2)').load().then(passed, passed),
    frame: () => add('iframe', { src: url + '/frame' }),
    'style sheet': () => add('link', { rel: 'stylesheet', href: url + '/style.css' }),
    form: () => (add('iframe', { name: 'form-target' }), add('form', { action: url + '/form', method: 'post', target: 'form-target' }).submit(), passed()),
    base: () => (add('base', { href: url + '/base/' }), passed()),
  };
  // A debugger's evaluation may use eval whatever the policy says; a task of its own may not.
  setTimeout(() => {
    try {
      all[tried]();
    } catch {
      // The event says what refused it.
    }
  });
})`;
