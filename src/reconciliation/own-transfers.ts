// Credits without another explanation that one of our own accounts sent.
import type { Classified, LineOutcome } from './line-outcome.js';

export interface OwnTransfer {
  nsu: bigint;
  endToEndId: string | null;
}

/** A line that no reference explains: one of our own accounts may have sent it. */
export function isUnexplained(outcome: LineOutcome): boolean {
  return outcome.outcome === 'break' && outcome.kind === 'unexpected';
}

/** The payments among the outcomes: `nsus[i]` pays `expectedPaymentIds[i]`. */
export function decidedPaymentsOf(outcomes: readonly LineOutcome[]) {
  const payments = outcomes.flatMap((outcome) =>
    outcome.outcome === 'matched' && outcome.role === 'payment' ? [outcome] : [],
  );
  return {
    nsus: payments.map(({ nsu }) => nsu),
    expectedPaymentIds: payments.map(({ expectedPaymentId }) => expectedPaymentId),
  };
}

/** The evidence contains nothing of the other account, to which its readers may have no access. */
export function classifyOwnTransfers(
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
