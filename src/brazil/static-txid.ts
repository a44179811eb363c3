import { createHash } from 'node:crypto';

const STATIC_TXID = /^[A-Za-z0-9]{1,25}$/;
const TXID_LENGTH = 25;
const BASE = 36;

/**
 * Whether a text is a txid of a static code. A dynamic code's txid has 26 to 35 characters, and the
 * bank creates it.
 */
export function isStaticTxid(text: string): boolean {
  return STATIC_TXID.test(text);
}

/**
 * The txid of a static code for a correlationId, always the same for the same text.
 *
 * A GUID is too long for a static txid (36 characters with dashes, 32 without). So every
 * correlationId is mapped in the same way: 129 bits of its SHA-256 as 25 digits and capital
 * letters. The correlationId cannot be computed from the txid: store both to find the charge. The
 * text is hashed as UTF-16, in which different strings always have different bytes.
 */
export function txidOfCorrelationId(correlationId: string): string {
  const hash = createHash('sha256').update(Buffer.from(correlationId, 'utf16le')).digest('hex');
  const number = BigInt(`0x${hash}`) % BigInt(BASE) ** BigInt(TXID_LENGTH);
  return number.toString(BASE).toUpperCase().padStart(TXID_LENGTH, '0');
}
