// The months of the account, and the limits within which one may be closed.
import { Controller } from '@nestjs/common';
import { MonthClosing } from '../../reporting/months/month-closing.service.js';
import { MonthReader } from '../../reporting/months/month-reader.service.js';
import { changeMonthPolicy, listMonths } from '../../reporting/months/months.schema.js';
import { ActorNames } from '../actor-names.service.js';
import { Badge, Pager, type Tone } from '../kit/elements.js';
import { FormCard, readBody, typedBody, type FormFields } from '../kit/form.js';
import { TableCard } from '../kit/table.js';
import { readFilters } from '../list-query.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import {
  ConsoleAction,
  ConsolePage,
  ShownAgainBy,
  Visiting,
} from '../serving/console-page.decorator.js';
import { writeTypedAmount } from '../typed-amount.js';
import { writeTypedDay } from '../typed-day.js';
import { callerOf, typed, useVisit, type Visit } from '../visit.js';

const needs = 'manage month limits';
const limitFields = {
  maxBreaks: { label: 'months.maxBreaks', is: 'number', required: true, min: 0 },
  maxBreakAmount: { label: 'months.maxBreakAmount', is: 'amount', required: true },
  maxPendingLines: { label: 'months.maxPendingLines', is: 'number', required: true, min: 0 },
} as const satisfies FormFields;

const tones = { open: 'plain', prepared: 'warn', closed: 'good' } as const satisfies Record<
  string,
  Tone
>;

export function MonthState({ state }: { state: keyof typeof tones }) {
  return <Badge tone={tones[state]} text={useVisit().t(`months.state.${state}`)} />;
}

@Controller()
export class MonthsPages {
  constructor(
    private readonly reader: MonthReader,
    private readonly closing: MonthClosing,
    private readonly names: ActorNames,
  ) {}

  @ConsolePage('months', 'view', { title: 'months.title', section: 'statement', place: 41 })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t, language, accountId } = visit;
    const { filters } = readFilters(listMonths.query, visit.query);
    const { data, next } = await this.reader.list(accountId, filters);
    const { versions } = await this.closing.listPolicies(accountId);
    const nameOf = await this.names.find(
      visit,
      versions.map(({ actor }) => actor),
    );
    const last = versions[0];
    const body = (
      <>
        <TableCard
          {...{ rows: data, title: 'months.title', empty: 'months.empty' }}
          columns={{
            'word.month': ({ month }) => (
              <a href={visit.to(`months/${month}`)}>{writeTypedDay(month, language)}</a>
            ),
            'word.status': ({ state }) => <MonthState state={state} />,
            'days.revision': ({ revision }) => revision,
            'months.closedAt': { at: ({ closedAt }) => closedAt },
          }}
        >
          <Pager next={next} />
        </TableCard>
        {versions.length > 0 && (
          <TableCard
            {...{ rows: versions, title: 'months.limits' }}
            columns={{
              'months.maxBreaks': { count: ({ maxBreaks }) => maxBreaks },
              'months.maxBreakAmount': { cents: ({ maxBreakAmount }) => maxBreakAmount },
              'months.maxPendingLines': { count: ({ maxPendingLines }) => maxPendingLines },
              'word.who': { wide: ({ actor }) => nameOf(actor) },
              'app.reason': { wide: ({ reason }) => reason },
              'word.when': { at: ({ at }) => at },
            }}
          />
        )}
        {visit.may(needs) && (
          <FormCard
            {...{ action: visit.to('months'), fields: limitFields, title: 'months.changeLimits' }}
            {...{ intro: 'months.limitsHint', button: 'months.changeLimits', asksReason: true }}
            values={{
              maxBreaks: last?.maxBreaks ?? 0,
              maxBreakAmount: writeTypedAmount(last?.maxBreakAmount ?? 0n),
              maxPendingLines: last?.maxPendingLines ?? 0,
            }}
          />
        )}
      </>
    );
    return new Shown(t('months.title'), body);
  }

  @ConsoleAction('months', needs, 'change month limits', (visit) => `account ${visit.accountId}`)
  @ShownAgainBy('list')
  async change(@Visiting() visit: Visit): Promise<PageAnswer> {
    const given = { ...typedBody(visit, limitFields), reason: typed(visit, 'reason') };
    await this.closing.changePolicy(callerOf(visit), readBody(changeMonthPolicy.body, given));
    return new Redirect(visit.to('months'));
  }
}
