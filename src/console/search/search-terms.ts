// What a text that a person searches for may be. A text may be several things at once: `1000` is an
// nsu, an amount and an id.
import { parseBankSlip } from '../../brazil/bank-slip.js';
import { parseBillCode } from '../../brazil/bill-code.js';
import { parsePixKey } from '../../brazil/pix-key.js';
import { normalizeTaxId } from '../../brazil/tax-id.js';

export interface SearchTerms {
  /** What was typed, without white space around it and without characters that no text has. */
  text: string;
  /** In lower case. */
  uuid: string | null;
  /** An id of any kind, exactly as it was typed. */
  identifier: string | null;
  /** How an id begins, and the UUIDs that begin so. */
  beginning: { text: string; uuids: { from: string; to: string } | null } | null;
  nsu: bigint | null;
  /** 44 digits, also of a digitable line. */
  barCode: string | null;
  /** Of a bank slip with an amount: a charge of ours has both in its response. */
  slip: { digitableLine: string; cents: bigint } | null;
  amountCents: bigint | null;
  /** CPF or CNPJ without punctuation. */
  taxId: string | null;
  /** An e-mail address, a telephone or a random key, as the DICT writes it. */
  pixKey: string | null;
  /** A part of a name: each of its words stands somewhere in the name. */
  name: string | null;
}

export type SearchTerm = keyof Omit<SearchTerms, 'text' | 'slip' | 'beginning'>;

const maxText = 255;
/** The indexes of names have no more of a name. */
const maxName = 100;
const leastName = 3;
/** Of the beginning of an id: a shorter one says too little. */
const leastId = 4;
const leastOfUuid = 8;

export function readSearchTerms(typed: string): SearchTerms {
  const text = cleanText(typed);
  const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text) ? text : null;
  const taxId = uuid === null ? normalizeTaxId(text) : null;
  return {
    text,
    uuid: uuid?.toLowerCase() ?? null,
    identifier: /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) ? text : null,
    beginning: readBeginning(text),
    nsu: /^\d{1,18}$/.test(text) ? BigInt(text) : null,
    ...readBillCode(text),
    amountCents: readAmount(text),
    taxId,
    pixKey: readPixKey(text),
    name: uuid === null && taxId === null ? readName(text) : null,
  };
}

/** Whether the text may name a person: it then belongs neither in an address nor in a log. */
export function isPersonal({ taxId, pixKey, name, uuid }: SearchTerms): boolean {
  return taxId !== null || name !== null || (pixKey !== null && uuid === null);
}

/**
 * Whether an address may have the text. One that was read as nothing may still be a part of a name,
 * of an e-mail address or of a telephone: only numbers, amounts and ids with a digit stand there.
 */
export function fitsAddress(terms: SearchTerms): boolean {
  if (isPersonal(terms)) return false;
  const { text, uuid, nsu, barCode, amountCents } = terms;
  const isNumber = nsu !== null || barCode !== null || amountCents !== null;
  return text === '' || uuid !== null || isNumber || /^(?=\D*\d)[\w.:/-]+$/.test(text);
}

/** What a reader who sees no personal data may search for: who paid must not be guessed either. */
export function withoutPersonalTerms(terms: SearchTerms): SearchTerms {
  return { ...terms, taxId: null, pixKey: null, name: null };
}

/** What the text was read as, in the order in which the page names it. */
export function termsIn(terms: SearchTerms): SearchTerm[] {
  const named = ['uuid', 'nsu', 'barCode', 'amountCents', 'taxId', 'pixKey', 'name'] as const;
  const found = named.filter((term) => terms[term] !== null);
  return found.length === 0 && terms.identifier !== null ? ['identifier'] : found;
}

/** PostgreSQL's text type rejects NUL and unpaired surrogates. */
function cleanText(typed: string): string {
  return typed
    .slice(0, maxText)
    .replace(/[\u{D800}-\u{DFFF}]|\p{Cc}/gu, ' ')
    .trim();
}

/** Ids have no spaces. */
function readBeginning(text: string): SearchTerms['beginning'] {
  if (text.length < leastId || !/^[\x21-\x7e]+$/.test(text)) return null;
  const digits = text.replaceAll('-', '').toLowerCase();
  const isOfUuid =
    digits.length >= leastOfUuid && /^[0-9a-f]{1,32}$/.test(digits) && isUuidSoFar(text);
  const filledWith = (digit: string) =>
    digits.padEnd(32, digit).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return { text, uuids: isOfUuid ? { from: filledWith('0'), to: filledWith('f') } : null };
}

/** Whether its hyphens stand where those of a UUID do. */
function isUuidSoFar(text: string): boolean {
  return [...text].every((one, index) => (one === '-') === [8, 13, 18, 23].includes(index));
}

/** `1.234,56`, `R$ 10`, `10.50`, `1,234.56`. Thousands are grouped completely or not at all. */
function readAmount(text: string): bigint | null {
  const [, digits = ''] = /^[-−]?\s*(?:R\$)?\s*([\d.,]+)$/i.exec(text) ?? [];
  const comma = /^(\d{1,3}(?:\.\d{3})+|\d{1,9})(?:,(\d{1,2}))?$/.exec(digits);
  const point = /^(\d{1,3}(?:,\d{3})+|\d{1,9})(?:\.(\d{1,2}))?$/.exec(digits);
  const [, whole = '', cents = ''] = comma ?? point ?? [];
  const reais = whole.replace(/[.,]/g, '');
  // Codes of slips, tax ids and other long numbers are no amounts.
  if (reais === '' || reais.length > 12) return null;
  return BigInt(reais) * 100n + BigInt(cents.padEnd(2, '0'));
}

function readBillCode(text: string): Pick<SearchTerms, 'barCode' | 'slip'> {
  const parsed = parseBillCode(text);
  if (!parsed.ok) return { barCode: null, slip: null };
  const { type, barCode, digitableLine } = parsed.code;
  const slip = type === 'BANKSLIP' ? parseBankSlip(barCode) : null;
  const cents = slip?.ok ? slip.slip.amountCents : null;
  return { barCode, slip: cents === null ? null : { digitableLine, cents } };
}

function readPixKey(text: string): string | null {
  const national = /^\(?(\d{2})\)?[ -]?(\d{4,5})[ -](\d{4})$/.exec(text);
  const key = parsePixKey(national ? `+55${national.slice(1).join('')}` : text);
  return key && key.kind !== 'CPF' && key.kind !== 'CNPJ' ? key.key : null;
}

/** A code has digits and no space; a name has letters, and digits only in words of its own. */
function readName(text: string): string | null {
  const name = text.replace(/\s+/gu, ' ').slice(0, maxName);
  const letters = name.match(/\p{L}/gu)?.length ?? 0;
  const isName = /^[\p{L}\p{M}\p{N} .,'’&/()-]+$/u.test(name);
  const isCode = /\p{N}/u.test(name) && !name.includes(' ');
  // The index of names knows three letters at least that follow each other.
  const isLong = name.split(' ').some((word) => [...word].length >= leastName);
  return isName && isLong && letters >= leastName && !isCode ? name : null;
}
