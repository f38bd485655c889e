import { timeText } from './dateText';
import { exactTokens, hasToken } from './exactTokens';
import { fold, queryTerms, tokenizeTerms } from './tokenizeTerms';
import { frameTerms } from './wordForms';
import { recallToolName } from './history';
import type { SearchHit, SearchResult } from '../session/searchQuery';

/**
 * Words with which people point back at what was said. Each alternative names somebody who said it, or the time when it was said:
 * "before you start", "we should decide" and "remember to run the tests" point at nothing.
 */
const pointsBack = [
  /\b(?:as|like|what|which|where|when|why|how|that|the \w+(?: \w+)?) (?:we|you|i) (?:had |have )?(?:already )?(?:just )?(?:decided|agreed|discussed|settled|planned|wrote|chose|picked|talked|mentioned|said|told|suggested|proposed|explained|defined|noted|set up|came up)\b/iu,
  /\b(?:we|you|i) (?:had |have )?(?:already )?(?:decided|agreed|discussed|settled|talked about|mentioned|told (?:you|me)|suggested|proposed|explained)\b[^.?!\n]{0,80}\b(?:earlier|before|previously|last (?:time|week|month|session)|the other day|yesterday|back then|ago)\b/iu,
  /\b(?:earlier|previously|last (?:time|session)|the other day|in (?:the|our) (?:last|previous|earlier|other) (?:session|chat|conversation|discussion))\b[^.?!\n]{0,40}\b(?:we|you|i)\b/iu,
  /\b(?:do you|can you|you) (?:still )?(?:remember|recall) (?:what|which|when|where|why|how|the|our|that)\b/iu,
  /\bwhat did (?:we|you|i) (?:decide|agree|say|choose|settle|plan|conclude|suggest|propose|call)\b/iu,
  /\b(?:our|the) (?:earlier|previous|former|old|last) (?:decision|agreement|discussion|conversation|plan|conclusion)\b/iu,
  /\b(?:from|in) (?:our|the) (?:last|previous|earlier|other) (?:session|chat|conversation|discussion)\b/iu,
  /(?:上次|上回|之前|先前|早先|以前|那天|昨天|上周)[^。？！\n]{0,12}(?:说|讨论|决定|定|约|商量|提|聊|谈|选|写)/u,
  /(?:我们|咱们|你|我)(?:[^。？！\n]{0,6})(?:说过|讨论过|决定过|定过|提过|聊过|谈过|商量过|说好|约好|定好|定下|商定)/u,
  /(?:还)?记得[^。？！\n]{0,20}(?:吗|么|什么|哪|怎么|多少)/u,
  /(?:按照?|照着?|依照|根据)[^。？！\n]{0,12}(?:决定|约定|方案|讨论|说的|说好的|商量)/u,
] as const;

/** A pasted page that happens to say "as we discussed" is about itself. */
const longest = 600;
/** A hit has to hold this share of the words that a message has beside those that point back. */
const leastCovered = 0.6;
const leastTerms = 2;
/** Words with which a message points back, or asks for what to do with what was said: none of them says what it was about. */
const pointing = new Set(
  tokenizeTerms(
    'as like what which decided agreed discussed settled planned wrote chose picked talked mentioned said told suggested proposed explained defined ' +
      'noted set up earlier before previously last time week month session other day yesterday ago chat conversation discussion remember recall ' +
      'decision agreement plan conclusion decide agree say choose suggest propose please use make do now again still old our previous former already keep same way something anything apply follow',
  ),
);
const pointingChinese =
  /上次|上回|之前|先前|早先|以前|那天|昨天|上周|我们|咱们|说过|讨论过?|决定过?|定下|商定|商量过?|约定|约好|说好的?|还?记得|按照?|照着?|依照|根据|方案|提过|聊过|谈过|请|一下|吗|什么|是?怎么(?:定|说|做)?|是|的|来做?|就|做/gu;

/** What a message points back at, as a query; null where it points at nothing. */
export function referenceIn(message: string): string | null {
  if (message.length > longest || !pointsBack.some((pattern) => pattern.test(message))) return null;
  const sentences = message.split(/(?<=[.!?。！？])\s*|\n/u).filter((sentence) => pointsBack.some((pattern) => pattern.test(sentence)));
  const said = sentences.join(' ').replace(pointingChinese, ' ');
  const words = said.split(/\s+/).filter((word) => queryTerms(word).some((term) => !pointing.has(term) && !frameTerms.has(term)));
  const query = words.join(' ');
  return queryTerms(query).length === 0 ? null : query;
}

/**
 * The hit that a message points back at, which is none that points back itself; null where that is not sure. Sure is what has most of its
 * words, two at least or one that means itself, and rare ones: words that stand in every tenth passage are no topic.
 */
export function sureHit(query: string, { hits, terms, statistics }: SearchResult, isOpen: (hit: SearchHit) => boolean): SearchHit | null {
  const exact = exactTokens(query);
  // A noun may be asked for in two forms; one of them is enough.
  const written = new Set(tokenizeTerms(query));
  const weights = terms.map((term, t) =>
    written.has(term) ? Math.log((statistics.count + 1) / ((statistics.documentFrequency[t] ?? 0) + 0.5)) : 0,
  );
  const whole = terms.reduce((sum, _, t) => sum + Math.max(0, weights[t] ?? 0), 0);
  for (const hit of hits.filter((one) => !pointsAway(one)).slice(0, 5)) {
    if (hit.beside !== null || isOpen(hit)) continue;
    const own = new Set(tokenizeTerms(hit.text));
    const found = terms.flatMap((term, t) => (written.has(term) && own.has(term) ? [t] : []));
    const covered = found.reduce((sum, t) => sum + Math.max(0, weights[t] ?? 0), 0);
    const folded = fold(hit.text.normalize('NFKC'));
    if (exact.some((token) => hasToken(folded, token))) return hit;
    if (
      found.length >= Math.min(leastTerms, weights.filter((weight) => weight > 0).length) &&
      covered >= leastCovered * whole &&
      covered > 0
    )
      return hit;
  }
  return null;
}

/** A message of the user's that points back itself is no source: it may be the former version of the one that is answered. */
function pointsAway({ role, text }: SearchHit): boolean {
  return role === 'user' && referenceIn(text) !== null;
}

/** One line for the model. It names the entry and quotes nothing. */
export function hintText({ seq, at, session, sessionId }: SearchHit, current: string): string {
  const place = session === current ? 'earlier in this conversation' : `in another conversation, ${sessionId}`;
  return `The message may refer to #${seq} (${timeText(at)}, ${place}): ${recallToolName} {"around": "#${seq}"} reads it.`;
}
