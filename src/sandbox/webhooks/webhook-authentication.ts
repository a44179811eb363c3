// The headers that authenticate a delivery: by the registered scheme, by another scheme with the
// registered secret (a mode), or with a wrong secret (a forgery).
import type { Webhook } from 'standardwebhooks';
import { sha256 } from '../../platform/json/exact-json.js';
import { standardWebhookOf } from '../../platform/secret-box.js';
import type { ModeValues } from '../modes/modes.schema.js';
import {
  authorizationHeaders,
  type AuthorizationScheme,
} from '../../bank-contract/webhook-authorization.js';

export interface AuthenticatedDelivery {
  scheme: AuthorizationScheme;
  authorization: string | null;
  /** The same for every attempt. */
  id: string;
  body: string;
  /** When it is sent, by the machine's clock: a receiver verifies against its own clock. */
  sentAt: Date;
  isForged: boolean;
}

type Signing = ModeValues['webhookSigning'];

const defaultHeader = 'x-webhook-key';
const login = 'bank';

/**
 * The authentication headers of a delivery. A secret that no header can carry is sent as
 * registered, whatever the mode.
 */
export function authenticationHeaders(
  delivery: AuthenticatedDelivery,
  signing: Signing,
): Record<string, string> {
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

/** The header's value, the token or the password; null when it is not printable text. */
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

/** The headers of Standard Webhooks; null when the secret has its prefix but is not base64. */
function signatureHeaders(
  { id, body, sentAt }: AuthenticatedDelivery,
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
    // The package throws when the text after the prefix is not a key.
    return null;
  }
}
