import { isObject, type Json } from '../../base/json';
import { estimateTokens } from '../../context/measure/estimateTokens';
import { wholeCharacters } from '../../context/projection/excerpt';
import type { HandedCall, HandedStep } from './handedStep';

/** Less of an input or a result says nothing. */
const least = 40;
/** What a call takes when it is cut as short as it gets, its name and its form included. */
const fewestPerCall = 150;

/** A step that takes no more than this: what its calls were given and have returned is cut until it fits, the longest first. */
export function boundedStep(step: HandedStep, tokens: number, sizeOf: (step: HandedStep) => number): HandedStep {
  if (sizeOf(step) <= tokens) return step;
  const mostCalls = Math.max(1, Math.floor((tokens - estimateTokens(step.text)) / fewestPerCall));
  const left = Math.max(0, step.calls.length - mostCalls);
  const text = left === 0 ? step.text : [step.text, `[… ${left} earlier calls left out …]`].filter((one) => one !== '').join('\n\n');
  let bounded: HandedStep = { ...step, text, calls: step.calls.slice(left) };
  for (let most = tokens; sizeOf(bounded) > tokens && most > least; most = Math.floor(most / 2))
    bounded = { ...bounded, calls: bounded.calls.map((call) => boundedCall(call, most)) };
  return bounded;
}

function boundedCall(call: HandedCall, most: number): HandedCall {
  const { input, result } = call;
  return { ...call, input: boundedInput(input, most), result: { ...result, text: shortened(result.text, most) } };
}

/** Its own form with shorter texts; where it has too many of them, the beginning and the end of it as one text. */
function boundedInput(input: Json, tokens: number): Json {
  const sizeOf = (one: unknown) => estimateTokens(JSON.stringify(one));
  if (sizeOf(input) <= tokens) return input;
  for (let most = tokens; most > least; most = Math.floor(most / 4)) {
    const shorter = withShorterTexts(input, most);
    if (isObject(shorter) && sizeOf(shorter) <= tokens) return shorter;
  }
  return { shortened: shortened(JSON.stringify(input), Math.floor(tokens / 2)) };
}

function withShorterTexts(value: unknown, tokens: number): unknown {
  if (typeof value === 'string') return shortened(value, tokens);
  if (Array.isArray(value)) return value.map((one) => withShorterTexts(one, tokens));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withShorterTexts(one, tokens)]));
}

/** Kept of a text at least. */
const fewestCharacters = 60;

/** Its beginning and its end, with what is left out between them said; no shorter than a line. */
export function shortened(text: string, tokens: number): string {
  const size = estimateTokens(text);
  if (size <= tokens || text.length <= fewestCharacters * 2) return text;
  // The parts that are kept may be denser than the whole.
  for (let room = Math.floor((text.length * tokens) / size) - 60; ; room = Math.floor(room * 0.8)) {
    const kept = Math.max(fewestCharacters, room);
    const head = wholeCharacters(text, 0, Math.floor(kept * 0.7));
    const tail = wholeCharacters(text, text.length - Math.floor(kept * 0.3), text.length);
    const cut = `${head}\n\n[… ${text.length - head.length - tail.length} characters left out …]\n\n${tail}`;
    if (kept === fewestCharacters || estimateTokens(cut) <= tokens) return cut;
  }
}
