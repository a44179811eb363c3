// Authenticates the sender of a webhook as the bank. The sender must present the secret of the
// registration in any scheme that a registration can have, or sign the body with that secret.
import { createHash, timingSafeEqual } from 'node:crypto';
import { standardWebhookOf } from '../platform/secret-box.js';

/** The header for the secret in our registrations. */
export const webhookKeyHeader = 'x-webhook-key';

export interface AuthenticationHeaders {
  [webhookKeyHeader]?: string | undefined;
  authorization?: string | undefined;
  'webhook-id'?: string | undefined;
  'webhook-timestamp'?: string | undefined;
  'webhook-signature'?: string | undefined;
}

/** A signature's timestamp may differ from now by this much, per Standard Webhooks. */
const timestampToleranceMs = 300_000;

export function isSigned(headers: AuthenticationHeaders): boolean {
  return headers['webhook-signature'] !== undefined;
}

/**
 * `body` is the raw bytes, because a signature covers bytes. A signature that is present must be
 * valid, even when the request also carries the secret. `now` is PostgreSQL's time: the clock of
 * this process may be wrong. Without a signature it is not used.
 */
export function isAuthentic(
  headers: AuthenticationHeaders,
  secret: string,
  body: Buffer,
  now: Date | null,
): boolean {
  if (isSigned(headers)) return now !== null && hasValidSignature(headers, secret, body, now);
  return [
    headers[webhookKeyHeader],
    bearerToken(headers.authorization),
    basicPassword(headers.authorization),
  ].some((presented) => presented !== undefined && isSameSecret(presented, secret));
}

/** Whether at least one of the signatures is valid, and the timestamp is near now. */
function hasValidSignature(
  headers: AuthenticationHeaders,
  secret: string,
  body: Buffer,
  now: Date,
): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp = '' } = headers;
  const signedAt = new Date(/^\d{1,12}$/.test(timestamp) ? Number(timestamp) * 1_000 : NaN);
  const isRecent = Math.abs(now.getTime() - signedAt.getTime()) <= timestampToleranceMs;
  if (!id || !isRecent) return false;
  const text = body.toString('utf8');
  // The package signs text. Decoding invalid UTF-8 replaces bytes, so that the signature would
  // cover other bytes than those received.
  if (!Buffer.from(text, 'utf8').equals(body)) return false;
  try {
    // The package's own verification goes by the clock of this process.
    const expected = standardWebhookOf(secret).sign(id, signedAt, text);
    const presented = headers['webhook-signature']?.split(' ') ?? [];
    return presented.some((signature) => isSameSecret(signature, expected));
  } catch {
    // The package throws for a secret that is not a valid key.
    return false;
  }
}

/** Compares digests, so that the duration reveals neither the secret's content nor its length. */
function isSameSecret(presented: string, secret: string): boolean {
  return timingSafeEqual(digest(presented), digest(secret));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
}

function basicPassword(authorization: string | undefined): string | undefined {
  const encoded = /^Basic ([\w+/=-]+)$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const userAndPassword = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = userAndPassword.indexOf(':');
  return colon < 0 ? undefined : userAndPassword.slice(colon + 1);
}
