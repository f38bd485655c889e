/**
 * Providers and gateways word it differently; these cover Anthropic ("prompt is too long: N tokens > M maximum", "input length
 * and `max_tokens` exceed context limit"), OpenAI-compatible servers ("maximum context length is N tokens"), llama.cpp,
 * LM Studio ("the context the overflows") and vLLM. Limits on output, images or names must not match: compaction would not help.
 */
const patterns: readonly RegExp[] = [
  /\b(prompt|input|conversation|messages?|request)\b[^.]{0,40}\b(is|are) too (long|large)\b/i,
  /\bexceed(s|ed|ing)?\b[^.]{0,60}\bcontext\b/i,
  /\bcontext\b[^.]{0,40}\b(exceed(s|ed)?|overflows?|too (small|short))\b/i,
  /\bmaximum (context|prompt|input) (length|size)\b/i,
  /\btoo many (input|prompt) tokens\b/i,
];

/** Whether a provider's words say that the prompt does not fit the model's window. Only for answers that are not a 429. */
export function isContextOverflow(text: string): boolean {
  return patterns.some((pattern) => pattern.test(text));
}
