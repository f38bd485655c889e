/** How servers name the limit that a prompt has exceeded: Anthropic (alone, and with the answer), OpenAI and vLLM, LM Studio, llama.cpp. */
const patterns: readonly RegExp[] = [
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
  for (const pattern of patterns) {
    const limit = Number(pattern.exec(text)?.[1]?.replaceAll(',', ''));
    if (limit >= smallest) return limit;
  }
  return undefined;
}
