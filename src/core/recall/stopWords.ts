/** English function words, folded; words that carry a question's meaning in code ("null", "not", "no") are kept out of it. */
export const stopWords: ReadonlySet<string> = new Set(
  (
    'a about above after again all also am an and any are as at be because been before being below between both but by can could did do does ' +
    'doing down during each few for from further had has have having he her here hers him his how i if in into is it its itself just ' +
    'let like me more most my myself of off on once only or other our ours out over own please same shall she should so some such than ' +
    'that the their theirs them then there these they this those through to too under until up upon us very was we were what when where ' +
    'which while who whom whose why will with would yes you your yours d ll m re s t ve don didn doesn isn wasn weren won'
  ).split(' '),
);
