// Parses one line of the bank's statement. Unknown fields are tolerated; required fields are parsed
// exactly. A line whose amount, balances, time or nsu cannot be read is unreadable as a whole: no
// value is guessed.
import { isLosslessNumber } from 'lossless-json';
import { z } from 'zod';
import { parsePlainDate, type PlainDate } from '../../brazil/calendar.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
import { bigInteger, maxIdLength, reais } from '../../bank-contract/wire.js';
import { isMasked, readParty, readText } from '../../access/counterparties/party.js';
import { formatCounterparty } from '../expected-payments/counterparty.js';
import type { StatementLine as StatementLineRow } from '../../generated/service/client.js';
import { canonicalText } from '../../platform/json/canonical-json.js';
import {
  canonicalJson,
  isJsonObject,
  itemText,
  parseJson,
  sha256,
  tolerantJson,
} from '../../platform/json/exact-json.js';

/** Why the bank has not shown the statement. */
export const readFailures = ['key_refused', 'no_answer'] as const;
export type ReadFailure = (typeof readFailures)[number];

/** The fields without which a line is unreadable; all other fields are optional. */
const requiredFields = z.looseObject({
  nsu: bigInteger,
  amount: reais,
  createdAt: z.string(),
  type: z.looseObject({ isCredit: z.boolean() }),
  balance: z.looseObject({ balancePrevious: reais, currentBalance: reais }),
});

/** A line as the bank shows it. `amountCents` is never negative: `isCredit` gives the direction. */
export type StatementLine = Omit<StatementLineRow, 'accountId' | 'arrival' | 'recordedAt' | 'salt'>;

export type ParsedLine =
  | { ok: true; line: StatementLine }
  | { ok: false; reason: string; nsu: bigint | null; content: string; contentHash: string };

/**
 * The stored hash of an erased line. If the bank shows the nsu again, with any content, that
 * content is not stored.
 */
export const erasedHash = '';

export function parseStatementLine(raw: unknown): ParsedLine {
  const content = itemText(raw);
  const contentHash = sha256(canonicalJson(raw));
  const unreadable = (reason: string): ParsedLine => ({
    ok: false,
    reason,
    nsu: nsuOf(raw),
    content,
    contentHash,
  });
  const decoded = z.safeDecode(requiredFields, raw as never);
  if (!decoded.success) {
    // Only the path: messages of the schema may quote the value.
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
      notes: textOf(decoded.data.notes),
      balancePreviousCents: balance.balancePrevious,
      currentBalanceCents: balance.currentBalance,
      occurredAt,
      content,
      contentHash,
      ...references(decoded.data),
    },
  };
}

/**
 * The line of a stored text, or null where it is not the text of one readable line. It is read like
 * the page of the bank that it was an item of: a key may occur twice, and the text stays.
 */
export function parseStoredContent(content: string): StatementLine | null {
  try {
    const items = parseJson(`[${content}]`, tolerantJson) as unknown[];
    const parsed = parseStatementLine(items[0]);
    return items.length === 1 && parsed.ok ? parsed.line : null;
  } catch {
    return null;
  }
}

/** SHA-256 of the line's canonical text, readable or not. */
export function contentHashOf(parsed: ParsedLine): string {
  return parsed.ok ? parsed.line.contentHash : parsed.contentHash;
}

/**
 * The commitment to the content of a line. While the salt is stored, it proves the content; once
 * the salt is erased, nobody can confirm a guess of the content with it.
 */
export function commitmentOf(salt: string, contentHash: string): string {
  return sha256(`["commitment/1",${canonicalText(salt)},${canonicalText(contentHash)}]`);
}

/**
 * The references of a line, from the line itself or from its proof. The line itself takes
 * precedence.
 */
