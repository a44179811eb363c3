// Masks a counterparty for callers without the scope `personal-data`. Any text may come from a
// stranger: what does not have the expected shape is hidden completely.
import { punctuateTaxId, type PaymentParty } from './party.js';
import type { Counterparty } from './resolution.js';

const hidden = '***';
/** The number of words does not say more about a person than this. */
const maxWords = 4;
const shownDigits = 2;

/** Institution and branch stay: many people share them. */
export function maskCounterparty(counterparty: Counterparty): Counterparty {
  return { ...counterparty, ...maskParty(counterparty), message: null };
}

export function maskParty({ name, taxId, ispb, branch, account }: PaymentParty): PaymentParty {
  return {
    name: name === null ? null : maskName(name),
    taxId: taxId === null ? null : maskTaxIdText(taxId),
    // A stranger may write anything where a number belongs.
    ispb: ispb !== null && /^\d{1,8}$/.test(ispb) ? ispb : null,
    branch: branch !== null && /^[\dXx-]{1,6}$/.test(branch) ? branch : null,
    account: account === null ? null : maskAccountNumber(account),
  };
}

/** `Ana Souza` becomes `A*** S***`. A word without a first letter is hidden: it may be a tax id. */
function maskName(name: string): string {
  const words = name.normalize('NFC').split(/\s+/u).filter(Boolean).slice(0, maxWords);
  if (words.length === 0) return hidden;
  return words.map((word) => `${/^\p{L}/u.exec(word)?.[0] ?? ''}${hidden}`).join(' ');
}

/** Six characters of a CPF or CNPJ stay: `***.456.789-**`, `**.345.678/****-**`. */
function maskTaxIdText(taxId: string): string {
  const characters = taxId.toUpperCase().replace(/[.\-/\s]/g, '');
  const from = characters.length === 11 ? 3 : 2;
  const shown = [...characters].map((one, at) => (at >= from && at < from + 6 ? one : '*'));
  return punctuateTaxId(shown.join('')) ?? hidden;
}

/** The last two digits stay, of a number that has at least as many hidden ones. */
function maskAccountNumber(account: string): string {
  const characters = account.replace(/[^0-9A-Za-z]/g, '');
  const isLong = characters.length >= 2 * shownDigits;
  return isLong ? `${hidden}${characters.slice(-shownDigits)}` : hidden;
}
