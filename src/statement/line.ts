// Reads one line of the bank's statement. Tolerant of what it does not know and exact about what it needs: a
// line whose money or number cannot be read is set aside whole, never guessed.
import { isLosslessNumber } from 'lossless-json';
import { z } from 'zod';
import { parsePlainDate } from '../brazil/calendar.js';
import { bigInteger, reais } from '../contract/wire.js';
import { plainDocument, writeCounterparty } from '../expected-payments/counterparty.js';
import { canonicalJson, isJsonObject, sha256, stringifyJson } from '../platform/exact-json.js';

/** What no line can be kept without; all else is taken as it comes. */
const essentials = z.looseObject({
  nsu: bigInteger,
  amount: reais,
  createdAt: z.string(),
  type: z.looseObject({ isCredit: z.boolean() }),
  balance: z.looseObject({ balancePrevious: reais, currentBalance: reais }),
});

export interface StatementLine {
  nsu: bigint;
  bankId: string;
  isCredit: boolean;
  /** Never negative: `isCredit` tells the direction. */
  amountCents: bigint;
  typeName: string;
  correlationId: string | null;
  endToEndId: string | null;
  externalId: string | null;
  originalEndToEndId: string | null;
  /** The bank's id of the movement: its proof's id. */
  movementId: string | null;
  /** The key that it was asked for with, where the line tells it. */
  idempotencyKey: string | null;
  billCode: string | null;
  /** `ispb/branch/number` of who got a debit or sent a credit. */
  counterparty: string | null;
  /** The CPF or CNPJ of the same, where the proof tells it whole. */
  counterpartyDocument: string | null;
  notes: string | null;
  balancePreviousCents: bigint;
  currentBalanceCents: bigint;
  occurredAt: Date;
  /** The line's exact text. */
  content: string;
  /** SHA-256 of its canonical text. */
  contentHash: string;
}

export type LineReading =
  | { ok: true; line: StatementLine }
  | { ok: false; reason: string; nsu: bigint | null; content: string; contentHash: string };

export function readLine(raw: unknown): LineReading {
  const content = stringifyJson(raw);
  const contentHash = sha256(canonicalJson(raw));
  const unreadable = (reason: string): LineReading => ({
    ok: false,
    reason,
    nsu: nsuOf(raw),
    content,
    contentHash,
  });
  const decoded = z.safeDecode(essentials, raw as never);
  if (!decoded.success) {
    // The path alone: messages of the schema may quote the value.
    const path = decoded.error.issues[0]?.path.map(String).join('.') ?? '';
    return unreadable(`cannot be read at ${path || 'its root'}`);
  }
  const { nsu, amount, type, balance, createdAt } = decoded.data;
  const occurredAt = parseInstant(createdAt);
  if (!occurredAt) return unreadable('cannot be read at createdAt');
  if (amount < 0n && type.isCredit) return unreadable('is a credit of a negative amount');
  return {
    ok: true,
    line: {
      nsu,
      bankId: textOf(decoded.data.id) ?? '',
      isCredit: type.isCredit,
      amountCents: amount < 0n ? -amount : amount,
      typeName: textOf(type.name) ?? 'UNNAMED',
      ...references(decoded.data),
      notes: textOf(decoded.data.notes),
      balancePreviousCents: balance.balancePrevious,
      currentBalanceCents: balance.currentBalance,
      occurredAt,
      content,
      contentHash,
    },
  };
}

/** The ids that tie a line to a record of ours: on the line itself, or in its proof. */
function references(line: z.output<typeof essentials>) {
  const proof = (line.proof ?? {}) as Record<string, unknown>;
  const own = line as Record<string, unknown>;
  const find = (name: string) => shortTextOf(own[name]) ?? shortTextOf(proof[name]);
  const otherSide = line.type.isCredit ? proof.payer : proof.beneficiary;
  return {
    correlationId: find('correlationId'),
    endToEndId: find('endToEndId'),
    externalId: find('externalId'),
    originalEndToEndId: find('originalEndToEndId'),
    movementId: shortTextOf(proof.id),
    idempotencyKey: find('idempotencyKey'),
    billCode: find('barCode'),
    counterparty: counterpartyOf(otherSide),
    counterpartyDocument: documentOf(otherSide),
  };
}

/** Longer than any id that we give or take, and than an index can hold: it names nothing of ours. */
function shortTextOf(value: unknown): string | null {
  const text = textOf(value);
  return text !== null && text.length <= 200 ? text : null;
}

/** A side of a movement, where its proof tells account and institution. */
function counterpartyOf(side: unknown): string | null {
  if (!isJsonObject(side)) return null;
  const { participant } = side;
  const ispb = isJsonObject(participant) ? shortTextOf(participant.ispb) : null;
  const [branch, number] = [shortTextOf(side.branch), shortTextOf(side.number)];
  return ispb && branch && number ? writeCounterparty({ ispb, branch, number }) : null;
}

/** A slip's payer tells it outright, a side of a Pix by its holder. */
function documentOf(side: unknown): string | null {
  if (!isJsonObject(side)) return null;
  const { holder, document } = side;
  return plainDocument(document) ?? (isJsonObject(holder) ? plainDocument(holder.document) : null);
}

/** A text that says something; a number is taken by its digits. */
function textOf(value: unknown): string | null {
  if (isLosslessNumber(value)) return value.value;
  return typeof value === 'string' && value !== '' ? storable(value) : null;
}

const instantText = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})?$/;

/** An instant with a zone, or without one: then it is UTC, as the bank's other times are. */
export function parseInstant(text: string): Date | null {
  const zone = instantText.exec(text);
  // V8 would read 30 February as 2 March.
  if (!zone || parsePlainDate(text.slice(0, 10)) === null) return null;
  const instant = new Date(zone[2] ? text : `${text}Z`);
  return Number.isNaN(instant.getTime()) ? null : instant;
}

/** PostgreSQL's text takes neither NUL nor half a character. */
function storable(text: string): string {
  return text.replaceAll('\0', '').replace(/[\u{D800}-\u{DFFF}]/gu, '\uFFFD');
}

function nsuOf(raw: unknown): bigint | null {
  const decoded = z.safeDecode(z.looseObject({ nsu: bigInteger }), raw as never);
  return decoded.success ? decoded.data.nsu : null;
}
