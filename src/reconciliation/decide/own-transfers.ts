// Credits without another explanation that one of our own accounts sent.
import type { StatementLineFacts } from './model.js';
import { classifiedAs, type Component } from './component.js';
import { mayBeReversal } from './reversals.js';

export function classifyOwnTransfers(component: Component): void {
  for (const line of component.lines) {
    if (!line.isCredit || !component.isUnexpected(line.nsu)) continue;
    if (!isOwnTransfer(component, line)) continue;
    // Nothing of the other account, to which the readers of this one may have no access.
    const { endToEndId } = line;
    const evidence = endToEndId === null ? {} : { endToEndId };
    component.unmatched.set(line.nsu, classifiedAs('own_account_transfer', evidence));
  }
}

function isOwnTransfer(component: Component, line: StatementLineFacts): boolean {
  return line.isFromOtherAccount || isFromSameAccount(component, line);
}

/**
 * A transfer to a key of the same account: its two legs share one id. The bank's id alone proves
 * nothing, so the debit must pay a requested transfer.
 */
function isFromSameAccount(component: Component, line: StatementLineFacts): boolean {
  if (mayBeReversal(line)) return false;
  return component
    .linesWithEndToEndId(line.endToEndId)
    .filter(({ isCredit, amountCents }) => !isCredit && amountCents === line.amountCents)
    .flatMap(({ nsu }) => component.allocationsOfLine(nsu))
    .some(
      ({ role, expectedPaymentId }) =>
        role === 'payment' && component.paymentById.get(expectedPaymentId)?.transfer != null,
    );
}
