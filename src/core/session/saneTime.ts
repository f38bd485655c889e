/** The year 2100. A `Date` reaches to the year 275760, of which the id of a session has no room. */
const latest = Date.UTC(2100, 0);

/** Whether something can have happened then, in milliseconds since the epoch. Earlier ones come from clocks that were never set. */
export function isSaneTime(at: number): boolean {
  return at < latest && at > -latest;
}
