// Ed25519: whether a key signed a text, and whether a key follows another one.
import { createPublicKey, verify } from 'node:crypto';
import type { SigningKey } from './facts.js';
import { sha256 } from './merkle.js';

export function isSigned({ x }: SigningKey, text: string, signature: unknown): boolean {
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return verify(null, Buffer.from(text), key, Buffer.from(signature as string, 'base64url'));
  } catch {
    return false;
  }
}

/** The id of a key: its thumbprint of RFC 7638. */
export const keyIdOf = ({ x }: SigningKey) =>
  sha256(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).toString('base64url');

/** Whether a key that is not the former one has the signature of that one. */
export function follows({ id, x, endorsement }: SigningKey, former: SigningKey | null): boolean {
  if (former === null || former.id === id) return true;
  const text = JSON.stringify({ by: former.id, format: 'concilia-signing-key/1', id, x });
  return endorsement?.['by'] === former.id && isSigned(former, text, endorsement['signature']);
}
