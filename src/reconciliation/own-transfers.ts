// What a credit is that nothing explains and that an account of ours sent.
import type { Classified, LineOutcome } from './line-outcome.js';

export interface OwnTransfer {
  nsu: bigint;
  endToEndId: string | null;
}

/** Credits that no id explains: an account of ours may have sent them. */
export function isUnexplained(outcome: LineOutcome): boolean {
  return outcome.outcome === 'break' && outcome.kind === 'unexpected';
}

/** The payments among them: which line pays which expected payment. */
export function paidBy(outcomes: readonly LineOutcome[]) {
  const payments = outcomes.flatMap((outcome) =>
    outcome.outcome === 'matched' && outcome.role === 'payment' ? [outcome] : [],
  );
  return {
    nsus: payments.map(({ nsu }) => nsu),
    expectedPaymentIds: payments.map(({ expectedPaymentId }) => expectedPaymentId),
  };
}

/** Nothing of the other account is told: who reads this one need not see that one. */
export function withOwnTransfers(
  outcomes: readonly LineOutcome[],
  transfers: readonly OwnTransfer[],
): LineOutcome[] {
  const byNsu = new Map(transfers.map((transfer) => [transfer.nsu, transfer]));
  return outcomes.map((outcome) => {
    const transfer = isUnexplained(outcome) ? byNsu.get(outcome.nsu) : undefined;
    return transfer ? toClassified(transfer) : outcome;
  });
}

function toClassified({ nsu, endToEndId }: OwnTransfer): Classified {
  return {
    outcome: 'classified',
    nsu,
    rule: 'own_account_transfer',
    category: 'own_account_transfer',
    reason: null,
    evidence: endToEndId === null ? {} : { endToEndId },
    declared: null,
  };
}
