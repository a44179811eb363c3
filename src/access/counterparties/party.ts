// Reads a party of a payment: payer or beneficiary, as the bank's statement, webhooks and look-ups
// and the requests of business systems write it.
import { normalizeTaxId } from '../../brazil/tax-id.js';
import { isJsonObject } from '../../platform/json/exact-json.js';

/** Null where unknown. */
export interface PaymentParty {
  name: string | null;
  /** CPF or CNPJ without punctuation; with it and asterisks, as much of it as the bank shows. */
  taxId: string | null;
  ispb: string | null;
  branch: string | null;
  account: string | null;
}

export const unknownParty: PaymentParty = {
  name: null,
  taxId: null,
  ispb: null,
  branch: null,
  account: null,
};

/**
 * A party of a Pix has its name and document in its holder; the payer of a bank slip has them
 * itself. A transfer's request names the institution by `participantIspb`.
 */
export function readParty(value: unknown): PaymentParty {
  const holder = fieldOf(value, 'holder');
  const documents = [fieldOf(value, 'document'), fieldOf(holder, 'document')];
  return {
    name: readText(fieldOf(holder, 'name')) ?? readText(fieldOf(value, 'name')),
    taxId: firstOf(documents, normalizeTaxId) ?? firstOf(documents, readMaskedTaxId),
    ispb:
      readText(fieldOf(fieldOf(value, 'participant'), 'ispb')) ??
      readText(fieldOf(value, 'participantIspb')),
    branch: readText(fieldOf(value, 'branch')),
    account: readText(fieldOf(value, 'number')),
  };
}

/**
 * A text that PostgreSQL can store; null if empty. A JSON number is no text: it may have lost
 * leading zeros.
 */
export function readText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? storableText(value) : null;
}

/** PostgreSQL's text type rejects NUL and unpaired surrogates. */
function storableText(text: string): string {
  // Most text has neither, and this test is many times as fast as replacing.
  if (!/[\0\uD800-\uDFFF]/.test(text)) return text;
  return text.replaceAll('\0', '').replace(/[\u{D800}-\u{DFFF}]/gu, '\uFFFD');
}

function firstOf(
  values: readonly unknown[],
  read: (value: unknown) => string | null,
): string | null {
  return values.map(read).find((text) => text !== null) ?? null;
}

export function fieldOf(value: unknown, name: string): unknown {
  return isJsonObject(value) ? value[name] : undefined;
}

/** Whether some characters of a tax id are hidden. */
export function isMasked(taxId: string): boolean {
  return taxId.includes('*');
}

/** A tax id with hidden characters, with its official punctuation: `***.456.789-**`. */
function readMaskedTaxId(document: unknown): string | null {
  if (typeof document !== 'string') return null;
  const characters = document.toUpperCase().replace(/[.\-/\s]/g, '');
  if (!isMasked(characters)) return null;
  return punctuateTaxId(characters);
}

/** Null unless it has the characters of a CPF or CNPJ, of which some may be asterisks. */
export function punctuateTaxId(characters: string): string | null {
  if (/^[\d*]{11}$/.test(characters))
    return characters.replace(/^(.{3})(.{3})(.{3})(.{2})$/, '$1.$2.$3-$4');
  if (/^[0-9A-Z*]{12}[\d*]{2}$/.test(characters))
    return characters.replace(/^(.{2})(.{3})(.{3})(.{4})(.{2})$/, '$1.$2.$3/$4-$5');
  return null;
}
