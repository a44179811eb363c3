// Whether a text was signed with a key, and whether a key follows another one.
import { createPublicKey, hash, verify } from 'node:crypto';
import { toCanonicalJson } from '../../platform/json/canonical-json.js';

export interface SignedKey {
  /** The thumbprint of the public key (RFC 7638). */
  id: string;
  /** The public key of Ed25519 in base64url. */
  x: string;
  /** The signature of the key before it; null for the first key. */
  endorsement: { by: string; signature: string } | null;
}

export function thumbprintOf(x: string): string {
  return hash('sha256', `{"crv":"Ed25519","kty":"OKP","x":"${x}"}`, 'base64url');
}

/** The text that a key signs to endorse its successor. */
export function endorsementText(by: string, { id, x }: Pick<SignedKey, 'id' | 'x'>): string {
  return toCanonicalJson({ by, format: 'concilia-signing-key/1', id, x });
}

/** The signature is in base64url. A key that is none signed nothing. */
export function isSignedBy({ x }: Pick<SignedKey, 'x'>, text: string, signature: string): boolean {
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'));
  } catch {
    return false;
  }
}

/** Whether a certificate may be signed with `key` after one that `former` signed. */
export function isSuccessor(key: SignedKey, former: SignedKey | null): boolean {
  if (thumbprintOf(key.x) !== key.id) return false;
  if (former === null || former.id === key.id) return true;
  const { endorsement } = key;
  if (endorsement?.by !== former.id) return false;
  return isSignedBy(former, endorsementText(former.id, key), endorsement.signature);
}
