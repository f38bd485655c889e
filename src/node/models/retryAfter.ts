/** The wait a response asks for, in milliseconds: `retry-after-ms`, or `retry-after` in seconds or as an HTTP date. */
export function retryAfterMs(headers: Pick<Headers, 'get'> | null | undefined, now: number): number | undefined {
  const exact = number(headers?.get('retry-after-ms'));
  if (exact !== undefined) return exact;
  const value = headers?.get('retry-after')?.trim();
  const seconds = number(value);
  if (seconds !== undefined) return Math.round(seconds * 1000);
  // Only what looks like a date is read: Date.parse makes years of almost any digits.
  const date = value !== undefined && /^[a-z]{3},? /i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function number(value: string | null | undefined): number | undefined {
  const text = value?.trim();
  return text && /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}
