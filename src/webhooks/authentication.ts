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

/**
 * `body` is the raw bytes, because a signature covers bytes. A signature that is present must be
 * valid, even when the request also carries the secret.
 */
export function isAuthentic(headers: AuthenticationHeaders, secret: string, body: Buffer): boolean {
  if (headers['webhook-signature'] !== undefined) return hasValidSignature(headers, secret, body);
  return [
    headers[webhookKeyHeader],
    bearerToken(headers.authorization),
    basicPassword(headers.authorization),
  ].some((presented) => presented !== undefined && isSameSecret(presented, secret));
}

/**
 * Per Standard Webhooks: at least one of the signatures is valid, and the timestamp is within five
 * minutes of now.
 */
function hasValidSignature(headers: AuthenticationHeaders, secret: string, body: Buffer): boolean {
  const text = body.toString('utf8');
  // The package signs text. Decoding invalid UTF-8 replaces bytes, so that the signature would
  // cover other bytes than those received.
  if (!Buffer.from(text, 'utf8').equals(body)) return false;
  try {
    standardWebhookOf(secret).verify(text, headers as Record<string, string>, { jsonParse: false });
    return true;
  } catch {
    // The package reports every failure by throwing: a missing or malformed header, a wrong
    // signature, or a secret that is not a valid key.
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
