// Facts of a decision with defaults, for tests of the matcher.
import type {
  ExpectedPaymentFacts,
  Facts,
  StatementLineFacts,
} from '../../src/reconciliation/decide/model.js';

const noon = new Date('2026-03-02T12:00:00Z');

export function lineFacts(change: Partial<StatementLineFacts>): StatementLineFacts {
  return {
    ...{ nsu: 1n, isCredit: true, amountCents: 1_000n, typeName: 'CREDIT_PIX' },
    ...{ occurredAt: noon, recordedAt: change.occurredAt ?? noon },
    paidOn: null,
    ...{ idempotencyKey: null, movementId: null, endToEndId: null, externalId: null },
    ...{ correlationId: null, billCode: null, originalEndToEndId: null },
    ...{ counterparty: null, counterpartyDocument: null, notes: null, reported: [] },
    ...{ isFresh: false, isFromOwnAccount: false, undoesDebit: false },
    ...change,
  };
}

export function expectedPaymentFacts(change: Partial<ExpectedPaymentFacts>): ExpectedPaymentFacts {
  const createdAt = change.createdAt ?? new Date('2026-03-02T09:00:00Z');
  return {
    ...{ id: 'payment', operationId: 'operation', kind: 'create_charge', isCredit: true },
    ...{ amountCents: 1_000n, dueDate: null, dueDates: [], terms: null, isMultiUse: false },
    ...{ counterpartyDocument: null, createdAt, createdAtBankTime: createdAt, references: [] },
    ...{ operationState: 'succeeded', isWithoutResponse: false, effect: null, withdrawal: null },
    ...{ refundOfNsu: null, charge: null, transfer: null, bill: null, effectiveAt: null },
    ...{ accepted: null, declared: null, metadata: null },
    isWithdrawn: (change.withdrawal ?? null) !== null,
    ...change,
  };
}

/** The received Pix that debits without the id of their Pix may refund, unless a person decided. */
export function possibleOriginalsOf(
  lines: readonly StatementLineFacts[],
  decided: readonly bigint[] = [],
): Facts['possibleOriginals'] {
  const received = lines.filter(
    ({ isCredit, endToEndId, originalEndToEndId, typeName, undoesDebit }) =>
      isCredit && endToEndId && !originalEndToEndId && typeName === 'CREDIT_PIX' && !undoesDebit,
  );
  const mayBeOf = (debit: StatementLineFacts, pix: StatementLineFacts) => {
    const kinds = ['counterpartyDocument', 'counterparty'] as const;
    const known = kinds.filter((kind) => debit[kind] !== null && pix[kind] !== null);
    const isOfPayer = known.some((kind) => debit[kind] === pix[kind]);
    const isInTime = pix.occurredAt <= debit.occurredAt && pix.amountCents >= debit.amountCents;
    return isInTime && (isOfPayer || known.length === 0) ? [{ nsu: pix.nsu, isOfPayer }] : [];
  };
  const debits = lines.filter(
    (line) =>
      line.typeName === 'DEBIT_PIX_REFUND' &&
      line.originalEndToEndId === null &&
      (line.counterparty ?? line.counterpartyDocument) !== null &&
      !decided.includes(line.nsu) &&
      !received.some(({ endToEndId }) => endToEndId === line.endToEndId),
  );
  return new Map(
    debits.map((debit) => [debit.nsu, received.flatMap((pix) => mayBeOf(debit, pix))]),
  );
}

export function facts(change: Partial<Facts>): Facts {
  return {
    ...{
      lines: [],
      expectedPayments: [],
      operations: [],
      links: [],
      separated: [],
      finalMatches: [],
      finalClassifications: [],
      possibleOriginals: new Map(),
    },
    ...{
      decisions: [],
      rules: [],
      goLiveAt: new Date(0),
      othersSent: [],
      imported: { recordedUntil: null, occurredUntil: new Date(0) },
      asOf: null,
      debitMissingMs: 3_600_000,
    },
    ...{ decisions: [], rules: [], goLiveAt: new Date(0), asOf: null, debitMissingMs: 3_600_000 },
    creditDays: { slip: 1, pix: 0, other: 1 },
    ...change,
  };
}
