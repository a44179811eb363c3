// Authenticates the sender of a webhook as the bank. The sender must present the secret of the
// registration in any scheme that a registration can have, or sign the body with that secret.
import { isSameSecret, standardWebhookOf } from '../../platform/secret-box.js';

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

/**
 * `body` is the raw bytes, because a signature covers bytes. A signature that is present must be
 * valid, even when the request also carries the secret. `readNow` reads PostgreSQL's time: the
 * clock of this process may be wrong. It is read for a genuine signature only, so that forged
 * webhooks do not occupy the database.
 */
export async function isAuthentic(
  headers: AuthenticationHeaders,
  secret: string,
  body: Buffer,
  readNow: () => Promise<Date>,
): Promise<boolean> {
  if (headers['webhook-signature'] !== undefined) {
    const signedAt = findSigningTime(headers, secret, body);
    return signedAt !== null && isRecent(signedAt, await readNow());
  }
  return presentsSecret(headers, secret);
}

function presentsSecret(headers: AuthenticationHeaders, secret: string): boolean {
  const { authorization } = headers;
  return (
    isSecret(headers[webhookKeyHeader], secret) ||
    isSecret(bearerToken(authorization), secret) ||
    isSecret(basicPassword(authorization), secret)
  );
}

function isSecret(presented: string | undefined, secret: string): boolean {
  return presented !== undefined && isSameSecret(presented, secret);
}

function isRecent(signedAt: Date, now: Date): boolean {
  return Math.abs(now.getTime() - signedAt.getTime()) <= timestampToleranceMs;
}

/** The timestamp that at least one valid signature covers; null without a valid one. */
function findSigningTime(
  headers: AuthenticationHeaders,
  secret: string,
  body: Buffer,
): Date | null {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp = '' } = headers;
  if (!id || !/^\d{1,12}$/.test(timestamp)) return null;
  const signedAt = new Date(Number(timestamp) * 1_000);
  const text = body.toString('utf8');
  // The package signs text. Decoding invalid UTF-8 replaces bytes, so that the signature would
  // cover other bytes than those received.
  if (!Buffer.from(text, 'utf8').equals(body)) return null;
  try {
    // The package's own verification goes by the clock of this process.
    const expected = standardWebhookOf(secret).sign(id, signedAt, text);
    const presented = headers['webhook-signature']?.split(' ') ?? [];
    const isValid = presented.some((signature) => isSameSecret(signature, expected));
    return isValid ? signedAt : null;
  } catch {
    // The package throws for a secret that is not a valid key.
    return null;
  }
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
