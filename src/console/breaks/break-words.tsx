// How the pages of breaks write what is stored: kinds, severities, states, amounts, refusals.
import type { Cents } from '../../brazil/cents.js';
import type { Counterparty } from '../../access/counterparties/resolution.js';
import type { AppError } from '../../platform/errors.js';
import type { VersionedView } from '../../reconciliation/breaks/break-reading.service.js';
import { badgeOf } from '../kit/elements.js';
import { formatAmount, writeTaxId } from '../formats.js';
import { Clipped } from '../kit/break-parts.js';
import type { ListColumn, ListColumns } from '../kit/table.js';
import { useVisit, type Visit } from '../visit.js';
import { reasonKey } from '../problems.js';
import { type Translate, wordOf } from '../texts.js';

export function kindOf(t: Translate, kind: string): string {
  return wordOf(t, 'break', kind);
}

export function amountOf(t: Translate, cents: Cents | null): string {
  return cents === null ? t('breaks.unknownAmount') : formatAmount(cents);
}

/** Why the service refused, in the person's language. */
export function refusalOf(t: Translate, { code, details }: Pick<AppError, 'code' | 'details'>) {
  return refusalOfCode(t, details.reason ?? code);
}

export function refusalOfCode(t: Translate, code: string): string {
  const key = reasonKey(code, 'breaks.refused');
  return key ? t(key) : t('breaks.refused.other', { code });
}

/** A person of the account, and the name that the reader sees. */
export type Assignee = readonly [id: string, name: string];

/** The name of who works on a break; a dash for nobody. */
export function assigneeIn({ t }: Visit, people: readonly Assignee[], id: string | null): string {
  if (id === null) return t('app.none');
  return people.find(([one]) => one === id)?.[1] ?? t('actor.person');
}

export const SeverityBadge = badgeOf('severity', {
  ...{ low: 'plain', medium: 'plain', high: 'warn', critical: 'bad' },
});
export const BreakStateBadge = badgeOf('breaks.state', { open: 'warn', resolved: 'good' });

/** Name, or what else is known of a counterparty. */
export function partyOf({ t }: Visit, counterparty: Counterparty | null): string {
  const { name = null, taxId = null, account = null } = counterparty ?? {};
  return name ?? writeTaxId(taxId) ?? account ?? t('app.none');
}

type Listed = Pick<VersionedView, 'id' | 'kind' | 'amount' | 'counterparty'>;

/** Kind, amount and counterparty of a break. The kind leads to the break. */
export function breakColumns<Row>(
  visit: Visit,
  address: URLSearchParams,
  of: (row: Row) => Listed,
  /** Below the counterparty. */
  below?: ListColumn<Row>['below'],
): ListColumns<Row> {
  const { t } = visit;
  return {
    'word.kind': {
      wide: (row) => (
        <a href={`${visit.to(`breaks/${of(row).id}`)}?${address.toString()}`}>
          {kindOf(t, of(row).kind)}
        </a>
      ),
    },
    'word.amount': {
      cents: (row) => of(row).amount,
      cell: (row) => (of(row).amount === null ? t('breaks.unknownAmount') : null),
    },
    'word.counterparty': {
      wide: (row) => <Clipped>{partyOf(visit, of(row).counterparty)}</Clipped>,
      ...(below && { below }),
    },
  };
}

/** Leads back to the list. */
export function BackToBreaks({ address }: { address: URLSearchParams }) {
  const { to, t } = useVisit();
  const list = new URLSearchParams(address);
  list.delete('break');
  return (
    <a href={`${to('breaks')}?${list.toString()}`} data-key="Escape">
      {t('breaks.back')}
    </a>
  );
}
