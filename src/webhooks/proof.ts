// Whether a caller at the bank's door is the bank: it must show the secret that its webhooks were registered
// with, in any of the ways that a registration can ask for.
import { createHash, timingSafeEqual } from 'node:crypto';

/** The header that our registrations ask the bank to send. */
export const proofHeader = 'x-webhook-key';

export interface ProofHeaders {
  [proofHeader]?: string | undefined;
  authorization?: string | undefined;
}

export function isProved(headers: ProofHeaders, secret: string): boolean {
  return [
    headers[proofHeader],
    bearer(headers.authorization),
    password(headers.authorization),
  ].some((shown) => shown !== undefined && isSame(shown, secret));
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
