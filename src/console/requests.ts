// What the console reads of a request: cookies, forms, and where a person wanted to go.
import type { Visit } from './visit.js';

/** Marks a part of a page that a person has asked for, and no timer. */
export const askedHeader = 'x-asked';

/** With HTTPS, the prefix makes browsers refuse a cookie that another host has planted. */
export function cookieNames(publicUrl: string | null) {
  const isSecure = publicUrl?.startsWith('https:') ?? false;
  const prefix = isSecure ? '__Host-concilia' : 'concilia';
  return {
    isSecure,
    session: `${prefix}-session`,
    /** What a sign-out at the identity provider needs. */
    ssoHint: `${prefix}-sso-hint`,
    /** Of one way to the identity provider and back; each tab has its own. */
    ssoFlow: (state: string) => `${prefix}-sso-flow-${state.replace(/[^\w-]/g, '').slice(0, 12)}`,
  };
}

/** The field of a form that is shown again: the page on which it stood. */
export const pageField = 'cameFrom';
/** The field of a form that waits for a code: what was typed, encrypted. */
export const heldField = 'held';
export const languageCookie = 'concilia-language';

export function readCookies(header: string | undefined): Map<string, string> {
  const pairs = (header?.split(';') ?? []).map((pair) => {
    const at = pair.indexOf('=');
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()] as const;
  });
  // The first of two cookies with one name is the one of the narrower path.
  return new Map(pairs.reverse());
}

/** A cookie that scripts cannot read and that other sites' forms do not send. */
export function writeCookie(
  name: string,
  value: string,
  { isSecure, maxAgeSeconds }: { isSecure: boolean; maxAgeSeconds: number | null },
): string {
  const parts = [`${name}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Lax'];
  if (isSecure) parts.push('Secure');
  if (maxAgeSeconds !== null) parts.push(`Max-Age=${maxAgeSeconds}`);
  return parts.join('; ');
}

/** A page of the console, and never another site. */
export function readNext(text: string | null): string {
  return text !== null && /^\/console(\/[\w\-./]*)?(\?[\w\-./=&%+*]*)?$/.test(text)
    ? text
    : '/console';
}

/**
 * Whether a form was sent by a page of this service. Browsers name the origin of each form that is
 * sent; `null` is the origin of a page that hides it.
 */
export function isOwnOrigin(
  origin: string | undefined,
  host: string | undefined,
  publicUrl: string | null,
): boolean {
  if (!origin || !URL.canParse(origin)) return false;
  const sent = new URL(origin).host;
  const own = publicUrl && URL.canParse(publicUrl) ? new URL(publicUrl).host : null;
  return sent === host || sent === own;
}

export function pageSecurity({
  nonce,
  ssoSite,
}: Pick<Visit, 'nonce' | 'ssoSite'>): Record<string, string> {
  return {
    'content-security-policy':
      `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'self'; img-src 'self' data:; ` +
      "connect-src 'self'; " +
      `form-action 'self'${ssoSite && ` ${ssoSite}`}; base-uri 'none'; frame-ancestors 'none'`,
    'cache-control': 'no-store',
    // Not `no-referrer`: with it, browsers hide the origin of forms.
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
    vary: 'Cookie, Accept-Language, HX-Request',
  };
}
