import { parseTaxId } from './tax-id.js';

/**
 * The current kinds of keys in the DICT. The central bank has announced that others may be added.
 */
export type PixKeyKind = 'CPF' | 'CNPJ' | 'PHONE' | 'EMAIL' | 'EVP';

export interface PixKey {
  kind: PixKeyKind;
  /** The form in which the DICT stores and compares the key. */
  key: string;
}

const MAX_KEY = 77;
const MAX_TEXT = 100;
/** UUIDs of every version: the manual's example has version 1. */
const EVP = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const PHONE = /^\+[1-9][0-9]{2,15}$/;
const EMAIL_LOCAL = /^[a-z0-9.!#$&'*+/=?^_`{|}~-]+$/;
const EMAIL_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Parses a Pix key and returns its DICT form, or null: CPF and CNPJ without punctuation, phone in
 * E.164, e-mail and EVP in lower case (patterns of the DICT API).
 *
 * A phone needs its '+': the eleven digits 51998259765 are valid both as a CPF and as a mobile
 * number, so digits without '+' are read as a CPF only.
 */
export function parsePixKey(text: string): PixKey | null {
  if (text.length > MAX_TEXT) return null;
  const trimmed = text.trim();
  if (trimmed.startsWith('+')) return parsePhone(trimmed);
  if (!/^[\x21-\x7e]+$/.test(trimmed)) return null;

  const lower = trimmed.toLowerCase();
  if (lower.includes('@')) return isEmail(lower) ? { kind: 'EMAIL', key: lower } : null;
  if (EVP.test(lower)) return { kind: 'EVP', key: lower };
  const taxId = parseTaxId(trimmed);
  if (taxId === null) return null;
  return { kind: taxId.kind === 'NATURAL' ? 'CPF' : 'CNPJ', key: taxId.number };
}

function parsePhone(text: string): PixKey | null {
  if (!/^\+[0-9 ().-]+$/.test(text)) return null;
  const key = text.replaceAll(/[ ().-]/g, '');
  return PHONE.test(key) ? { kind: 'PHONE', key } : null;
}

function isEmail(text: string): boolean {
  const at = text.indexOf('@');
  return (
    text.length <= MAX_KEY &&
    EMAIL_LOCAL.test(text.slice(0, at)) &&
    text
      .slice(at + 1)
      .split('.')
      .every((label) => EMAIL_LABEL.test(label))
  );
}
