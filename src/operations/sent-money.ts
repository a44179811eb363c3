// How money that we sent is shown to business systems: a transfer, a bill payment or a refund, with
// the outcome of its operation and the statement lines matched to it.
import {
  outgoingSettlement,
  type OutgoingSettlement,
  type OutgoingTotals,
} from '../expected-payments/outgoing-settlement.js';
import type { MatchRole, Prisma } from '../generated/service/client.js';
import { acceptedResponse } from './operations.schema.js';

/** What is read with a row of sent money. */
export const sentMoneyInclude = {
  operation: { select: { state: true, responseBody: true } },
  expectedPayment: {
    select: {
      withdrawnAt: true,
      matches: {
        where: { unlinkedAt: null },
        orderBy: [{ line: { occurredAt: 'asc' } }, { nsu: 'asc' }],
        select: {
          role: true,
          nsu: true,
          amountCents: true,
          line: { select: { endToEndId: true, occurredAt: true } },
        },
      },
    },
  },
} satisfies Prisma.TransferInclude;

type SentMoney = Pick<
  Prisma.TransferGetPayload<{ include: typeof sentMoneyInclude }>,
  'amountCents' | 'operation' | 'expectedPayment'
>;

export function describeSentMoney<Row extends SentMoney>(
  row: Row,
  settlementOf: (totals: OutgoingTotals) => OutgoingSettlement = outgoingSettlement,
) {
  const { operation, expectedPayment, amountCents } = row;
  const linesAs = (role: MatchRole) =>
    expectedPayment.matches
      .filter((match) => match.role === role)
      .map(({ nsu, amountCents: amount, line }) => ({ nsu, amount, ...line }));
  const [payments, reversals] = [linesAs('payment'), linesAs('reversal')];
  const totals = { paidCents: totalOf(payments), reversedCents: totalOf(reversals) };
  return {
    ...row,
    operationState: operation.state,
    amount: amountCents,
    settlement: settlementOf({ ...totals, isWithdrawn: expectedPayment.withdrawnAt !== null }),
    /** Of the debit; null while the statement shows none. */
    nsu: payments[0]?.nsu ?? null,
    reversals,
    response: acceptedResponse(operation),
  };
}

function totalOf(lines: readonly { amount: bigint }[]): bigint {
  return lines.reduce((total, { amount }) => total + amount, 0n);
}
