// The headers by which the contract proves a caller and names an intent. Header names are
// case-insensitive in HTTP: the contract itself writes IdempotencyKey and idempotencyKey.
export const apiKeyHeader = 'x-service-api-key';
export const partnerKeyHeader = 'x-service-partner-key';
/** The operator's, who may also show it in the header of the others. */
export const adminKeyHeader = 'x-service-admin-key';
export const idempotencyKeyHeader = 'idempotencykey';

const keyText = /^[\x21-\x7e]{1,255}$/;

/** GUIDs are asked for, yet real clients of such banks send other words: any printable one is taken. */
export function isIdempotencyKey(value: string): boolean {
  return keyText.test(value);
}
