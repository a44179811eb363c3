// Compares what the service reports of each transfer, batch item, refund and bill payment, and the
// events it recorded, with the bank's lines.
import type { SentRequest } from './client.js';
import type {
  BankMovement,
  FinalState,
  ListedEvent,
  ListedOperation,
  ListedSentPayment,
} from './final-state.js';

type PaymentType = 'transfer' | 'refund' | 'bill_payment';

const cents = (amount: number) => Math.round(amount * 100);
const sumOf = (lines: BankMovement[]) => lines.reduce((sum, line) => sum + cents(line.amount), 0);

export function checkSentPayments(state: FinalState): string[] {
  const operationStates = new Map(state.operations.map(({ id, state }) => [id, state]));
  const payments: Record<PaymentType, ListedSentPayment[]> = {
    transfer: state.transfers,
    refund: state.refunds,
    bill_payment: state.billPayments,
  };
  const { events, ledger } = state;
  return Object.entries(payments).flatMap(([type, list]) =>
    list.flatMap((payment) => {
      const debits = debitsOf(payment, ledger.movements);
      const reversals = debits.flatMap((debit) => reversalsOf(debit, ledger.movements));
      const expected = settlementOf(debits, reversals);
      const isOpenAllowed = mayStayOpen(payment, operationStates.get(operationIdOf(payment)));
      const name = `${type} ${payment.id} (${payment.state})`;
      return [
        ...(payment.settlement === expected || isOpenAllowed
          ? []
          : [`${name}: the settlement is ${payment.settlement}, expected ${expected}`]),
        ...(debits.length === 1 && debits[0]?.nsu !== payment.nsu && type !== 'refund'
          ? [`${name}: the nsu is ${payment.nsu}, expected ${debits[0]?.nsu}`]
          : []),
        ...debits.flatMap(({ nsu }) => checkEvent(events, `${type}.settled`, nsu)),
        ...reversals.flatMap(({ nsu }) => checkEvent(events, `${type}.reversed`, nsu)),
      ];
    }),
  );
}

/** Each request that got a 202 must have exactly one event with the final state. */
export function checkAsyncOutcomes(
  sent: SentRequest[],
  { operations, events }: Pick<FinalState, 'operations' | 'events'>,
): string[] {
  return sent.flatMap(({ request, responses }) => {
    const operation = operations.find(({ idempotencyKey }) => idempotencyKey === request.key);
    // Onboardings belong to the partner, so the account has no events of them.
    if (!operation || request.kind === 'customer') return [];
    if (!responses.some(({ outcome }) => outcome === 'pending')) return [];
    const { id, state } = operation;
    const count = events.filter(
      ({ type, data }) => type === `operation.${state}` && data.operationId === id,
    ).length;
    if (count === 1) return [];
    return [
      `${request.kind} ${request.key}: ${count} events operation.${state} after a 202, expected 1`,
    ];
  });
}

function operationIdOf({ id, operationId }: ListedSentPayment): string {
  return operationId ?? id;
}

function debitsOf(payment: ListedSentPayment, ledger: BankMovement[]): BankMovement[] {
  return ledger.filter(
    ({ isCredit, idempotencyKey, externalId }) =>
      !isCredit &&
      (payment.shape === 'batch'
        ? externalId === payment.externalId
        : idempotencyKey === operationIdOf(payment)),
  );
}

/** The reversal of a bill payment has no id of the payment. The amount identifies it. */
function reversalsOf(debit: BankMovement, ledger: BankMovement[]): BankMovement[] {
  return ledger.filter(({ isCredit, type, endToEndId, amount }) => {
    if (!isCredit || !type.endsWith('_REVERSAL')) return false;
    return debit.type === 'DEBIT_BILL_PAYMENT'
      ? type === 'CREDIT_BILL_PAYMENT_REVERSAL' && cents(amount) === cents(debit.amount)
      : endToEndId !== null && endToEndId === debit.endToEndId;
  });
}

function settlementOf(debits: BankMovement[], reversals: BankMovement[]): string {
  if (debits.length === 0) return 'withdrawn';
  if (reversals.length === 0) return 'settled';
  return sumOf(reversals) < sumOf(debits) ? 'partially_reversed' : 'reversed';
}

/**
 * A payment stays open while a person must decide its operation. Whether the operation may wait
 * for a person is checked with the operations.
 */
function mayStayOpen(
  { settlement }: ListedSentPayment,
  operationState: ListedOperation['state'] | undefined,
): boolean {
  const needsPerson = operationState === 'needs_operator' || operationState === 'unknown';
  return settlement === 'open' && needsPerson;
}

function checkEvent(events: ListedEvent[], type: string, nsu: number): string[] {
  const count = events.filter((event) => event.type === type && event.data.nsu === nsu).length;
  return count === 1 ? [] : [`nsu ${nsu}: ${count} events ${type}, expected 1`];
}
