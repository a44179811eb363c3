// What the console reads of a request: cookies, forms, and where a person wanted to go.
import type { Translate } from './texts.js';
import type { Language } from './texts/languages.js';
import type { Session } from '../access/people/sessions.service.js';
import type { FormFile } from '../platform/files/multipart-form.js';

/** A request to the console, with the person who sends it. */
export interface Visit {
  path: string;
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  /**
   * The page of the console on which the form stood at first: as the browser says, or as the form
   * says that is shown again after it was refused.
   */
  cameFrom: string;
  /** Whether a form was sent. The answer has an address that cannot be opened. */
  isForm: boolean;
  form: URLSearchParams;
  /** The file of a form that brings one. Whatever its handler leaves unread is dropped. */
  file: FormFile | null;
  language: Language;
  t: Translate;
  /** Of the scripts of this response. */
  nonce: string;
  session: Session | null;
  /** What forms must send; empty without a session. */
  csrfToken: string;
  address: string;
  /** Whether a proxy has sent the request for somebody else. */
  isForwarded: boolean;
  userAgent: string;
  /** Whether a part of an open page is asked for again. That is no use of the session. */
  isRefresh: boolean;
}

/** Marks a part of a page that a person has asked for, and no timer. */
export const askedHeader = 'x-asked';

export interface CookieNames {
  session: string;
  isSecure: boolean;
}

/** With HTTPS, the prefix makes browsers refuse a cookie that another host has planted. */
export function cookieNames(publicUrl: string | null): CookieNames {
  const isSecure = publicUrl?.startsWith('https:') ?? false;
  return { session: isSecure ? '__Host-concilia-session' : 'concilia-session', isSecure };
}

/** The field of a form that is shown again: the page on which it stood. */
export const pageField = 'cameFrom';
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

/** The page that the person sees, or the one on which its form stood: an address that opens. */
export function openAddress({ isForm, cameFrom, path, query }: Visit): string {
  if (isForm) return cameFrom;
  return query.size > 0 ? `${path}?${query.toString()}` : path;
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

export function pageSecurity(nonce: string): Record<string, string> {
  return {
    'content-security-policy':
      `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'self'; img-src 'self' data:; ` +
      "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    // Not `no-referrer`: with it, browsers hide the origin of forms.
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
    vary: 'Cookie, Accept-Language, HX-Request',
  };
}
