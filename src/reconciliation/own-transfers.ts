// What a credit is that nothing explains and that an account of ours sent.
import type { Classified, Verdict } from './judged.js';

export interface OwnTransfer {
  nsu: bigint;
  endToEndId: string | null;
}

/** Credits that no id explains: an account of ours may have sent them. */
export function isUnexplained(verdict: Verdict): boolean {
  return verdict.verdict === 'break' && verdict.kind === 'unexpected';
}

/** The payments among them: which line pays which expected payment. */
export function paidBy(verdicts: readonly Verdict[]) {
  const payments = verdicts.flatMap((verdict) =>
    verdict.verdict === 'matched' && verdict.role === 'payment' ? [verdict] : [],
  );
  return {
    nsus: payments.map(({ nsu }) => nsu),
    expectedPaymentIds: payments.map(({ expectedPaymentId }) => expectedPaymentId),
  };
}

/** Nothing of the other account is told: who reads this one need not see that one. */
export function withOwnTransfers(
  verdicts: readonly Verdict[],
  transfers: readonly OwnTransfer[],
): Verdict[] {
  const byNsu = new Map(transfers.map((transfer) => [transfer.nsu, transfer]));
  return verdicts.map((verdict) => {
    const transfer = isUnexplained(verdict) ? byNsu.get(verdict.nsu) : undefined;
    return transfer ? toClassified(transfer) : verdict;
  });
}

function toClassified({ nsu, endToEndId }: OwnTransfer): Classified {
  return {
    verdict: 'classified',
    nsu,
    rule: 'own_transfer',
    category: 'own_transfer',
    reason: null,
    evidence: endToEndId === null ? {} : { endToEndId },
    declared: null,
  };
}
