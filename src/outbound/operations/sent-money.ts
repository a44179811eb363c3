// How money that we sent is shown to business systems: a transfer, a bill payment or a refund, with
// the outcome of its operation and the statement lines matched to it.
import { mostCounted, type Order } from '../../platform/http/listing.js';
import { metadataOf } from '../../statement/expected-payments/metadata.js';
import { shownSettlement } from '../../statement/expected-payments/outgoing-settlement.js';
import type { MatchRole, Prisma } from '../../generated/service/client.js';
import { acceptedResponse } from './operations.schema.js';

/** What is read with a row of sent money. */
const sentMoneyInclude = {
  operation: { select: { state: true, responseBody: true } },
  expectedPayment: {
    select: {
      withdrawnAt: true,
      metadata: { select: { key: true, value: true } },
      total: { select: { settlement: true } },
      candidateLines: {
        orderBy: { nsu: 'asc' },
        select: {
          nsu: true,
          line: { select: { amountCents: true, endToEndId: true, occurredAt: true } },
        },
      },
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

export type SentMoney = Pick<
  Prisma.TransferGetPayload<{ include: typeof sentMoneyInclude }>,
  'amountCents' | 'operation' | 'expectedPayment'
>;

/** How rows of sent money are read. */
export const sentMoneyInOrder = <Where>(where: Where, take: number, order: Order = 'desc') => ({
  where,
  take,
  orderBy: { id: order },
  include: sentMoneyInclude,
});

/** How rows of sent money that have no index of their own are counted: the newest ones. */
export const totalOfSentMoney = <Where>(where: Where) => ({
  where,
  take: mostCounted + 1,
  orderBy: { id: 'desc' as const },
  _count: true as const,
  _sum: { amountCents: true as const },
});

/** `hasFailed`: its own state says that no payment is expected any more. */
export function describeSentMoney<Row extends SentMoney>(row: Row, hasFailed = false) {
  const { operation, expectedPayment, amountCents } = row;
  const linesAs = (role: MatchRole) =>
    expectedPayment.matches
      .filter((match) => match.role === role)
      .map(({ nsu, amountCents: amount, line }) => ({ nsu, amount, ...line }));
  const isWithdrawn = hasFailed || expectedPayment.withdrawnAt !== null;
  return {
    ...row,
    operationState: operation.state,
    metadata: metadataOf(expectedPayment.metadata),
    amount: amountCents,
    settlement: shownSettlement(expectedPayment.total?.settlement, isWithdrawn),
    /** Of the debit; null while the statement shows none. */
    nsu: linesAs('payment')[0]?.nsu ?? null,
    reversals: linesAs('reversal'),
    candidates: expectedPayment.candidateLines.map(({ nsu, line }) => ({
      ...{ nsu, amount: line.amountCents },
      ...{ endToEndId: line.endToEndId, occurredAt: line.occurredAt },
    })),
    response: acceptedResponse(operation),
  };
}
