import { formatReaisWithTwoDecimals } from '../money/cents.js';
import { crc16, foldToAscii, readFields, writeField } from './br-code-fields.js';
import { parsePixKey } from './pix-key.js';
import { isStaticTxid } from './static-txid.js';

export interface StaticBrCodeFields {
  /** A key that `parsePixKey` knows, in any of its spellings. */
  pixKey: string;
  /** Cut at 25 characters after folding: a label, not an identity. */
  merchantName: string;
  /** Cut at 15 characters after folding. */
  merchantCity: string;
  /** Left out, the payer chooses. At least 1n, and 9,999,999,999.99 reais at most. */
  amountCents?: bigint;
  /** One to 25 letters and digits; left out, '***'. See `txidOfCorrelationId`. */
  txid?: string;
  /** Never cut: see `additionalInformationSpace`. */
  additionalInformation?: string;
  /** A CEP, eight digits with or without its dash. */
  postalCode?: string;
}

export interface BrCode {
  /** DYNAMIC when the payment is described at `url`, else STATIC. */
  kind: 'STATIC' | 'DYNAMIC';
  /** As written; null in a dynamic code. */
  pixKey: string | null;
  /** Where the payment is described, without scheme; null in a static code. */
  url: string | null;
  /** Where a Pix Automático recurrence is described (templates 80 to 99), or null. */
  recurrenceUrl: string | null;
  /** Null when the payer chooses, and in a dynamic code, whose amount is told by its url alone. */
  amountCents: bigint | null;
  /** Null when absent or '***', and in a dynamic code. */
  txid: string | null;
  merchantName: string;
  merchantCity: string;
  postalCode: string | null;
  additionalInformation: string | null;
  /** ISPB of who hands out cash (field 26-03): the code is a Pix Saque. */
  withdrawalIspb: string | null;
}

export type ParsedBrCode =
  | { ok: true; brCode: BrCode }
  | { ok: false; reason: 'malformed' | 'wrong_crc' | 'wrong_currency' | 'not_pix' };

const GUI = 'br.gov.bcb.pix';
const REAL = '986';
const NO_TXID = '***';
/** '10.' too: banks are known to write it. */
const AMOUNT = /^([0-9]{1,10})(?:\.([0-9]{0,2}))?$/;
const MAX_AMOUNT_TEXT = 13;

/**
 * How many characters, counted after `foldToAscii`, are left for the additional information beside
 * this key: 37 for an EVP, 62 for a CPF, 0 for the longest e-mail. Field 26 holds 99, of which 18
 * name Pix and 4 each head the key and the information.
 */
export function additionalInformationSpace(pixKey: string): number {
  const key = parsePixKey(pixKey)?.key ?? pixKey;
  return Math.max(0, 99 - writeField('00', GUI).length - 4 - key.length - 4);
}

/** The payload of a static Pix code. RangeError on fields that no code can carry. */
export function buildStaticBrCode(fields: StaticBrCodeFields): string {
  const { amountCents, txid } = fields;
  const key = parsePixKey(fields.pixKey)?.key;
  if (key === undefined) throw new RangeError('not a Pix key');
  if (txid !== undefined && !isStaticTxid(txid)) throw new RangeError(`not a static txid: ${txid}`);

  const information = foldToAscii(fields.additionalInformation ?? '');
  const room = additionalInformationSpace(key);
  if (information.length > room) {
    throw new RangeError(`the key leaves ${room} characters for the additional information`);
  }
  const account =
    writeField('00', GUI) +
    writeField('01', key) +
    (information === '' ? '' : writeField('02', information));

  const unsigned = [
    writeField('00', '01'),
    writeField('26', account),
    writeField('52', '0000'),
    writeField('53', REAL),
    amountCents === undefined ? '' : writeField('54', amountText(amountCents)),
    writeField('58', 'BR'),
    writeField('59', label('merchantName', fields.merchantName, 25)),
    writeField('60', label('merchantCity', fields.merchantCity, 15)),
    fields.postalCode === undefined ? '' : writeField('61', postalCodeDigits(fields.postalCode)),
    writeField('62', writeField('05', txid ?? NO_TXID)),
    '6304',
  ].join('');
  return unsigned + crc16(unsigned);
}

/**
 * Reads any Pix code, static or dynamic, in whatever order and template its maker chose, once its
 * CRC holds. The key is not judged: a code may outlive its key.
 */
