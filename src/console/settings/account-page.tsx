// The facts of an account, as its page shows them.
import type { BankProfileName } from '../../platform/settings/bank-profiles.js';
import type { NameOfActor } from '../../access/people/names-of-actors.service.js';
import { Card, FactList, Cards, Hint } from '../kit/elements.js';
import { formatCount } from '../formats.js';
import { TableCard } from '../kit/table.js';
import { useVisit, type Visit } from '../visit.js';
import { findTextKey } from '../texts.js';
import type { AccountFacts } from './account-facts.service.js';

interface Props {
  facts: AccountFacts;
}

export function AccountFactCards({ facts, profile }: Props & { profile: BankProfileName }) {
  const visit = useVisit();
  const { t, time } = visit;
  const { mode, schedule, reading, rateLimitPerSecond } = facts;
  const none = t('app.none');
  return (
    <Cards>
      <FactList
        title="account.facts"
        facts={[
          ['account.slug', facts.slug],
          ['word.name', facts.name ?? none],
          ['word.mode', t(`account.mode.${mode.mode}`)],
          ['account.weight', formatCount(facts.weight)],
          ['account.goLiveAt', goLive(visit, facts.goLiveAt)],
          ['account.createdAt', time(facts.createdAt)],
          ['account.callsUnderWay', formatCount(mode.callsUnderWay)],
          ['account.waiting', formatCount(mode.waiting)],
        ]}
      />
      <FactList
        title="account.bank"
        facts={[
          ['account.profile', t(`account.profile.${profile}`)],
          ['account.host', facts.bankHost ?? none],
          [
            'account.credential.rateLimitPerSecond',
            rateLimitPerSecond === null ? t('account.noLimit') : formatCount(rateLimitPerSecond),
          ],
          ['account.registersWebhooks', t(mode.registersWebhooks ? 'app.yes' : 'app.no')],
          ['word.syncedAt', time(reading?.syncedAt)],
          ['account.closedUntil', time(reading?.closedUntil)],
          [
            'account.schedule',
            schedule.cron === null
              ? t('account.noSchedule')
              : `${schedule.cron} (${schedule.timezone})`,
          ],
          ['account.nextRunAt', time(schedule.nextRunAt)],
        ]}
      />
      <FactList
        title="account.creditDays"
        facts={facts.creditDays.map(({ way, businessDays, observed }) => [
          `account.way.${way}` as const,
          observed === null
            ? businessDaysText(visit, businessDays)
            : `${businessDaysText(visit, businessDays)} ${spreadText(visit, observed)}`,
        ])}
      />
      <Card title={t('account.credentialsSet')}>
        <ul>
          {facts.credentialsSet.map((name) => {
            const key = findTextKey(`account.credential.${name}`);
            return <li>{key ? t(key) : name}</li>;
          })}
        </ul>
        <Hint isBlock>{t('account.credentialsWhy')}</Hint>
        <p>
          {t('word.origin')}: {t(`account.origin.${facts.origin}`)}
        </p>
      </Card>
    </Cards>
  );
}

const businessDaysText = ({ t }: Visit, days: number) =>
  days === 1 ? t('account.businessDay') : t('account.businessDays', { days });

type Observed = NonNullable<AccountFacts['creditDays'][number]['observed']>;

/** How many payments of the last 90 days were credited after how many business days. */
function spreadText(visit: Visit, { payments, spread }: Observed): string {
  const parts = spread.map(
    (one) => `${businessDaysText(visit, one.businessDays)}: ${formatCount(one.payments)}`,
  );
  return visit.t('account.observed', { payments: formatCount(payments), spread: parts.join(', ') });
}

/** With the sandbox bank, the whole history is reconciled: the epoch says so to nobody. */
function goLive({ t, time }: Visit, at: Date | null): string {
  return at?.getTime() === 0 ? t('account.wholeHistory') : time(at);
}

export function ModeHistory({ facts: { mode }, nameOf }: Props & { nameOf: NameOfActor }) {
  const { t } = useVisit();
  return (
    <TableCard
      {...{ rows: mode.changes, title: 'account.changes' }}
      empty="account.noChanges"
      columns={{
        'word.when': { at: ({ at }) => at },
        'word.mode': (change) => t(`account.mode.${change.mode}`),
        'word.who': { wide: ({ actor }) => nameOf(actor) },
        'app.reason': { wide: ({ reason }) => reason },
      }}
    />
  );
}
