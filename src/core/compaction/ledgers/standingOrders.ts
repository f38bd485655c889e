import { splitSentences } from '../../recall/splitSentences';

/**
 * How people say what is to hold from then on, in English and Chinese. Wide on purpose: a sentence too many costs twenty tokens, a
 * rule that is lost costs the user's trust, and searching finds a rule only when somebody thinks of looking (measured: 6 %).
 */
const cues = [
  /\b(?:always|never|must(?:n['’]t)?|shall|from now on|from here on|going forward|in (?:the )?future|every time|whenever|each time|by default|no longer|at all times|under no circumstances)\b/i,
  /\b(?:standing )?(?:rule|rules|convention|constraint|requirement|policy)\b\s*(?:#?\d+\s*)?(?::|is\b|are\b)/i,
  /\b(?:do not|don['’]t|make sure|be sure|remember (?:to|that)|keep in mind|stick to|i prefer|we prefer|i want you to|only use|avoid)\b/i,
  /总是|永远|始终|不要|别再|不得|禁止|必须|务必|一定要|以后|今后|从现在(?:起|开始)|每次|每当|一律|默认|长期|规则|约定|请记住|记得|我(?:更)?喜欢|都用|都要|只用|避免/,
];

/** Longer sentences are pasted text rather than an order. */
const longestOrder = 300;
const mostPerMessage = 5;
/** Only the ends of a long message are the user's own words; a paste stands between or behind them. */
const ownWords = 600;

/** The sentences of a user's message that sound as if they were meant to hold beyond it; verbatim, in order. */
export function standingOrders(text: string): string[] {
  return ownSentences(text, longestOrder)
    .filter((sentence) => cues.some((cue) => cue.test(sentence)))
    .slice(0, mostPerMessage);
}

/** The statements of a user's message, those of a paste left out; verbatim, in order, each once. */
export function ownSentences(text: string, longest: number): string[] {
  const parts = text.length <= 2 * ownWords ? [text] : [text.slice(0, ownWords), text.slice(-ownWords)];
  const sentences = parts.flatMap((part) => splitSentences(part).map(({ start, end }) => part.slice(start, end)));
  return [...new Set(sentences)].filter((sentence) => sentence.length <= longest && !/[?？]$/.test(sentence));
}
