// The API views of lines, expected payments and the summary.
import type { z } from 'zod';
import type { ExpectedPaymentRow, TransactionRow } from './transactions.queries.js';
import type { StatementView } from '../../statement/statement-view.queries.js';
import type { getSummary } from './transactions.schema.js';
import type { SummaryRow } from './summary.queries.js';

export function describeTransaction(row: TransactionRow) {
  const { nsu, correlationId, endToEndId, externalId, notes, ...others } = row;
  const { amountCents, typeName, isCredit, occurredAt, recordedAt, ...more } = others;
  const { balancePreviousCents, currentBalanceCents, ...explanation } = more;
  return {
    nsu,
    amount: amountCents,
    type: { name: typeName, isCredit },
    correlationId,
    endToEndId,
    externalId,
    notes,
    balance: { balancePrevious: balancePreviousCents, currentBalance: currentBalanceCents },
    occurredAt: occurredAt.toISOString(),
    recordedAt: recordedAt.toISOString(),
    explanation,
  };
}

export function describeExpectedPayment(row: ExpectedPaymentRow) {
  const { amountCents, settledCents, returnedCents, createdAt, ...same } = row;
  return {
    ...same,
    amount: amountCents,
    settledAmount: settledCents,
    returnedAmount: returnedCents,
    createdAt: createdAt.toISOString(),
  };
}

function describeStatement({ broken, import: reading, liveBalance }: StatementView) {
  return {
    broken: broken && { nsu: broken.nsu, since: broken.since.toISOString() },
    import: reading && {
      lines: Number(reading.lines),
      oldest: reading.oldest?.toISOString() ?? null,
      newest: reading.newest?.toISOString() ?? null,
      startedAt: reading.startedAt.toISOString(),
      linesPerSecond: reading.linesPerSecond,
    },
    liveBalance: liveBalance && {
      amount: liveBalance.amountCents,
      at: liveBalance.at.toISOString(),
      agrees: liveBalance.agrees,
    },
  };
}

export function describeSummary(
  row: SummaryRow,
  statement: StatementView,
): z.output<(typeof getSummary)['response']> {
  const lines = {
    total: Number(row.total),
    matched: Number(row.matched),
    classified: Number(row.classified),
    inBreak: Number(row.inBreak),
  };
  return {
    statement: {
      lastNsu: row.lastNsu,
      complete: row.complete,
      closedUntil: row.closedUntil?.toISOString() ?? null,
      balance: row.balanceCents,
      syncedAt: row.syncedAt?.toISOString() ?? null,
      unreadableLines: Number(row.unreadableLines),
      syncs: Number(row.syncs),
      ...describeStatement(statement),
    },
    transactions: {
      ...lines,
      pending: lines.total - lines.matched - lines.classified - lines.inBreak,
    },
    expectedPayments: { open: Number(row.open), overdue: Number(row.overdue) },
    operations: {
      sending: Number(row.sending),
      unknown: Number(row.unknown),
      needsOperator: Number(row.needsOperator),
    },
    breaks: { open: Number(row.openBreaks) },
    webhooks: {
      received: Number(row.webhooksReceived),
      pending: Number(row.webhooksPending),
      quarantined: Number(row.webhooksQuarantined),
    },
    deliveries: { pending: Number(row.deliveriesPending), dead: Number(row.deliveriesDead) },
  };
}