export function parseBrCode(payload: string): ParsedBrCode {
  const text = payload.trim();
  const crcField = /6304([0-9A-Fa-f]{4})$/.exec(text.slice(-8));
  if (crcField === null) return { ok: false, reason: 'malformed' };
  if (crc16(text.slice(0, -4)) !== crcField[1]?.toUpperCase()) {
    return { ok: false, reason: 'wrong_crc' };
  }
  // Makers count a name's length in characters or in UTF-8 bytes; both are in use.
  const asCharacters = interpret(text, (value) => value);
  if (asCharacters.ok || asCharacters.reason !== 'malformed') return asCharacters;
  return interpret(Buffer.from(text, 'utf8').toString('latin1'), (value) =>
    Buffer.from(value, 'latin1').toString('utf8'),
  );
}

function interpret(text: string, decode: (value: string) => string): ParsedBrCode {
  const fields = readFields(text);
  const [name, city] = [fields?.get('59'), fields?.get('60')];
  if (fields === null || !text.startsWith('000201') || [...fields.keys()].at(-1) !== '63') {
    return { ok: false, reason: 'malformed' };
  }
  if (fields.get('53') !== REAL) return { ok: false, reason: 'wrong_currency' };
  const additional = readFields(fields.get('62') ?? '');
  if (name === undefined || city === undefined || additional === null) {
    return { ok: false, reason: 'malformed' };
  }

  const account = findPixTemplate(fields, 26, 51);
  const recurrenceUrl = findPixTemplate(fields, 80, 99)?.get('25');
  const [pixKey, url] = [account?.get('01'), account?.get('25')];
  // A key beside a url would name two payments.
  if (pixKey !== undefined && url !== undefined) return { ok: false, reason: 'malformed' };
  if (!(pixKey ?? url ?? recurrenceUrl)) return { ok: false, reason: 'not_pix' };
  const kind = pixKey === undefined ? 'DYNAMIC' : 'STATIC';
  const amountCents = readAmount(fields.get('54'));
  if (amountCents === undefined) return { ok: false, reason: 'malformed' };
  const txid = additional.get('05') ?? NO_TXID;

  const optional = (value: string | undefined) => (value === undefined ? null : decode(value));
  return {
    ok: true,
    brCode: {
      kind,
      pixKey: optional(pixKey),
      url: optional(url),
      recurrenceUrl: optional(recurrenceUrl),
      amountCents: kind === 'DYNAMIC' ? null : amountCents,
      txid: kind === 'DYNAMIC' || txid === NO_TXID ? null : decode(txid),
      merchantName: decode(name),
      merchantCity: decode(city),
      postalCode: optional(fields.get('61')),
      additionalInformation: optional(account?.get('02')),
      withdrawalIspb: optional(account?.get('03')),
    },
  };
}

function findPixTemplate(fields: Map<string, string>, first: number, last: number) {
  for (const [id, value] of fields) {
    if (Number(id) < first || Number(id) > last) continue;
    const template = readFields(value);
    if (template?.get('00')?.toLowerCase() === GUI) return template;
  }
  return undefined;
}

/** Null when the payer chooses (absent, or the zero that the manual allows); undefined when bad. */
function readAmount(text: string | undefined): bigint | null | undefined {
  if (text === undefined) return null;
  const parts = AMOUNT.exec(text);
  if (parts === null || text.length > MAX_AMOUNT_TEXT) return undefined;
  const cents = BigInt(parts[1] + (parts[2] ?? '').padEnd(2, '0'));
  return cents === 0n ? null : cents;
}

function amountText(amountCents: bigint): string {
  const text = formatReaisWithTwoDecimals(amountCents);
  if (amountCents <= 0n || text.length > MAX_AMOUNT_TEXT) {
    throw new RangeError(`a static code cannot carry ${amountCents} cents`);
  }
  return text;
}

function label(field: string, text: string, maxLength: number): string {
  const folded = foldToAscii(text).slice(0, maxLength).trim();
  if (folded === '') throw new RangeError(`${field} has no printable ASCII character`);
  return folded;
}

function postalCodeDigits(postalCode: string): string {
  if (!/^[0-9]{5}-?[0-9]{3}$/.test(postalCode)) throw new RangeError('a CEP has eight digits');
  return postalCode.replace('-', '');
}
