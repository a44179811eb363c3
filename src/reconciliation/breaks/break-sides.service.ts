// The two sides that a person compares: statement lines, and the expected payments that they may
// pay.
import { Injectable } from '@nestjs/common';
import {
  findCounterparties,
  findExpectedCounterparties,
  counterpartyIn,
} from '../../access/counterparties/counterparties.queries.js';
import {
  seesPersonalData,
  shownCounterparty,
} from '../../access/counterparties/counterparty.schema.js';
import type { Counterparty } from '../../access/counterparties/resolution.js';
import { Database } from '../../platform/postgres/database.service.js';
import {
  lineReferenceKinds,
  type Reference,
  type LineReferenceKind,
} from '../../statement/expected-payments/references.js';
import type { BreakReader } from './break-reading.service.js';

interface Side {
  isCredit: boolean;
  /** Of the line its type at the bank, and of a payment the kind of its operation. */
  kind: string;
  counterparty: Counterparty;
  /** The ids by which lines and payments are matched. */
  references: Reference[];
}

export interface LineSide extends Side {
  nsu: bigint;
  amountCents: bigint;
  occurredAt: Date;
  /** Null without the scope `personal-data`. */
  notes: string | null;
}

export interface PaymentSide extends Side {
  expectedPaymentId: string;
  /** Null when the payer chooses the amount. */
  amountCents: bigint | null;
  /** What lines have paid so far. */
  paidCents: bigint;
  dueDate: string | null;
  createdAt: Date;
  withdrawnAt: Date | null;
}

/** A QR code that is paid many times has an id for each payment. */
const maxReferences = 20;

@Injectable()
export class BreakSides {
  constructor(private readonly database: Database) {}

  /** Those that are stored, by nsu. */
  async findLines(
    { accountId, scopes }: BreakReader,
    nsus: readonly bigint[],
  ): Promise<Map<bigint, LineSide>> {
    const { prisma } = this.database;
    if (nsus.length === 0) return new Map();
    const [lines, counterparties] = await Promise.all([
      prisma.statementLine.findMany({
        where: { accountId, nsu: { in: [...nsus] } },
        omit: { content: true, contentHash: true, salt: true },
      }),
      findCounterparties(prisma, accountId, nsus),
    ]);
    const isVisible = seesPersonalData(scopes);
    return new Map(
      lines.map((line) => {
        const { nsu, isCredit, typeName: kind, amountCents, occurredAt, notes } = line;
        const counterparty = shownCounterparty(counterpartyIn(counterparties, nsu), isVisible);
        const side = { nsu, isCredit, kind, amountCents, occurredAt, counterparty };
        return [nsu, { ...side, references: referencesOf(line), notes: isVisible ? notes : null }];
      }),
    );
  }

  /** Those that are stored, by id. */
  async findPayments(
    { accountId, scopes }: BreakReader,
    ids: readonly string[],
  ): Promise<Map<string, PaymentSide>> {
    const { prisma } = this.database;
    if (ids.length === 0) return new Map();
    const [payments, counterparties] = await Promise.all([
      prisma.expectedPayment.findMany({
        where: { accountId, id: { in: [...ids] } },
        include: { total: true, references: { take: maxReferences, orderBy: { kind: 'asc' } } },
      }),
      findExpectedCounterparties(prisma, accountId, ids),
    ]);
    const isVisible = seesPersonalData(scopes);
    return new Map(
      payments.map(({ id, total, references, ...payment }) => {
        const { isCredit, kind, amountCents, dueDate, createdAt, withdrawnAt } = payment;
        const counterparty = shownCounterparty(counterpartyIn(counterparties, id), isVisible);
        const side = { expectedPaymentId: id, isCredit, kind, amountCents, counterparty };
        const times = { dueDate, createdAt, withdrawnAt };
        const paidCents = total?.paidCents ?? 0n;
        return [id, { ...side, ...times, paidCents, references: references.flatMap(ofLines) }];
      }),
    );
  }
}

function referencesOf(line: {
  nsu: bigint;
  idempotencyKey: string | null;
  movementId: string | null;
  endToEndId: string | null;
  externalId: string | null;
  correlationId: string | null;
  billCode: string | null;
}): Reference[] {
  const columns: Record<LineReferenceKind, string | null> = {
    nsu: line.nsu.toString(),
    idempotency_key: line.idempotencyKey,
    movement_id: line.movementId,
    end_to_end_id: line.endToEndId,
    external_id: line.externalId,
    correlation_id: line.correlationId,
    bill_code: line.billCode,
  };
  return lineReferenceKinds.flatMap(({ kind }) => {
    const value = columns[kind];
    return value === null ? [] : [{ kind, value }];
  });
}

/** Those that a line carries: an account that receives money is personal data. */
function ofLines({ kind, value }: { kind: string; value: string }): Reference[] {
  const known = lineReferenceKinds.find((one) => one.kind === kind);
  return known ? [{ kind: known.kind, value }] : [];
}
