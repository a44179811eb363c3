// The list of expected payments.
import type { JSX } from 'preact';
import { printDay } from '../../brazil/printed-text.js';
import { punctuateTaxId } from '../../access/counterparties/party.js';
import type { ExpectedPaymentView } from '../../reconciliation/api/expected-payment-reading.service.js';
import { Amount, Badge, Pager, type Tone } from '../kit/elements.js';
import { formatAmount } from '../formats.js';
import { DataTable } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { findTextKey } from '../texts.js';
import { pathTo } from '../visit.js';

const stateTones: Record<ExpectedPaymentView['state'], Tone> = {
  open: 'plain',
  overdue: 'bad',
  partially_settled: 'warn',
  settled: 'good',
  overpaid: 'warn',
  refunded: 'plain',
  partially_reversed: 'warn',
  reversed: 'plain',
  withdrawn: 'plain',
};

export function PaymentTable({
  visit,
  payments,
  next,
}: {
  visit: Visit;
  payments: readonly ExpectedPaymentView[];
  next: string | null;
}): JSX.Element {
  const { t } = visit;
  return (
    <section class="card">
      <DataTable
        empty={t('expectedPayment.none')}
        visit={visit}
        name={t('expectedPayment.title')}
        columns={[
          'expectedPayment.payment',
          'expectedPayment.counterparty',
          'expectedPayment.due',
          'expectedPayment.amount',
          'expectedPayment.settled',
          'expectedPayment.state',
        ]}
        numbers={['expectedPayment.amount', 'expectedPayment.settled']}
      >
        {payments.map((payment) => (
          <PaymentRow visit={visit} payment={payment} />
        ))}
      </DataTable>
      <Pager visit={visit} next={next} />
    </section>
  );
}

function PaymentRow({ visit, payment }: { visit: Visit; payment: ExpectedPaymentView }) {
  const { id, externalId, references, settledAmount, counterparty } = payment;
  const taxId = punctuated(counterparty.taxId);
  const name = externalId ?? references[0]?.value ?? id.slice(-12);
  return (
    <tr>
      <td class="wide">
        <a href={pathTo(visit, `expected-payments/${id}`)}>{name}</a>
        <div class="hint">{paymentKindText(visit, payment)}</div>
      </td>
      <td class="wide">
        {counterparty.name ?? taxId ?? visit.t('app.none')}
        {counterparty.name !== null && taxId !== null && <div class="hint">{taxId}</div>}
      </td>
      <td>{dueText(visit, payment)}</td>
      <td class="number">{amountText(visit, payment)}</td>
      <td class="number">{settledAmount > 0n && <Amount cents={settledAmount} />}</td>
      <td>
        <PaymentState visit={visit} state={payment.state} />
      </td>
    </tr>
  );
}

export function PaymentState({
  visit,
  state,
}: {
  visit: Visit;
  state: ExpectedPaymentView['state'] | 'cancelled';
}): JSX.Element {
  const tone = state === 'cancelled' ? 'plain' : stateTones[state];
  return <Badge tone={tone} text={visit.t(`paymentState.${state}`)} />;
}

/** With its punctuation, where it is whole; a masked one has it. */
export function punctuated(taxId: string | null): string | null {
  return taxId === null ? null : (punctuateTaxId(taxId) ?? taxId);
}

/** `A receber · Cobrança`. */
export function paymentKindText({ t }: Visit, { kind, isCredit }: ExpectedPaymentView): string {
  const key = findTextKey(`paymentKind.${kind}`) ?? 'paymentKind.other';
  return `${t(isCredit ? 'expectedPayment.credit' : 'expectedPayment.debit')} · ${t(key)}`;
}

export function dueText({ t }: Visit, payment: ExpectedPaymentView): string {
  const { dueDate, dateFrom, dateTo } = payment;
  if (dateFrom !== null && dateTo !== null && dateFrom !== dateTo)
    return t('expectedPayment.between', { from: printDay(dateFrom), to: printDay(dateTo) });
  const day = dateTo ?? dueDate;
  return day === null ? t('expectedPayment.noDue') : printDay(day);
}

/** The amount, or the range; a payer may choose it. */
export function amountText({ t }: Visit, payment: ExpectedPaymentView): string {
  const { amount, amountFrom, amountTo } = payment;
  if (amount !== null) return formatAmount(amount);
  if (amountFrom === null || amountTo === null) return t('expectedPayment.anyAmount');
  const [from, to] = [formatAmount(amountFrom), formatAmount(amountTo)];
  return t('expectedPayment.between', { from, to });
}
