// Charges and transfers of the year, and the lines by which they are paid.
import { addDays } from '../../src/brazil/calendar.js';
import { saoPauloDay } from '../../src/brazil/statement-day.js';
import type { Book, Expectation, Line, LineTruth } from './book.js';

const dayMs = 86_400_000;

export interface Terms {
  dueDate: string;
  terms?: string;
}

/** A charge that was made some days before `at`; due after it unless told otherwise. */
export function receive(book: Book, at: number, terms?: Terms): Expectation {
  const { dice } = book;
  const correlationId = book.name('charge');
  const cents = dice.integer(500, 300_000);
  const dueDate = addDays(saoPauloDay(new Date(at)), dice.integer(0, 10));
  return book.expectation({
    ...{ kind: 'create_charge', cents, createdAt: at - dice.integer(21, 40) * dayMs },
    dueDate,
    ...terms,
    references: [{ kind: 'correlation_id', value: correlationId }],
    charge: { correlationId, type: dice.pick(['BANKSLIP', 'BANKSLIP_PIX']) },
  });
}

/** A line that pays a charge, by slip or by Pix. */
export function pay(
  book: Book,
  charge: Expectation,
  at: number,
  truth: Partial<LineTruth>,
  cents = charge.cents ?? 0,
): Line {
  const isSlip = charge.charge?.type === 'BANKSLIP' && book.dice.chance(0.2);
  const isRefunded = /given back|refund/.test(book.scenario);
  return book.line({
    ...{ at, cents, expectation: charge, truth },
    typeName: isSlip && !isRefunded ? 'CREDIT_BANKSLIP' : 'CREDIT_PIX',
    correlationId: charge.charge?.correlationId ?? null,
    proof: isSlip && !isRefunded ? {} : { endToEndId: book.endToEndId() },
  });
}

/** A transfer that the bank accepted just before `at`. */
export function transferOf(
  book: Book,
  at: number,
  { kind = 'create_transfer' }: { kind?: string } = {},
): Expectation {
  const transfer = {
    counterparty: `88888888/1/${book.dice.integer(1, 5_000)}`,
    endToEndId: book.endToEndId(),
    externalId: book.name('transfer'),
    bankId: book.uuid('transfer', book.expectations.length),
  };
  return book.expectation({
    ...{ kind, cents: book.dice.integer(100, 250_000), isCredit: false, createdAt: at - 1_000 },
    transfer,
    references: [
      { kind: 'external_id', value: transfer.externalId },
      { kind: 'end_to_end_id', value: transfer.endToEndId },
      { kind: 'movement_id', value: transfer.bankId },
      { kind: 'counterparty', value: transfer.counterparty },
    ],
  });
}

/** Its line, which tells all of its ids or only one. */
export function send(
  book: Book,
  transfer: Expectation,
  at: number,
  truth: Partial<LineTruth>,
): Line {
  const { endToEndId, externalId, bankId: id } = transfer.transfer ?? {};
  const proof = book.dice.pick([
    { endToEndId, externalId, id },
    { endToEndId, externalId, id },
    { endToEndId },
    { endToEndId, id },
  ]);
  return book.line({
    ...{ at, cents: transfer.cents ?? 0, typeName: 'DEBIT_PIX', expectation: transfer },
    ...{ proof, truth },
  });
}
