import { createHash } from 'node:crypto';

const STATIC_TXID = /^[A-Za-z0-9]{1,25}$/;
const TXID_LENGTH = 25;
const BASE = 36;

/** The rule of a static code; a dynamic code's txid has 26 to 35 and is the bank's to make. */
export function isStaticTxid(text: string): boolean {
  return STATIC_TXID.test(text);
}

/**
 * The txid that a static code carries for a correlationId, always the same for the same text.
 *
 * A GUID fits no static txid (36 characters with dashes, 32 without), so every correlationId is
 * mapped alike: 129 bits of its SHA-256 in 25 digits and capitals. One way: to find the charge,
 * keep the pair. Hashed as UTF-16, in which no two different strings are the same bytes.
 */
export function txidOfCorrelationId(correlationId: string): string {
  const hash = createHash('sha256').update(Buffer.from(correlationId, 'utf16le')).digest('hex');
  const number = BigInt(`0x${hash}`) % BigInt(BASE) ** BigInt(TXID_LENGTH);
  return number.toString(BASE).toUpperCase().padStart(TXID_LENGTH, '0');
}
