// Whether a caller at the bank's door is the bank: it must show the secret that its webhooks were registered
// with, in any of the ways that a registration can ask for, or sign what it sends with it.
import { createHash, timingSafeEqual } from 'node:crypto';
import { standardWebhookOf } from '../platform/standard-webhook.js';

/** The header that our registrations ask the bank to send. */
export const proofHeader = 'x-webhook-key';

export interface AuthenticationHeaders {
  [proofHeader]?: string | undefined;
  authorization?: string | undefined;
  'webhook-id'?: string | undefined;
  'webhook-timestamp'?: string | undefined;
  'webhook-signature'?: string | undefined;
}

/** `body` as it came: a signature is of bytes. Where there is one it must hold, whatever else is shown. */
export function isAuthentic(headers: AuthenticationHeaders, secret: string, body: Buffer): boolean {
  if (headers['webhook-signature'] !== undefined) return isSigned(headers, secret, body);
  return [
    headers[proofHeader],
    bearer(headers.authorization),
    password(headers.authorization),
  ].some((shown) => shown !== undefined && isSame(shown, secret));
}

/** Per Standard Webhooks: any of several signatures, sent no more than five minutes from now. */
function isSigned(headers: AuthenticationHeaders, secret: string, body: Buffer): boolean {
  const text = body.toString('utf8');
  // The package signs text: bytes that are none would stand for others.
  if (!Buffer.from(text, 'utf8').equals(body)) return false;
  try {
    standardWebhookOf(secret).verify(text, headers as Record<string, string>, { jsonParse: false });
    return true;
  } catch {
    // The package tells by throwing alone, be it that a header is missing or odd, or that the secret is no key.
    return false;
  }
}

/** Compares digests, so that neither content nor length shows in the time it takes. */
function isSame(shown: string, secret: string): boolean {
  return timingSafeEqual(digest(shown), digest(secret));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function bearer(authorization: string | undefined): string | undefined {
  return /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
}

function password(authorization: string | undefined): string | undefined {
  const encoded = /^Basic ([\w+/=-]+)$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  return pair.includes(':') ? pair.slice(pair.indexOf(':') + 1) : undefined;
}