function references(line: z.output<typeof requiredFields>) {
  const proof = (line.proof ?? {}) as Record<string, unknown>;
  const fields = line as Record<string, unknown>;
  const find = (name: string) => idOf(fields[name]) ?? idOf(proof[name]);
  const [payer, beneficiary] = [counterpartyOf(proof.payer), counterpartyOf(proof.beneficiary)];
  // The counterparty is the payer of a credit, and the beneficiary of a debit.
  const { isCredit } = line.type;
  return {
    correlationId: find('correlationId'),
    endToEndId: find('endToEndId'),
    externalId: find('externalId'),
    originalEndToEndId: find('originalEndToEndId'),
    movementId: idOf(proof.id),
    idempotencyKey: find('idempotencyKey'),
    billCode: find('barCode'),
    counterparty: accountKeyOf(isCredit ? proof.payer : proof.beneficiary),
    message: readText(proof.description),
    paidOn: isCredit ? paymentDayOf(fields, proof) : null,
    hasOneHolder: isOneHolder(payer, beneficiary),
    ...(isCredit ? payer : beneficiary),
  };
}

/** The day on which a credit was paid, in São Paulo: banks give it as a day or as a time. */
function paymentDayOf(...sources: Record<string, unknown>[]): PlainDate | null {
  const given = sources.flatMap(({ paymentDate, paidAt }) => [textOf(paymentDate), textOf(paidAt)]);
  const days = given.map((text) => {
    const instant = text !== null && /T.*(?:Z|[+-]\d{2}:\d{2})$/.test(text) && parseInstant(text);
    return instant ? saoPauloDay(instant) : parsePlainDate(text?.slice(0, 10) ?? '');
  });
  return days.find((day) => day !== null) ?? null;
}

/** A party in the columns of the counterparty, which it may be. */
function counterpartyOf(party: unknown) {
  const { name, taxId, ispb, branch, account } = readParty(party);
  const isFull = taxId !== null && !isMasked(taxId);
  return {
    counterpartyDocument: isFull ? taxId : null,
    counterpartyMaskedTaxId: isFull ? null : taxId,
    counterpartyName: name,
    counterpartyIspb: ispb,
    counterpartyBranch: branch,
    counterpartyAccount: account,
  };
}

/**
 * The text of an id; null above its greatest length. No id of the service or of the bank is that
 * long, and an index may be unable to hold such a text.
 */
function idOf(value: unknown): string | null {
  const text = textOf(value);
  return text !== null && text.length <= maxIdLength ? text : null;
}

/**
 * `ispb/branch/number` of a party, where the proof carries both its account and its institution.
 */
function accountKeyOf(party: unknown): string | null {
  if (!isJsonObject(party)) return null;
  const { participant } = party;
  const ispb = isJsonObject(participant) ? idOf(participant.ispb) : null;
  const [branch, number] = [idOf(party.branch), idOf(party.number)];
  return ispb && branch && number ? formatCounterparty({ ispb, branch, number }) : null;
}

type Holder = Pick<StatementLine, 'counterpartyDocument'>;

/** Whether payer and beneficiary are known and have one CPF or CNPJ. */
function isOneHolder(payer: Holder, beneficiary: Holder): boolean {
  const { counterpartyDocument: document } = payer;
  return document !== null && document === beneficiary.counterpartyDocument;
}

/** A non-empty text; the digits of a number. */
function textOf(value: unknown): string | null {
  if (isLosslessNumber(value)) return value.value;
  return readText(value);
}

const instantText = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})?$/;

/** Parses an ISO 8601 instant. Without a zone it is UTC, like the bank's other times. */
export function parseInstant(text: string): Date | null {
  const match = instantText.exec(text);
  // V8 reads 30 February as 2 March.
  if (!match || parsePlainDate(text.slice(0, 10)) === null) return null;
  const instant = new Date(match[2] ? text : `${text}Z`);
  return Number.isNaN(instant.getTime()) ? null : instant;
}

function nsuOf(raw: unknown): bigint | null {
  const decoded = z.safeDecode(z.looseObject({ nsu: bigInteger }), raw as never);
  return decoded.success ? decoded.data.nsu : null;
}
