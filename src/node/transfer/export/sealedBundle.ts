import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { open, readFile, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip, gunzip } from 'node:zlib';
import { english } from '../../../core/l10n';
import { sealedFormat } from '../../../core/transfer/exportDocument';

/** Whoever writes another form counts it up. */
const version = 1;
const head = Buffer.from(`${JSON.stringify({ format: sealedFormat, version })}\n`);
const anyVersion = Buffer.from(`{"format":"${sealedFormat}","version":`);
const [saltBytes, nonceBytes, tagBytes] = [16, 12, 16];
/** 128 MB and some 0.4 s for each try (RFC 7914; OWASP names it as the least). They are no part of the file: nobody can ask for more. */
const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 2 ** 20 };
/** V8's strings end at 512 MB. */
const mostBytes = 500 * 2 ** 20;

export const fewestCharacters = 8;

/**
 * An export that only the passphrase opens: compressed, then sealed by AES-256-GCM with a key that scrypt makes of it. Throws with words
 * when it is larger than what can be opened again (`most` bytes).
 */
export async function* sealed(pieces: AsyncIterable<string>, passphrase: string, most = mostBytes): AsyncGenerator<Uint8Array, void, void> {
  const [salt, nonce] = [randomBytes(saltBytes), randomBytes(nonceBytes)];
  const cipher = createCipheriv('aes-256-gcm', await keyOf(passphrase, salt), nonce).setAAD(head);
  yield Buffer.concat([head, salt, nonce]);
  const packed = createGzip();
  // What goes wrong in the export ends the loop below with the same reason.
  pipeline(Readable.from(counted(pieces, most)), packed).catch((error: unknown) =>
    packed.destroy(error instanceof Error ? error : new Error(String(error))),
  );
  for await (const chunk of packed) yield cipher.update(chunk as Buffer);
  yield Buffer.concat([cipher.final(), cipher.getAuthTag()]);
}

async function* counted(pieces: AsyncIterable<string>, most: number): AsyncGenerator<string, void, void> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += Buffer.byteLength(piece);
    if (bytes > most) throw tooLarge(bytes, most);
    yield piece;
  }
}

function tooLarge(bytes: number, most: number): Error {
  return new Error(english('The file has {0} MB; up to {1} MB can be read.', Math.ceil(bytes / 2 ** 20), Math.floor(most / 2 ** 20)));
}

/** False also where the file cannot be read. */
export async function isSealed(file: string): Promise<boolean> {
  const handle = await open(file, 'r').catch(() => null);
  if (!handle) return false;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(head.length), 0, head.length, 0);
    // Another version is one, too: it is not read as something else.
    return bytesRead === head.length && buffer.subarray(0, anyVersion.length).equals(anyVersion);
  } catch {
    return false;
  } finally {
    await handle.close();
  }
}

/** The whole export, or nothing: rejects with words when the passphrase is another one, or a byte is not as it was written. */
export async function unsealed(file: string, passphrase: string | undefined, most = mostBytes): Promise<string> {
  if (passphrase === undefined || passphrase === '') throw new Error(english('It is encrypted, and needs its passphrase.'));
  const { size } = await stat(file);
  if (size > mostBytes) throw tooLarge(size, mostBytes);
  const bytes = await readFile(file);
  const written = /^\d{1,9}/.exec(bytes.subarray(anyVersion.length, anyVersion.length + 9).toString('latin1'))?.[0];
  if (Number(written) > version)
    throw new Error(
      english(
        'The file was exported by a newer version of Threadkeeper (format {0}; this one reads up to {1}). Update Threadkeeper to import it.',
        Number(written),
        version,
      ),
    );
  const body = bytes.subarray(head.length + saltBytes + nonceBytes);
  const salt = bytes.subarray(head.length, head.length + saltBytes);
  const nonce = bytes.subarray(head.length + saltBytes, head.length + saltBytes + nonceBytes);
  const key = await keyOf(passphrase, salt);
  let packed: Buffer;
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes }).setAAD(head);
    decipher.setAuthTag(body.subarray(-tagBytes));
    packed = Buffer.concat([decipher.update(body.subarray(0, -tagBytes)), decipher.final()]);
  } catch (error) {
    throw new Error(english('The passphrase is not that of this file, or the file is damaged. Nothing was imported.'), { cause: error });
  }
  // The seal is whole: the last four bytes are the length of what was packed.
  const length = packed.readUInt32LE(packed.length - 4);
  if (length > most) throw tooLarge(length, most);
  return (await promisify(gunzip)(packed, { maxOutputLength: most })).toString('utf8');
}

function keyOf(passphrase: string, salt: Uint8Array): Promise<Buffer> {
  // The same letters can be typed in two ways.
  return new Promise((resolve, reject) =>
    scrypt(passphrase.normalize('NFKC'), salt, 32, cost, (error, key) => (error ? reject(error) : resolve(key))),
  );
}
