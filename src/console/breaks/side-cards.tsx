// What is stored of the line and of the expected payment of a break.
import type { ComponentChildren } from 'preact';
import { printDay } from '../../brazil/printed-text.js';
import type { Counterparty } from '../../access/counterparties/resolution.js';
import type { LineSide, PaymentSide } from '../../reconciliation/breaks/break-sides.service.js';
import { writeTaxId } from '../formats.js';
import { Amount, FactList, Id } from '../kit/elements.js';
import { useVisit, type Visit } from '../visit.js';
import { type TextKey, wordOf } from '../texts.js';
import type { BreakFacts } from './break-facts.js';

type Fact = readonly [TextKey, ComponentChildren];

export function SideCards({ facts }: { facts: BreakFacts }) {
  const visit = useVisit();
  const { found, lines, payments } = facts;
  const line = found.nsu === null ? undefined : lines.get(found.nsu);
  const payment = payments.get(found.expectedPaymentId ?? '');
  return (
    <>
      {line && <FactList title="breaks.line" facts={factsOfLine(visit, line)} />}
      {payment && <FactList title="word.expectedPayment" facts={factsOfPayment(visit, payment)} />}
    </>
  );
}

function factsOfLine(visit: Visit, line: LineSide): Fact[] {
  const { t, time } = visit;
  return [
    ['word.amount', <Amount cents={line.amountCents} />],
    ['word.direction', directionOf(visit, line.isCredit)],
    ['word.day', time(line.occurredAt)],
    ...factsOfParty(line.counterparty),
    ...written('breaks.field.notes', line.notes),
    ...codes('breaks.field.references', line.references, t('app.none')),
  ];
}

function factsOfPayment(visit: Visit, payment: PaymentSide): Fact[] {
  const { t, time } = visit;
  const { amountCents, dueDate, createdAt } = payment;
  return [
    ['word.amount', amountCents === null ? t('breaks.anyAmount') : <Amount cents={amountCents} />],
    ['breaks.field.paid', <Amount cents={payment.paidCents} />],
    ['word.direction', directionOf(visit, payment.isCredit)],
    ['word.source', wordOf(t, 'breaks.source', payment.kind, 'breaks.source.other')],
    ['word.day', dueDate === null ? time(createdAt) : printDay(dueDate)],
    ...factsOfParty(payment.counterparty),
    ...codes('breaks.field.references', payment.references, t('app.none')),
  ];
}

function directionOf({ t }: Visit, isCredit: boolean): string {
  return t(isCredit ? 'breaks.direction.in' : 'breaks.direction.out');
}

function factsOfParty({ name, taxId, ispb, branch, account, message }: Counterparty): Fact[] {
  const institution = [ispb, branch, account].filter((one) => one !== null).join(' / ');
  return [
    ...written('word.name', name),
    ...written('breaks.field.taxId', writeTaxId(taxId)),
    ...written('breaks.field.institution', institution === '' ? null : institution),
    ...written('breaks.field.message', message),
  ];
}

/** What somebody else wrote; nothing where it is not known. */
function written(key: TextKey, text: string | null): Fact[] {
  return text === null ? [] : [[key, <bdi>{text}</bdi>]];
}

function codes(key: TextKey, references: LineSide['references'], none: string): Fact[] {
  const values = references.map(({ value }) => <Id>{value}</Id>);
  return [[key, values.length > 0 ? values : none]];
}
