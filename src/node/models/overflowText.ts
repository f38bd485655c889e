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

/** How servers name the limit that a prompt has exceeded: Anthropic (alone, and with the answer), OpenAI and vLLM, LM Studio, llama.cpp. */
const limits: readonly RegExp[] = [
  /\btokens > ([\d,]+) maximum\b/i,
  /\bcontext limit: [\d,]+ \+ [\d,]+ > ([\d,]+)/i,
  /\bmaximum (?:context|model) length (?:is|of) ([\d,]+)/i,
  /\bcontext (?:length|size|window)(?: is| of)?(?: only)? \(?([\d,]+)/i,
  /"n_ctx"\s*:\s*(\d+)/,
];

/** Nobody offers less; smaller numbers in such a text are something else. */
const smallest = 256;

/** The window that a refusal for length names: "This model's maximum context length is 8192 tokens". */
export function contextLimitOf(text: string): number | undefined {
  for (const pattern of limits) {
    const limit = Number(pattern.exec(text)?.[1]?.replaceAll(',', ''));
    if (limit >= smallest) return limit;
  }
  return undefined;
}
