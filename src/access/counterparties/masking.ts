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
    name: maskValue('name', name),
    taxId: maskValue('taxId', taxId),
    ispb: maskValue('ispb', ispb),
    branch: maskValue('branch', branch),
    account: maskValue('account', account),
  };
}

/** How each kind of value is masked. Null hides it. */
const masks = {
  name: maskName,
  taxId: maskTaxIdText,
  // A stranger may write anything where a number belongs.
  ispb: (text) => (/^\d{1,8}$/.test(text) ? text : null),
  branch: (text) => (/^[\dXx-]{1,6}$/.test(text) ? text : null),
  account: maskAccountNumber,
  payee: maskPayee,
} as const satisfies Record<string, (text: string) => string | null>;

export type MaskedKind = keyof typeof masks;

/** The value as a caller without the scope `personal-data` sees it. */
export function maskValue(kind: MaskedKind, text: string | null): string | null {
  return text === null ? null : masks[kind](text);
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

const billCode = /^\d{44,48}$/;
const otherPayee = /^(nsu \d{1,18}|batch\/[0-9a-f]{64})$/;

/**
 * Who receives money, as an operation, a reference and a beneficiary name it: an account, or its
 * number alone. The code of a bill, the nsu of a refunded Pix and a hash name nobody.
 */
function maskPayee(text: string): string {
  if (billCode.test(text) || otherPayee.test(text)) return text;
  const [number = '', branch, ispb] = text.split('/').reverse();
  if (branch === undefined || ispb === undefined) return maskAccountNumber(text);
  const shown = [maskValue('ispb', ispb), maskValue('branch', branch), maskAccountNumber(number)];
  return shown.map((part) => part ?? hidden).join('/');
}

/** The last two digits stay, of a number that has at least as many hidden ones. */
function maskAccountNumber(account: string): string {
  const characters = account.replace(/[^0-9A-Za-z]/g, '');
  const isLong = characters.length >= 2 * shownDigits;
  return isLong ? `${hidden}${characters.slice(-shownDigits)}` : hidden;
}
