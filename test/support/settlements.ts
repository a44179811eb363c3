// Compares the settlements that the list of expected payments shows with `settlementOfPayments`,
// which charges and decisions use.
import type { Database } from '../../src/database.service.js';
import {
  joinRefundTotals,
  refundedCentsOfMatch,
} from '../../src/expected-payments/refunded-amounts.queries.js';
import {
  settlementOfPayments,
  unrefundedPayments,
  type PaymentWithRefunds,
} from '../../src/expected-payments/settlement.js';
import { Prisma } from '../../src/generated/service/client.js';
import { listExpectedPaymentRows } from '../../src/reconciliation/api/transactions.queries.js';

interface ReceivedPayment extends PaymentWithRefunds {
  expectedPaymentId: string;
  owedCents: bigint | null;
}

export async function assertSettlementsAgree(
  { prisma }: Database,
  accountId: number,
): Promise<void> {
  const unfiltered = { state: null, reference: null, operationId: null, beforeId: null };
  const page = { ...unfiltered, today: '2026-01-01', limit: 2_000 };
  const listed = await listExpectedPaymentRows(prisma, accountId, page);
  const payments = await prisma.$queryRaw<ReceivedPayment[]>`
    SELECT m.expected_payment_id AS "expectedPaymentId", m.amount_cents AS "amountCents",
           m.owed_cents AS "owedCents", ${refundedCentsOfMatch} AS "refundedCents"
    FROM match m
    JOIN statement_line line ON line.account_id = m.account_id AND line.nsu = m.nsu
    ${joinRefundTotals(Prisma.sql`m.expected_payment_id`)}
    WHERE m.account_id = ${accountId} AND m.unlinked_at IS NULL AND m.role = 'payment'
    ORDER BY line.occurred_at, line.nsu`;
  const differences = listed.flatMap(({ id, isCredit, isMultiUse, state, ...expected }) => {
    const received = payments.filter(({ expectedPaymentId }) => expectedPaymentId === id);
    if (!isCredit || received.length === 0) return [];
    const amountCents = unrefundedPayments(received).at(-1)?.owedCents ?? expected.amountCents;
    const settlement = settlementOfPayments({ amountCents, isMultiUse }, received);
    return settlement === state ? [] : [`${id} is listed as ${state}, and is ${settlement}`];
  });
  if (differences.length > 0) throw new Error(differences.join('\n'));
}
