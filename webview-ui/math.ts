import katex from 'katex';
import { useVariants } from './render/mathVariants';

/** Fetched by the chat's page once an answer holds a formula (`render/formulas.ts`). */

/** A formula that defines commands may say much with little: it gets fewer of them, and has to be short. */
const defines = /\\(?:[gex]?def|g?let|futurelet|(?:re|provide)?(?:new)?command|global|long)(?![a-zA-Z])/;
const mostDefining = 500;
/** Characters of MathML: about 5,000 signs, which are sanitised and laid out in 150 ms. */
const mostMarkup = 150_000;

/** The colour of what the library refuses and shows all the same. */
const refused = '#bad0bad';

window.renderFormula = (tex, isBlock) => {
  const isDefining = defines.test(tex);
  if (isDefining && tex.length > mostDefining) return null;
  const markup = katex.renderToString(tex, {
    output: 'mathml',
    displayMode: isBlock,
    throwOnError: true,
    errorColor: refused,
    trust: false,
    strict: 'ignore',
    maxSize: 20,
    maxExpand: isDefining ? 100 : 1000,
  });
  if (markup.length > mostMarkup) return null;
  if (markup.includes(refused)) return null;
  const { body } = new DOMParser().parseFromString(markup, 'text/html');
  for (const note of body.querySelectorAll('annotation')) note.remove();
  useVariants(body);
  return body.innerHTML;
};
