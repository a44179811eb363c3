// The versions of a declared payment: who changed what, and why.
import type { z } from 'zod';
import { printDay } from '../../brazil/printed-text.js';
import type { declaredPaymentView } from '../../statement/expected-payments/declared-payments.schema.js';
import { paymentPartKinds } from '../../statement/expected-payments/payment-parts.js';
import { Card, Muted } from '../kit/elements.js';
import type { NameOfActor } from '../../access/people/names-of-actors.service.js';
import { formatAmount, writeTaxId } from '../formats.js';
import { ListTable } from '../kit/table.js';
import { useVisit, type Visit } from '../visit.js';
import { findTextKey, type TextKey } from '../texts.js';

type Version = z.output<typeof declaredPaymentView>['history'][number];

export function VersionHistory({
  history,
  nameOf,
}: {
  nameOf: NameOfActor;
  /** Newest first. */
  history: readonly Version[];
}) {
  const { t, time } = useVisit();
  return (
    <Card title={t('word.versions')}>
      {history.map((version, index) => (
        <article>
          <h3>
            {t('word.version', { version: version.version })} ·{' '}
            {t(`paymentAction.${version.action}`)}
          </h3>
          <Muted>
            {time(version.at)} · {nameOf(version.actor)}
            {version.reason !== null && <> · {t('word.because', { reason: version.reason })}</>}
          </Muted>
          <Changes version={version} before={history[index + 1]} />
        </article>
      ))}
    </Card>
  );
}

function Changes({ version, before }: { version: Version; before: Version | undefined }) {
  const visit = useVisit();
  if (!before) return null;
  const was = new Map(termTexts(visit, before));
  const changed = termTexts(visit, version).filter(([key, text]) => was.get(key) !== text);
  if (changed.length === 0) return null;
  return (
    <ListTable
      {...{ rows: changed, name: 'expectedPayment.changes' }}
      columns={{
        'expectedPayment.term': ([key]) => visit.t(key),
        'word.before': { wide: ([key]) => <del>{was.get(key)}</del> },
        'word.after': { wide: ([, text]) => <ins>{text}</ins> },
      }}
    />
  );
}

/** Each term in one text; two versions differ in a term where its texts differ. */
function termTexts(visit: Visit, version: Version): readonly (readonly [TextKey, string])[] {
  const none = visit.t('app.none');
  const amount = (cents: bigint | null) => (cents === null ? none : formatAmount(cents));
  const { counterparty, references, metadata } = version;
  return [
    ['word.amount', amount(version.amount)],
    ['expectedPayment.amountFrom', amount(version.amountFrom)],
    ['expectedPayment.amountTo', amount(version.amountTo)],
    ['expectedPayment.tolerance', amount(version.tolerance)],
    ...paymentPartKinds.map(
      (kind) =>
        [
          `paymentPart.${kind}`,
          amount(version.parts.find((part) => part.kind === kind)?.amount ?? null),
        ] as const,
    ),
    ['expectedPayment.dateFrom', printDay(version.dateFrom)],
    ['expectedPayment.dateTo', printDay(version.dateTo)],
    ['expectedPayment.taxId', writeTaxId(counterparty.taxId) ?? none],
    ['word.name', counterparty.name ?? none],
    ['expectedPayment.text', version.text ?? none],
    [
      'expectedPayment.references',
      references
        .map(
          ({ kind, value }) =>
            `${visit.t(findTextKey(`referenceKind.${kind}`) ?? 'referenceKind.other')}: ${value}`,
        )
        .join(', ') || none,
    ],
    ['word.category', version.category ?? none],
    ['expectedPayment.costCentre', version.costCentre ?? none],
    ['expectedPayment.project', version.project ?? none],
    [
      'word.metadata',
      Object.entries(metadata ?? {})
        .map(([key, value]) => `${key}: ${value}`)
        .join(', ') || none,
    ],
  ];
}
