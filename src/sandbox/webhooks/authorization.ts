import { authorizationSchemes } from '../../contract/webhook-registrations.js';

export type AuthorizationScheme = (typeof authorizationSchemes)[number];

const headerText = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e]+)$/;
const tokenText = /^[\x21-\x7e]+$/;
/** Headers that make the message itself: a registration that set them would break every delivery. */
const reservedHeaders = [
  'content-length',
  'content-type',
  'connection',
  'host',
  'transfer-encoding',
];

/** The headers by which the bank proves itself, or null when the registration's two fields do not go together. */
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
