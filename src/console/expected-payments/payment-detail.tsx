// One expected payment: its terms, what was paid against it, and its versions.
import type { JSX } from 'preact';
import type { z } from 'zod';
import type { declaredPaymentView } from '../../statement/expected-payments/declared-payments.schema.js';
import type {
  ExpectedPaymentReading,
  ExpectedPaymentView,
} from '../../reconciliation/api/expected-payment-reading.service.js';
import type { NameOfActor } from '../actor-names.service.js';
import { Amount, Badge, Card, FactList } from '../kit/elements.js';
import { formatAmount, formatTime } from '../formats.js';
import { DataTable, Field, Form } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { findTextKey } from '../texts.js';
import { isAllowedTo, pathTo } from '../visit.js';
import { amountText, dueText, paymentKindText, PaymentState, punctuated } from './payment-list.js';
import { VersionHistory } from './payment-versions.js';

type DeclaredView = z.output<typeof declaredPaymentView>;
type Lines = Awaited<ReturnType<ExpectedPaymentReading['get']>>['lines'];

interface DetailProps {
  visit: Visit;
  payment: ExpectedPaymentView;
  lines: Lines;
  /** Null for the payment of an operation. */
  declared: DeclaredView | null;
  nameOf: NameOfActor;
}

export function PaymentDetail(props: DetailProps): JSX.Element {
  const { visit, payment, lines, declared, nameOf } = props;
  return (
    <>
      <div class="cards">
        <State {...props} />
        <Terms {...props} />
      </div>
      <Paid visit={visit} lines={lines} />
      {declared && <Actions visit={visit} declared={declared} />}
      {declared && <VersionHistory {...{ visit, nameOf }} history={declared.history} />}
      <Metadata visit={visit} metadata={payment.metadata} />
    </>
  );
}

function State({ visit, payment, declared }: DetailProps) {
  const { t, language } = visit;
  const { amount, settledAmount, returnedAmount, operationId } = payment;
  const remaining = amount === null ? null : amount - settledAmount;
  return (
    <FactList
      visit={visit}
      title="expectedPayment.stateTitle"
      facts={[
        [
          'expectedPayment.state',
          <PaymentState visit={visit} state={declared?.settlement ?? payment.state} />,
        ],
        ['expectedPayment.amount', amountText(visit, payment)],
        ['expectedPayment.settled', <Amount cents={settledAmount} />],
        ['expectedPayment.returned', <Amount cents={returnedAmount} />],
        [
          'expectedPayment.remaining',
          remaining === null ? t('app.none') : <Amount cents={remaining > 0n ? remaining : 0n} />,
        ],
        ['expectedPayment.created', formatTime(payment.createdAt, language)],
        [
          'expectedPayment.operation',
          operationId === null ? (
            t('expectedPayment.noOperation')
          ) : (
            <a href={pathTo(visit, `operations/${operationId}`)}>{operationId.slice(-12)}</a>
          ),
        ],
      ]}
    />
  );
}

function Terms({ visit, payment }: DetailProps) {
  const { t } = visit;
  const { counterparty, tolerance, references } = payment;
  const none = t('app.none');
  return (
    <FactList
      visit={visit}
      title="expectedPayment.terms"
      facts={[
        ['expectedPayment.kind', paymentKindText(visit, payment)],
        ['expectedPayment.due', dueText(visit, payment)],
        ['expectedPayment.tolerance', tolerance === 0n ? none : formatAmount(tolerance)],
        ['expectedPayment.name', <span class="wide">{counterparty.name ?? none}</span>],
        ['expectedPayment.taxId', punctuated(counterparty.taxId) ?? none],
        ['expectedPayment.text', payment.text === null ? none : <code>{payment.text}</code>],
        [
          'expectedPayment.references',
          references.length === 0
            ? none
            : references.map(({ kind, value }) => (
                <div class="wide">
                  {referenceText(visit, kind)}: <code>{value}</code>
                </div>
              )),
        ],
        ['expectedPayment.category', payment.category ?? none],
        ['expectedPayment.costCentre', payment.costCentre ?? none],
      ]}
    />
  );
}

export function referenceText({ t }: Visit, kind: string): string {
  return t(findTextKey(`referenceKind.${kind}`) ?? 'referenceKind.other');
}

function Paid({ visit, lines }: { visit: Visit; lines: Lines }) {
  const { t, language } = visit;
  return (
    <Card title={t('expectedPayment.paidBy')}>
      <DataTable
        empty={t('expectedPayment.notPaid')}
        visit={visit}
        name={t('expectedPayment.paidBy')}
        columns={[
          'expectedPayment.line',
          'expectedPayment.at',
          'expectedPayment.amount',
          'expectedPayment.role',
          'expectedPayment.rule',
        ]}
        numbers={['expectedPayment.amount']}
      >
        {lines.map(({ nsu, amountCents, role, rule, isProvisional, occurredAt }) => (
          <tr>
            <td>
              <a href={pathTo(visit, `statement/${nsu}`)}>{nsu.toString()}</a>
            </td>
            <td>{formatTime(occurredAt, language)}</td>
            <td class="number">
              <Amount cents={amountCents} />
            </td>
            <td>{t(`paymentRole.${role}`)}</td>
            <td>
              {t(findTextKey(`paymentRule.${rule}`) ?? 'paymentRule.other')}{' '}
              {isProvisional && <Badge tone="warn" text={t('expectedPayment.provisional')} />}
            </td>
          </tr>
        ))}
      </DataTable>
      {lines.some(({ isProvisional }) => isProvisional) && (
        <p class="hint">{t('expectedPayment.provisionalHint')}</p>
      )}
    </Card>
  );
}

function Actions({ visit, declared }: { visit: Visit; declared: DeclaredView }) {
  const { t } = visit;
  const { id, version, settlement } = declared;
  if (!isAllowedTo(visit, 'manage expected payments') || settlement === 'cancelled') return null;
  return (
    <Card title={t('expectedPayment.actions')}>
      <p>
        <a class="button" href={pathTo(visit, `expected-payments/${id}/edit`)}>
          {t('expectedPayment.change')}
        </a>
      </p>
      <Form
        visit={visit}
        action={pathTo(visit, `expected-payments/${id}/cancel`)}
        shown={String(version)}
      >
        <p class="hint">{t('expectedPayment.cancelHint')}</p>
        <div class="row">
          <Field label={t('app.reason')} name="reason" maxLength={500} required />
          <button class="plain">{t('expectedPayment.cancel')}</button>
        </div>
      </Form>
    </Card>
  );
}

function Metadata({
  visit,
  metadata,
}: {
  visit: Visit;
  metadata: ExpectedPaymentView['metadata'];
}) {
  const { t } = visit;
  if (!metadata) return null;
  return (
    <Card title={t('expectedPayment.metadata')}>
      <DataTable
        visit={visit}
        name={t('expectedPayment.metadata')}
        columns={['expectedPayment.metadataKey', 'expectedPayment.metadataValue']}
      >
        {Object.entries(metadata).map(([key, value]) => (
          <tr>
            <th scope="row">{key}</th>
            <td class="wide">{value}</td>
          </tr>
        ))}
      </DataTable>
    </Card>
  );
}
