/**
 * Whether a folder is likely to be gone when its container is built anew: it lies in the container's own layer or in memory, and
 * not on a volume. `mountInfo` is Linux's `/proc/self/mountinfo`; anything that cannot be told from it counts as lasting.
 */
export function isEphemeral(folder: string, mountInfo: string): boolean {
  let found: { readonly at: string; readonly type: string } | undefined;
  for (const line of mountInfo.split('\n')) {
    // 36 35 98:0 /root /mount/point options - type source options; the number of fields before the dash varies.
    const [before, after] = line.split(' - ');
    const at = before?.split(' ')[4]?.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)));
    const type = after?.split(' ')[0];
    if (at === undefined || type === undefined) continue;
    const covers = at === '/' || folder === at || folder.startsWith(`${at}/`);
    // Where two mounts are on one place, the later one is seen.
    if (covers && at.length >= (found?.at.length ?? 0)) found = { at, type };
  }
  if (!found) return false;
  return found.type === 'tmpfs' || (found.at === '/' && (found.type === 'overlay' || found.type === 'aufs'));
}
