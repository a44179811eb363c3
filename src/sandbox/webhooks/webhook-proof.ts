// How a delivery proves itself: as it was registered, in another way with the registered secret (a mode), or wrongly
// (a forgery).
import type { Webhook } from 'standardwebhooks';
import { sha256 } from '../../platform/exact-json.js';
import { standardWebhookOf } from '../../platform/standard-webhook.js';
import type { ModeValues } from '../modes/modes.schema.js';
import { authorizationHeaders, type AuthorizationScheme } from './authorization.js';

export interface ProvedDelivery {
  scheme: AuthorizationScheme;
  authorization: string | null;
  /** Stable over retries. */
  id: string;
  body: string;
  /** When it is sent, by the machine's clock: whoever verifies has no other. */
  sentAt: Date;
  isForged: boolean;
}

type Signing = ModeValues['webhookSigning'];

const defaultHeader = 'x-webhook-key';
const login = 'bank';

/** The headers of the proof. What has no secret that a header can carry proves itself as it was registered. */
export function proofHeaders(delivery: ProvedDelivery, signing: Signing): Record<string, string> {
  const { scheme, authorization, isForged } = delivery;
  const asRegistered = authorizationHeaders(scheme, authorization) ?? {};
  const [header] = Object.keys(asRegistered);
  if (signing === 'none' || header === undefined) return {};
  const secret = isForged ? sha256(`forged ${authorization}`) : secretOf(scheme, asRegistered);
  if (secret === null || (signing === 'registered' && !isForged)) return asRegistered;
  switch (signing === 'registered' ? scheme : signing) {
    case 'header':
    case 'HEADER':
      return { [scheme === 'HEADER' ? header : defaultHeader]: secret };
    case 'bearer':
    case 'BEARER':
      return { authorization: `Bearer ${secret}` };
    case 'basic':
    case 'BASIC':
      return { authorization: `Basic ${Buffer.from(`${login}:${secret}`).toString('base64')}` };
    case 'standard-webhooks':
      return signatureHeaders(delivery, secret) ?? asRegistered;
    case 'NONE':
      return {};
  }
}

const headerText = /^[\x20-\x7e]+$/;

/** The value of a header, the token, or the password of a pair; null without one. */
function secretOf(
  scheme: AuthorizationScheme,
  asRegistered: Record<string, string>,
): string | null {
  const [value = ''] = Object.values(asRegistered);
  const [, token = ''] = value.split(' ');
  const secret = { HEADER: value, BEARER: token, BASIC: passwordOf(token), NONE: '' }[scheme];
  return headerText.test(secret) ? secret : null;
}

function passwordOf(encoded: string): string {
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  return pair.slice(pair.indexOf(':') + 1);
}

/** Per Standard Webhooks; null when the secret says that it is base64 and is not. */
function signatureHeaders(
  { id, body, sentAt }: ProvedDelivery,
  secret: string,
): Record<string, string> | null {
  const signer = signerOf(secret);
  return (
    signer && {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
      'webhook-signature': signer.sign(id, sentAt, body),
    }
  );
}

function signerOf(secret: string): Webhook | null {
  try {
    return standardWebhookOf(secret);
  } catch {
    // The package only tells by throwing that what follows the prefix is no key.
    return null;
  }
}
