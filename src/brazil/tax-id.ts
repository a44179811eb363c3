import { isValidCnpj } from '@brazilian-utils/brazilian-utils/is-valid-cnpj';
import { isValidCpf } from '@brazilian-utils/brazilian-utils/is-valid-cpf';

/** A CPF (natural person, 11 digits) or a CNPJ (legal person, 14 characters). */
export interface TaxId {
  kind: 'NATURAL' | 'LEGAL';
  /** Without punctuation, in capital letters. It is text, to preserve leading zeros. */
  number: string;
}

/** Without punctuation, or with all of the official punctuation. */
const CPF = /^(?:[0-9]{11}|[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2})$/;
/** Alphanumeric since July 2026 (IN RFB 2.229/2024); the two check digits stay numeric. */
const CNPJ =
  /^(?:[0-9A-Za-z]{12}[0-9]{2}|[0-9A-Za-z]{2}(?:\.[0-9A-Za-z]{3}){2}\/[0-9A-Za-z]{4}-[0-9]{2})$/;
const MAX_TEXT = 40;

/**
 * Parses a CPF or CNPJ with or without punctuation; null unless its check digits are right. Spaces
 * around it and lower case letters are accepted. Repeated digits are rejected, because the Receita
 * never issues them. A number without its leading zeros is rejected.
 */
export function parseTaxId(text: string): TaxId | null {
  if (text.length > MAX_TEXT) return null;
  const trimmed = text.trim();
  const number = trimmed.replaceAll(/[./-]/g, '').toUpperCase();
  if (CPF.test(trimmed)) return isValidCpf(number) ? { kind: 'NATURAL', number } : null;
  // Version 2 is the library's alphanumeric CNPJ. Without it, 12.ABC.345/01DE-35 is rejected.
  if (!CNPJ.test(trimmed) || !isValidCnpj(number, { version: 2 })) return null;
  return { kind: 'LEGAL', number };
}

/** With the official punctuation: '123.456.789-09', '12.ABC.345/01DE-35'. */
export function formatTaxId({ kind, number }: TaxId): string {
  const shape = kind === 'NATURAL' ? /^[0-9]{11}$/ : /^[0-9A-Z]{12}[0-9]{2}$/;
  if (!shape.test(number)) throw new RangeError(`not the number of a ${kind} person`);
  return kind === 'NATURAL'
    ? number.replace(/^(.{3})(.{3})(.{3})(.{2})$/, '$1.$2.$3-$4')
    : number.replace(/^(.{2})(.{3})(.{3})(.{4})(.{2})$/, '$1.$2.$3/$4-$5');
}

/**
 * The form that payers see: only the six middle digits of a CPF, '***.456.789-**'. A CNPJ is public
 * and not masked.
 */
export function maskTaxId(taxId: TaxId): string {
  const formatted = formatTaxId(taxId);
  return taxId.kind === 'NATURAL' ? `***${formatted.slice(3, 12)}**` : formatted;
}

/**
 * A CPF or CNPJ without punctuation. Null for anything else, for example a document that the bank
 * has masked.
 */
export function normalizeTaxId(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  const characters = text.toUpperCase().replace(/[.\-/\s]/g, '');
  return /^(?:\d{11}|[0-9A-Z]{12}\d{2})$/.test(characters) ? characters : null;
}
