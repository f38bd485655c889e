import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import * as z from 'zod/mini';

/*
 * Both sides prove that they know the secret of the lease without saying it:
 *
 *   owner ── challenge ──▶ peer
 *   owner ◀── proof, challenge ── peer        a wrong proof ends the connection
 *   owner ── proof ──▶ peer                   a wrong proof ends the connection
 */
const hex = z.string().check(z.regex(/^[0-9a-f]{64}$/));
export const Challenge = z.object({ challenge: hex });
export const Proof = z.object({ proof: hex });
export const ProofAndChallenge = z.object({ proof: hex, challenge: hex });

export function newChallenge(): string {
  return randomBytes(32).toString('hex');
}

/** The role keeps one side's proof from being sent back as the other's. */
export function proofOf(secret: string, role: 'owner' | 'peer', challenges: { readonly owner: string; readonly peer: string }): string {
  return createHmac('sha256', secret).update(`${role}:${challenges.owner}:${challenges.peer}`).digest('hex');
}

export function isProof(given: string, expected: string): boolean {
  return timingSafeEqual(Buffer.from(given, 'hex'), Buffer.from(expected, 'hex'));
}
