// One expected payment: its terms, what was paid against it, and its versions.
import type { z } from 'zod';
import type { declaredPaymentView } from '../../statement/expected-payments/declared-payments.schema.js';
import type {
  ExpectedPaymentReading,
  ExpectedPaymentView,
} from '../../reconciliation/api/expected-payment-reading.service.js';
import { printDay } from '../../brazil/printed-text.js';
import type { NameOfActor } from '../../access/people/names-of-actors.service.js';
import { badgeOf, Amount, Badge, FactList, ButtonLink, Cards, Hint } from '../kit/elements.js';
import { formatAmount, writeTaxId } from '../formats.js';
import { FormCard, reasonField } from '../kit/form.js';
import { TableCard } from '../kit/table.js';
import { useVisit, type Visit } from '../visit.js';
import { findTextKey } from '../texts.js';
import { VersionHistory } from './payment-versions.js';

export const PaymentState = badgeOf('paymentState', {
  ...{ open: 'plain', overdue: 'bad', partially_settled: 'warn', settled: 'good' },
  ...{ overpaid: 'warn', refunded: 'plain', partially_reversed: 'warn', reversed: 'plain' },
  ...{ withdrawn: 'plain', cancelled: 'plain' },
});

type DeclaredView = z.output<typeof declaredPaymentView>;
type Lines = Awaited<ReturnType<ExpectedPaymentReading['get']>>['lines'];

interface DetailProps {
  payment: ExpectedPaymentView;
  lines: Lines;
  /** Null for the payment of an operation. */
  declared: DeclaredView | null;
  nameOf: NameOfActor;
}

export function PaymentDetail(props: DetailProps) {
  const { payment, lines, declared, nameOf } = props;
  return (
    <>
      <Cards>
        <State {...props} />
        <Terms {...props} />
      </Cards>
      <Paid lines={lines} />
      {declared && <Actions declared={declared} />}
      {declared && <VersionHistory nameOf={nameOf} history={declared.history} />}
      <Metadata metadata={payment.metadata} />
    </>
  );
}

function State({ payment, declared }: DetailProps) {
  const visit = useVisit();
  const { t, time } = visit;
  const { amount, settledAmount, returnedAmount, operationId } = payment;
  const remaining = amount === null ? null : amount - settledAmount;
  return (
    <FactList
      title="word.status"
      facts={[
        ['word.status', <PaymentState state={declared?.settlement ?? payment.state} />],
        ['word.amount', amountText(visit, payment)],
        ['expectedPayment.settled', <Amount cents={settledAmount} />],
        ['expectedPayment.returned', <Amount cents={returnedAmount} />],
        [
          'expectedPayment.remaining',
          remaining === null ? t('app.none') : <Amount cents={remaining > 0n ? remaining : 0n} />,
        ],
        ['word.createdAt', time(payment.createdAt)],
        [
          'word.operation',
          operationId === null ? (
            t('expectedPayment.noOperation')
          ) : (
            <a href={visit.to(`operations/${operationId}`)}>{operationId.slice(-12)}</a>
          ),
        ],
      ]}
    />
  );
}

function Terms({ payment, declared }: DetailProps) {
  const visit = useVisit();
  const { counterparty, tolerance, references } = payment;
  const none = visit.t('app.none');
  return (
    <FactList
      title="expectedPayment.terms"
      facts={[
        ['word.kind', paymentKindText(visit, payment)],
        ['expectedPayment.due', dueText(visit, payment)],
        ...(declared?.parts ?? []).map(
          ({ kind, amount }) => [`paymentPart.${kind}`, formatAmount(amount)] as const,
        ),
        ['expectedPayment.tolerance', tolerance === 0n ? none : formatAmount(tolerance)],
        ['word.name', counterparty.name ?? none],
        ['expectedPayment.taxId', writeTaxId(counterparty.taxId) ?? none],
        ['expectedPayment.text', payment.text === null ? none : <code>{payment.text}</code>],
        [
          'expectedPayment.references',
          references.length === 0
            ? none
            : references.map(({ kind, value }) => (
                <div>
                  {referenceText(visit, kind)}: <code>{value}</code>
                </div>
              )),
        ],
        ['word.category', payment.category ?? none],
        ['expectedPayment.costCentre', payment.costCentre ?? none],
        ['expectedPayment.project', payment.project ?? none],
      ]}
    />
  );
}

export function referenceText({ t }: Visit, kind: string): string {
  return t(findTextKey(`referenceKind.${kind}`) ?? 'referenceKind.other');
}

function Paid({ lines }: { lines: Lines }) {
  const { t, to } = useVisit();
  return (
    <TableCard
      {...{ rows: lines, title: 'expectedPayment.paidBy' }}
      empty="expectedPayment.notPaid"
      columns={{
        'word.line': ({ nsu }) => <a href={to(`statement/${nsu}`)}>{nsu.toString()}</a>,
        'word.when': { at: ({ occurredAt }) => occurredAt },
        'word.amount': { cents: ({ amountCents }) => amountCents },
        'word.role': ({ role }) => t(`paymentRole.${role}`),
        'expectedPayment.rule': ({ rule, isProvisional }) => (
          <>
            {t(findTextKey(`paymentRule.${rule}`) ?? 'paymentRule.other')}{' '}
            {isProvisional && <Badge tone="warn" text={t('expectedPayment.provisional')} />}
          </>
        ),
      }}
    >
      {lines.some(({ isProvisional }) => isProvisional) && (
        <Hint isBlock>{t('expectedPayment.provisionalHint')}</Hint>
      )}
    </TableCard>
  );
}

function Actions({ declared }: { declared: DeclaredView }) {
  const { t, to, may } = useVisit();
  const { id, version, settlement } = declared;
  if (!may('manage expected payments') || settlement === 'cancelled') return null;
  return (
    <FormCard
      {...{ fields: reasonField, shown: String(version) }}
      title="expectedPayment.actions"
      action={to(`expected-payments/${id}/cancel`)}
      button="expectedPayment.cancel"
    >
      <ButtonLink href={to(`expected-payments/${id}/edit`)}>
        {t('expectedPayment.change')}
      </ButtonLink>
      <Hint isBlock>{t('expectedPayment.cancelHint')}</Hint>
    </FormCard>
  );
}

function Metadata({ metadata }: { metadata: ExpectedPaymentView['metadata'] }) {
  if (!metadata) return null;
  return (
    <TableCard
      {...{ rows: Object.entries(metadata), title: 'word.metadata' }}
      columns={{
        'expectedPayment.metadataKey': ([key]) => key,
        'expectedPayment.metadataValue': { wide: ([, value]) => value },
      }}
    />
  );
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
