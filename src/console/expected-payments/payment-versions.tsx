// The versions of a declared payment: who changed what, and why.
import type { JSX } from 'preact';
import type { z } from 'zod';
import { printDay } from '../../brazil/printed-text.js';
import type { declaredPaymentView } from '../../expected-payments/declared-payments.schema.js';
import type { NameOfActor } from '../actor-names.service.js';
import { formatAmount, formatTime } from '../formats.js';
import { DataTable } from '../frame.js';
import type { Visit } from '../requests.js';
import { findTextKey, type TextKey } from '../texts.js';

type Version = z.output<typeof declaredPaymentView>['history'][number];

export function VersionHistory({
  visit,
  history,
  nameOf,
}: {
  visit: Visit;
  nameOf: NameOfActor;
  /** Newest first. */
  history: readonly Version[];
}): JSX.Element {
  const { t, language } = visit;
  return (
    <section class="card">
      <h2>{t('payment.versions')}</h2>
      {history.map((version, index) => (
        <article>
          <h3>
            {t('payment.version', { version: version.version })} ·{' '}
            {t(`paymentAction.${version.action}`)}
          </h3>
          <p class="muted">
            {formatTime(version.at, language)} · {nameOf(version.actor)}
            {version.reason !== null && <> · {t('payment.because', { reason: version.reason })}</>}
          </p>
          <Changes visit={visit} version={version} before={history[index + 1]} />
        </article>
      ))}
    </section>
  );
}

function Changes({
  visit,
  version,
  before,
}: {
  visit: Visit;
  version: Version;
  before: Version | undefined;
}) {
  const { t } = visit;
  if (!before) return null;
  const [was, is] = [termTexts(visit, before), termTexts(visit, version)];
  const changed = is.filter(([key, text]) => was.find(([one]) => one === key)?.[1] !== text);
  if (changed.length === 0) return null;
  const name = t('payment.changesOf', { version: version.version });
  return (
    <DataTable
      visit={visit}
      name={name}
      columns={['payment.term', 'payment.before', 'payment.after']}
    >
      {changed.map(([key, text]) => (
        <tr>
          <th scope="row">{t(key)}</th>
          <td class="wide">
            <del>{was.find(([one]) => one === key)?.[1]}</del>
          </td>
          <td class="wide">
            <ins>{text}</ins>
          </td>
        </tr>
      ))}
    </DataTable>
  );
}

/** Each term in one text; two versions differ in a term where its texts differ. */
function termTexts(visit: Visit, version: Version): readonly (readonly [TextKey, string])[] {
  const { t } = visit;
  const none = t('app.none');
  const amount = (cents: bigint | null) => (cents === null ? none : formatAmount(cents));
  const { counterparty, references, metadata } = version;
  return [
    ['payment.amount', amount(version.amount)],
    ['payment.amountFrom', amount(version.amountFrom)],
    ['payment.amountTo', amount(version.amountTo)],
    ['payment.tolerance', amount(version.tolerance)],
    ['payment.dateFrom', printDay(version.dateFrom)],
    ['payment.dateTo', printDay(version.dateTo)],
    ['payment.taxId', counterparty.taxId ?? none],
    ['payment.name', counterparty.name ?? none],
    ['payment.text', version.text ?? none],
    [
      'payment.references',
      references
        .map(
          ({ kind, value }) =>
            `${t(findTextKey(`referenceKind.${kind}`) ?? 'referenceKind.other')}: ${value}`,
        )
        .join(', ') || none,
    ],
    ['payment.category', version.category ?? none],
    ['payment.costCentre', version.costCentre ?? none],
    [
      'payment.metadata',
      Object.entries(metadata ?? {})
        .map(([key, value]) => `${key}: ${value}`)
        .join(', ') || none,
    ],
  ];
}
