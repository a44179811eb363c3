// Ed25519: whether a key signed a text, and whether a key follows another one.
import { createPublicKey, verify } from 'node:crypto';
import type { SigningKey } from './facts.js';
import { sha256 } from './merkle.js';

export function isSigned({ x }: SigningKey, text: string, signature: string): boolean {
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'));
  } catch {
    return false;
  }
}

/** The id is the thumbprint of RFC 7638; a later key has the signature of the one before it. */
export function follows(key: SigningKey, former: SigningKey | null): boolean {
  const thumbprint = sha256(`{"crv":"Ed25519","kty":"OKP","x":"${key.x}"}`).toString('base64url');
  if (key.id !== thumbprint) return false;
  if (former === null || former.id === key.id) return true;
  const { id, x, endorsement } = key;
  const text = JSON.stringify({ by: former.id, format: 'concilia-signing-key/1', id, x });
  return endorsement?.by === former.id && isSigned(former, text, endorsement.signature);
}
