// The checker's look at single transfers, refunds and bill payments, items of batches among them: what the service
// tells of each, and the events that it wrote of them, against the bank's lines.
import type { BankMovement, Books, ReportedEvent, ReportedOperation, ReportedThing } from './books.js';
import type { Asked } from './client.js';

type ThingName = 'transfer' | 'refund' | 'bill_payment';

const cents = (amount: number) => Math.round(amount * 100);
const sumOf = (lines: BankMovement[]) => lines.reduce((sum, line) => sum + cents(line.amount), 0);

export function checkThings(books: Books): string[] {
  const states = new Map(books.operations.map(({ id, state }) => [id, state]));
  const things: Record<ThingName, ReportedThing[]> = {
    transfer: books.transfers,
    refund: books.refunds,
    bill_payment: books.billPayments,
  };
  return Object.entries(things).flatMap(([name, list]) =>
    list.flatMap((thing) => {
      const debits = debitsOf(thing, books.ledger.movements);
      const returns = debits.flatMap((debit) => returnsOf(debit, books.ledger.movements));
      const right = settlementOf(debits, returns);
      const told = `${name} ${thing.id} (${thing.state})`;
      return [
        ...(thing.settlement === right || isLeftOpen(thing, states.get(operationOf(thing)))
          ? []
          : [`${told} is told as ${thing.settlement}, and is ${right}`]),
        ...(debits.length === 1 && debits[0]?.nsu !== thing.nsu && name !== 'refund'
          ? [`${told} is told by nsu ${thing.nsu}, and is ${debits[0]?.nsu}`]
          : []),
        ...debits.flatMap(({ nsu }) => checkEvent(books.events, `${name}.settled`, nsu)),
        ...returns.flatMap(({ nsu }) => checkEvent(books.events, `${name}.returned`, nsu)),
      ];
    }),
  );
}

/** Whoever was told to wait for an end was told of it, once. */
export function checkPromises(
  asked: Asked[],
  { operations, events }: Pick<Books, 'operations' | 'events'>,
): string[] {
  return asked.flatMap(({ intent, told }) => {
    const operation = operations.find(({ idempotencyKey }) => idempotencyKey === intent.key);
    // Onboardings are the partner's: their ends are no events of the account.
    if (!operation || intent.kind === 'customer') return [];
    if (!told.some(({ outcome }) => outcome === 'pending')) return [];
    const { id, state } = operation;
    const count = events.filter(
      ({ type, data }) => type === `operation.${state}` && data.operationId === id,
    ).length;
    return count === 1
      ? []
      : [`${intent.kind} ${intent.key}: ${count} events tell that it is ${state}, after a 202`];
  });
}

function operationOf({ id, operationId }: ReportedThing): string {
  return operationId ?? id;
}

function debitsOf(thing: ReportedThing, ledger: BankMovement[]): BankMovement[] {
  return ledger.filter(
    ({ isCredit, idempotencyKey, externalId }) =>
      !isCredit &&
      (thing.shape === 'batch'
        ? externalId === thing.externalId
        : idempotencyKey === operationOf(thing)),
  );
}

/** A bill that comes back bears no id of what it gives back; its amount is its own. */
function returnsOf(debit: BankMovement, ledger: BankMovement[]): BankMovement[] {
  return ledger.filter(({ isCredit, type, endToEndId, amount }) => {
    if (!isCredit || !type.endsWith('_REVERSAL')) return false;
    return debit.type === 'DEBIT_BILL_PAYMENT'
      ? type === 'CREDIT_BILL_PAYMENT_REVERSAL' && cents(amount) === cents(debit.amount)
      : endToEndId !== null && endToEndId === debit.endToEndId;
  });
}

function settlementOf(debits: BankMovement[], returns: BankMovement[]): string {
  if (debits.length === 0) return 'withdrawn';
  if (returns.length === 0) return 'settled';
  return sumOf(returns) < sumOf(debits) ? 'partially_reversed' : 'reversed';
}

/** What a person has to look at stays open; whether it may be left to one is told of its operation. */
function isLeftOpen({ settlement }: ReportedThing, state: ReportedOperation['state'] | undefined): boolean {
  return settlement === 'open' && (state === 'needs_operator' || state === 'unknown');
}

function checkEvent(events: ReportedEvent[], type: string, nsu: number): string[] {
  const count = events.filter((event) => event.type === type && event.data.nsu === nsu).length;
  return count === 1 ? [] : [`${count} events ${type} tell of nsu ${nsu}`];
}
