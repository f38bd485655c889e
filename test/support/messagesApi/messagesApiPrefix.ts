import { createHash, createHmac } from 'node:crypto';
import type { Part } from './messagesApiTokens';
import { badRequest, type Prompt } from './messagesApiWire';

/** `hashes[n]` stands for the first n parts; whatever differs in one of them changes it and all after it. */
export function prefixHashes(parts: readonly Part[]): string[] {
  const hashes = [''];
  for (const { role, block } of parts) hashes.push(extend(hashes.at(-1) ?? '', role, block));
  return hashes;
}

export function extend(hash: string, role: string, block: Readonly<Record<string, unknown>>): string {
  const { cache_control: _mark, ...content } = block;
  const sorted = Object.fromEntries(Object.entries(content).sort(([a], [b]) => (a < b ? -1 : 1)));
  return createHash('sha1').update(hash).update(role).update(JSON.stringify(sorted)).digest('base64');
}

const signingKey = 'threadkeeper-double';

interface Seal {
  readonly model: string;
  readonly prefix: string;
  readonly text: string;
}

/** Proof that `model` thought `text` after exactly this prefix. */
export function sign(seal: Seal): string {
  const content = Buffer.from(JSON.stringify({ ...seal, text: hashOf(seal.text) })).toString('base64url');
  return `${content}.${createHmac('sha256', signingKey).update(content).digest('base64url')}`;
}

/**
 * The parts that count: thinking of other models is dropped without a word, as the provider does. Throws 400 for thinking that
 * was changed, or that follows something else than when it was thought.
 */
export function checkedThinking(prompt: Prompt, parts: readonly Part[]): Part[] {
  const kept: Part[] = [];
  let prefix = '';
  for (const part of parts) {
    const { block, path, role } = part;
    if (block['type'] === 'thinking' || block['type'] === 'redacted_thinking') {
      const seal = opened(block);
      if (!seal) throw badRequest(`${path}: Invalid \`signature\` in \`thinking\` block`);
      if (seal.model !== prompt.model.id) continue;
      if (seal.prefix !== prefix) {
        throw badRequest(
          `${path}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. Remove the block.`,
        );
      }
    }
    kept.push(part);
    prefix = extend(prefix, role, block);
  }
  return kept;
}

function opened(block: Readonly<Record<string, unknown>>): Seal | undefined {
  const redacted = block['type'] === 'redacted_thinking';
  const [content = '', proof] = String(redacted ? block['data'] : block['signature']).split('.');
  if (createHmac('sha256', signingKey).update(content).digest('base64url') !== proof) return undefined;
  const seal = JSON.parse(Buffer.from(content, 'base64url').toString()) as Seal;
  return redacted || seal.text === hashOf(String(block['thinking'])) ? seal : undefined;
}

function hashOf(text: string): string {
  return createHash('sha1').update(text).digest('base64');
}
