/** Error numbers of WASI, which Emscripten's C library uses instead of Linux's. Only those a file operation can end with. */
const wasiErrno: Readonly<Record<string, number>> = {
  EACCES: 2,
  EAGAIN: 6,
  EBADF: 8,
  EBUSY: 10,
  EDQUOT: 19,
  EEXIST: 20,
  EFBIG: 22,
  EINTR: 27,
  EINVAL: 28,
  EIO: 29,
  EISDIR: 31,
  ELOOP: 32,
  EMFILE: 33,
  ENAMETOOLONG: 37,
  ENFILE: 41,
  ENODEV: 43,
  ENOENT: 44,
  ENOMEM: 48,
  ENOSPC: 51,
  ENOTDIR: 54,
  EPERM: 63,
  EROFS: 69,
  ESPIPE: 70,
  ESTALE: 72,
  ETIMEDOUT: 73,
  ETXTBSY: 74,
};

/** Node's error code as WASI knows it; a code WASI has no name for counts as an I/O error. */
export function toWasiErrno(code: string | undefined): number {
  return (code === undefined ? undefined : wasiErrno[code]) ?? 29;
}

export const EINVAL = 28;
