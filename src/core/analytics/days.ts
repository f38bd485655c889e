/** `2026-11-20`, in local time. */
export function dayOf(at: number): string {
  const date = new Date(at);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Every local day that the range touches, oldest first. */
export function daysBetween(from: number, to: number): string[] {
  const days: string[] = [];
  const date = new Date(from);
  // It goes by the calendar, at noon: a day on which the clocks change has 23 or 25 hours.
  for (date.setHours(12, 0, 0, 0); dayOf(date.getTime()) <= dayOf(to); date.setDate(date.getDate() + 1)) days.push(dayOf(date.getTime()));
  return days;
}

/** The range goes from the first moment of the local day `count - 1` days ago to the last of today. */
export function lastDays(count: number, now: number): { readonly from: number; readonly to: number } {
  const today = new Date(now);
  const at = (offset: number) => new Date(today.getFullYear(), today.getMonth(), today.getDate() + offset).getTime();
  return { from: at(1 - count), to: at(1) - 1 };
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
