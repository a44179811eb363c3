import { formatReaisWithTwoDecimals } from './cents.js';
import { crc16, foldToAscii, readFields, writeField } from './br-code-fields.js';
import { parsePixKey } from './pix-key.js';
import { isStaticTxid } from './static-txid.js';

export interface StaticBrCodeFields {
  /** A key that `parsePixKey` accepts, in any of its spellings. */
  pixKey: string;
  /** Cut to 25 ASCII characters. It is a label for the payer and identifies nobody. */
  merchantName: string;
  /** Cut to 15 ASCII characters. */
  merchantCity: string;
  /** From 1n to 9,999,999,999.99 reais. Without it, the payer chooses the amount. */
  amountCents?: bigint;
  /** One to 25 letters and digits. Without it, the code has '***'. See `txidOfCorrelationId`. */
  txid?: string;
  /** A text for the payer, cut to the `additionalInformationSpace` beside the key. */
  additionalInformation?: string;
  /** A CEP: eight digits, with or without a dash. */
  postalCode?: string;
}

export interface BrCode {
  /** DYNAMIC when `url` describes the payment, else STATIC. */
  kind: 'STATIC' | 'DYNAMIC';
  /** As written in the code. Null in a dynamic code. */
  pixKey: string | null;
  /** The URL that describes the payment, without scheme. Null in a static code. */
  url: string | null;
  /** The URL that describes a Pix Automático recurrence (templates 80 to 99), or null. */
  recurrenceUrl: string | null;
  /**
   * Null when the payer chooses the amount, and in a dynamic code: only its URL gives the amount.
   */
  amountCents: bigint | null;
  /** Null when it is absent or '***', and in a dynamic code. */
  txid: string | null;
  merchantName: string;
  merchantCity: string;
  postalCode: string | null;
  additionalInformation: string | null;
  /** ISPB of the institution that pays out cash (field 26-03) in a Pix Saque code, else null. */
  withdrawalIspb: string | null;
}

export type ParsedBrCode =
  | { ok: true; brCode: BrCode }
  | { ok: false; reason: 'malformed' | 'wrong_crc' | 'wrong_currency' | 'not_pix' };

const GUI = 'br.gov.bcb.pix';
const REAL = '986';
const NO_TXID = '***';
/** '10.' is accepted, as some banks write it. */
const AMOUNT = /^([0-9]{1,10})(?:\.([0-9]{0,2}))?$/;
const MAX_AMOUNT_TEXT = 13;

/**
 * The maximum length of the additional information next to this key, in characters after
 * `foldToAscii`: 37 for an EVP, 62 for a CPF, 0 for the longest e-mail. Field 26 holds 99
 * characters: 18 for the Pix identifier, 4 each for the id and length of key and information.
 */
export function additionalInformationSpace(pixKey: string): number {
  const key = parsePixKey(pixKey)?.key ?? pixKey;
  return Math.max(0, 99 - writeField('00', GUI).length - 4 - key.length - 4);
}

/** The payload of a static Pix code. Throws RangeError for fields that a code cannot hold. */
export function buildStaticBrCode(fields: StaticBrCodeFields): string {
  const { amountCents, txid } = fields;
  const key = parsePixKey(fields.pixKey)?.key;
  if (key === undefined) throw new RangeError('not a Pix key');
  if (txid !== undefined && !isStaticTxid(txid)) throw new RangeError(`not a static txid: ${txid}`);

  const information = foldToAscii(fields.additionalInformation ?? '')
    .slice(0, additionalInformationSpace(key))
    .trimEnd();
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
 * Parses a Pix code, static or dynamic, with its fields in any order and Pix in any template. Its
 * CRC must be right. The key is not validated, because a code may outlive its key.
 */
export function parseBrCode(payload: string): ParsedBrCode {
  const text = payload.trim();
  const crcField = /6304([0-9A-Fa-f]{4})$/.exec(text.slice(-8));
  if (crcField === null) return { ok: false, reason: 'malformed' };
  if (crc16(text.slice(0, -4)) !== crcField[1]?.toUpperCase()) {
    return { ok: false, reason: 'wrong_crc' };
  }
  // Some systems write the length of a field in characters, others in UTF-8 bytes.
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
  // A code with a key and a URL would describe two payments.
  if (pixKey !== undefined && url !== undefined) return { ok: false, reason: 'malformed' };
  if (!(pixKey ?? url ?? recurrenceUrl)) return { ok: false, reason: 'not_pix' };
  const kind = pixKey === undefined ? 'DYNAMIC' : 'STATIC';
  const amountCents = readAmount(fields.get('54'));
  if (amountCents === undefined) return { ok: false, reason: 'malformed' };
  // Generators that do not know `***` write an empty one.
  const txid = additional.get('05') || NO_TXID;

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

/**
 * Null when the payer chooses the amount (absent, or zero). Undefined when the text is not an
 * amount.
 */
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
