// The headers of the webhooks of a registration, by its scheme.
import { authorizationSchemes } from './webhook-registrations.js';

export type AuthorizationScheme = (typeof authorizationSchemes)[number];

const headerText = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e]+)$/;
const tokenText = /^[\x21-\x7e]+$/;
/** Headers of the HTTP message itself. A registration that set them would break every delivery. */
const reservedHeaders = [
  'content-length',
  'content-type',
  'connection',
  'host',
  'transfer-encoding',
];

/**
 * The headers that authenticate the bank to the receiver; null when `authorization` is not valid
 * for the scheme.
 */
export function authorizationHeaders(
  scheme: AuthorizationScheme,
  authorization: string | null,
): Record<string, string> | null {
  if (scheme === 'NONE') return {};
  const text = authorization?.trim() ?? '';
  if (scheme === 'HEADER') {
    const [, name = '', value = ''] = headerText.exec(text) ?? [];
    if (!name || reservedHeaders.includes(name.toLowerCase())) return null;
    return { [name.toLowerCase()]: value.trim() };
  }
  if (!tokenText.test(text)) return null;
  return { authorization: `${scheme === 'BASIC' ? 'Basic' : 'Bearer'} ${text}` };
}
