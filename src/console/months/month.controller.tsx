// One month: what is missing and where, the two signatures, the amendments and the history.
import { Controller } from '@nestjs/common';
import { addDays, monthAfter } from '../../brazil/calendar.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
import { AppError, invalidField } from '../../platform/errors.js';
import { readBody, FormCard, Step, type FormFields } from '../kit/form.js';
import { MonthClosing } from '../../reporting/months/month-closing.service.js';
import { MonthReader } from '../../reporting/months/month-reader.service.js';
import { acceptMonthItem, getMonth, reopenMonth } from '../../reporting/months/months.schema.js';
import { unmetItems } from '../../reporting/months/checklist.js';
import { ActorNames } from '../actor-names.service.js';
import type { NameOfActor } from '../../access/people/names-of-actors.service.js';
import type { Balances } from '../balances.queries.js';
import { formatAmount, formatCount, formatDay } from '../formats.js';
import { BalanceNotice } from '../kit/balances.js';
import {
  Amount,
  Badge,
  Card,
  Hint,
  KeyFigures,
  Message,
  Muted,
  type Tone,
} from '../kit/elements.js';
import { TableCard } from '../kit/table.js';
import { MoneyFacts } from '../money-facts.service.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { LineLink } from '../search/list-elements.js';
import {
  ConsoleAction,
  ConsolePage,
  ShownAgainBy,
  Visiting,
} from '../serving/console-page.decorator.js';
import { findTextKey, type Translate } from '../texts.js';
import { typedNumber } from '../typed-amount.js';
import { writeTypedDay } from '../typed-day.js';
import { auditedWord, callerOf, typed, useVisit, type Visit } from '../visit.js';
import { MonthState } from './months.controller.js';

type Month = Awaited<ReturnType<MonthReader['get']>>;
type Item = Month['checklist'][number];

const seenField = { seen: { label: 'months.seen', is: 'check' } } as const satisfies FormFields;
const ofMonth = (visit: Visit) => `month ${auditedWord(visit, 'month')}` as const;

@Controller()
export class MonthPage {
  constructor(
    private readonly reader: MonthReader,
    private readonly closing: MonthClosing,
    private readonly names: ActorNames,
    private readonly money: MoneyFacts,
  ) {}

  @ConsolePage('months/:month', 'view')
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    const month = await this.reader.get(visit.accountId, monthOf(visit));
    const actors = month.decisions.map(({ actor }) => actor);
    const nameOf = await this.names.find(visit, actors);
    const title = visit.t('months.one', { month: writeTypedDay(month.month, visit.language) });
    const balances = await this.money.findBalances(visit.accountId);
    return new Shown(title, <MonthParts {...{ month, nameOf, balances }} />);
  }

  @ConsoleAction('months/:month/accept', 'prepare months', 'accept month item', ofMonth)
  @ShownAgainBy('show')
  async accept(@Visiting() visit: Visit): Promise<PageAnswer> {
    const given = {
      ...{ item: typed(visit, 'item'), reason: typed(visit, 'reason') },
      ...{ count: typedNumber(typed(visit, 'count')), amount: typedNumber(typed(visit, 'amount')) },
    };
    const body = readBody(acceptMonthItem.body, given);
    return this.done(visit, await this.closing.accept(callerOf(visit), monthOf(visit), body));
  }

  @ConsoleAction('months/:month/prepare', 'prepare months', 'prepare month', ofMonth)
  @ShownAgainBy('show')
  prepare(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.sign(visit, 'prepare');
  }

  @ConsoleAction('months/:month/approve', 'close months', 'close month', ofMonth)
  @ShownAgainBy('show')
  approve(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.sign(visit, 'approve');
  }

  @ConsoleAction('months/:month/reopen', 'close months', 'reopen month', ofMonth)
  @ShownAgainBy('show')
  async reopen(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { reason } = readBody(reopenMonth.body, { reason: typed(visit, 'reason') });
    return this.done(visit, await this.closing.reopen(callerOf(visit), monthOf(visit), reason));
  }

  /** `figuresHash` is of the figures that the page showed. */
  private async sign(visit: Visit, as: 'prepare' | 'approve'): Promise<PageAnswer> {
    if (!visit.form.has('seen')) throw invalidField('$.seen', 'Must be ticked.');
    const signOff = { as, figuresHash: typed(visit, 'figuresHash') };
    return this.done(visit, await this.closing.sign(callerOf(visit), monthOf(visit), signOff));
  }

  private done(visit: Visit, { month }: Month): PageAnswer {
    return new Redirect(visit.to(`months/${month}`));
  }
}

function monthOf({ params }: Visit): string {
  const { success, data } = getMonth.params.safeParse(params);
  if (!success) throw new AppError('not_found');
  return data.month;
}

interface Props {
  month: Month;
  nameOf: NameOfActor;
}

function MonthParts({ month, nameOf, balances }: Props & { balances: Balances }) {
  const { t, to, may } = useVisit();
  const shown = shownClosing(month, balances);
  const difference = shown === null ? 0n : month.closing - shown;
  const figures = [
    ...(['opening', 'credits', 'debits'] as const).map((name) => ({
      name: t(figureNames[name]),
      value: <Amount cents={month[name]} />,
      hint: name === 'opening' && t('balance.ofMonthStart'),
    })),
    {
      name: t(difference === 0n ? 'days.closing' : 'months.computed'),
      value: <Amount cents={month.closing} />,
      hint:
        shown === null || difference === 0n
          ? t('balance.ofMonthEnd')
          : t('months.computedHint', {
              ...{ amount: formatAmount(shown), difference: formatAmount(difference) },
            }),
    },
    { name: t('word.lines'), value: formatCount(month.lines) },
  ];
  return (
    <>
      <Card>
        <p>
          <MonthState state={month.state} />
        </p>
        <KeyFigures figures={figures} />
        <BalanceNotice balances={balances} />
        {may('take files') && (
          <Step
            {...{ action: to('exports/bundle'), button: 'exports.bundle' }}
            hidden={{ month: month.month }}
          />
        )}
      </Card>
      <SignOff {...{ month, nameOf }} />
      <Checklist month={month} />
      <Amendments month={month} />
      <History {...{ month, nameOf }} />
    </>
  );
}

const figureNames = {
  ...({ opening: 'days.opening', credits: 'chart.in', debits: 'chart.out' } as const),
};

/** What the newest line says is the balance; null where that line is of another month. */
function shownClosing({ month }: Month, { statement: { cents, at } }: Balances) {
  return at !== null && saoPauloDay(at).startsWith(month) ? cents : null;
}

/** The next signature, with what it signs; of a closed month, how it is reopened. */
function SignOff({ month, nameOf }: Props) {
  const visit = useVisit();
  const { t } = visit;
  const base = `months/${month.month}`;
  const mayClose = visit.may('close months');
  const prepared = month.state === 'prepared' ? lastSignature(month) : undefined;
  const isReady = unmetItems(month.checklist).length === 0;
  const isOutdated = prepared !== undefined && prepared.seen !== month.figuresHash;
  const as = prepared && !isOutdated ? 'approve' : 'prepare';
  const maySign = visit.may(as === 'approve' ? 'close months' : 'prepare months');
  return (
    <>
      {month.state === 'closed' && <Message kind="good">{t('months.closedHint')}</Message>}
      {isOutdated && <Message kind="warn">{t('months.outdated')}</Message>}
      {prepared && !isOutdated && (
        <Message kind="warn">{t('months.preparedBy', { who: nameOf(prepared.actor) })}</Message>
      )}
      {month.state !== 'closed' && !isReady && <Muted>{t('months.notReady')}</Muted>}
      {month.state !== 'closed' && isReady && maySign && (
        <FormCard
          {...{ action: visit.to(`${base}/${as}`), fields: seenField }}
          {...{ button: `months.${as}`, title: `months.${as}`, intro: 'months.signHint' }}
          hidden={{ figuresHash: month.figuresHash }}
          shown={month.figuresHash}
          problem={visit.problem}
        />
      )}
      {month.state !== 'open' && mayClose && (
        <Card>
          <Step
            action={visit.to(`${base}/reopen`)}
            button={prepared ? 'months.withdraw' : 'months.reopen'}
            asksReason
          />
        </Card>
      )}
    </>
  );
}

const lastSignature = ({ decisions }: Month) =>
  decisions.findLast(({ action }) => action === 'prepare');

const tones = {
  ...{ met: 'good', not_met: 'bad', accepted: 'warn', not_applicable: 'plain' },
} as const satisfies Record<Item['state'], Tone>;

/** Where a person works through what is missing. */
function pageOf({ item, since }: Item, month: string): string {
  const day = since ? `&day=${since}` : '';
  const lastDay = addDays(`${monthAfter(month)}-01`, -1);
  switch (item) {
    case 'statement_complete':
    case 'days_certified':
      return `days?from=${month}-01`;
    case 'lines_decided':
      return `statement?state=pending${day}`;
    // One without a line is of every month from its day on.
    case 'breaks_resolved':
      return `breaks?state=open&snoozed=&openedFrom=${since ?? `${month}-01`}&openedTo=${lastDay}`;
    case 'operations_known':
      return 'operations?state=unknown';
    case 'fees_checked':
      return `tariffs?month=${month}`;
    case 'overdue_reviewed':
      return 'expected-payments?state=overdue';
    case 'journal':
      return `journal?month=${month}`;
  }
}

function Checklist({ month }: { month: Month }) {
  const visit = useVisit();
  const { t, language } = visit;
  const isOpen = month.state !== 'closed' && visit.may('prepare months');
  const acceptable = (item: Item) => isOpen && item.state === 'not_met' && item.mayBeAccepted;
  return (
    <TableCard
      {...{ rows: month.checklist, title: 'months.checklist' }}
      columns={{
        'months.item': ({ item }) => t(`months.${item}`),
        'word.status': ({ state, reason }) => (
          <>
            <Badge tone={tones[state]} text={t(`months.is.${state}`)} />
            {reason && <Hint isBlock>{reason}</Hint>}
          </>
        ),
        'word.count': { count: ({ count }) => count },
        // Without a sum, nothing is said: what is counted may have no amount, or an unknown one.
        'word.amount': { cents: ({ amount }) => amount || null },
        'word.since': ({ since }) => since && formatDay(since, language),
        'word.actions': (item) => (
          <>
            {item.count > 0 && <a href={visit.to(pageOf(item, month.month))}>{t('months.show')}</a>}
            {acceptable(item) && (
              <Step
                action={visit.to(`months/${month.month}/accept`)}
                button="months.accept"
                count={acceptedText(item)}
                reasonLabel={`${t('app.reason')}: ${t(`months.${item.item}`)}`}
                hidden={{
                  item: item.item,
                  count: item.count.toString(),
                  amount: centsText(item.amount),
                }}
                asksReason
              />
            )}
          </>
        ),
      }}
    />
  );
}

/** What is accepted: how many, and their sum. */
const acceptedText = ({ count, amount }: Item) =>
  formatCount(count) + (amount === 0n ? '' : ` (${formatAmount(amount)})`);

/** As `typedNumber` reads it. */
const centsText = (cents: bigint) =>
  `${cents / 100n},${(cents % 100n).toString().padStart(2, '0')}`;

function Amendments({ month: { amendments } }: { month: Month }) {
  const { t, language } = useVisit();
  const { lines, balance, outcomes, data } = amendments;
  return (
    <TableCard
      {...{ rows: data, title: 'months.amendments', empty: 'months.noAmendments' }}
      columns={{
        'word.nsu': ({ nsu }) => <LineLink nsu={nsu} />,
        'word.day': ({ date }) => formatDay(date, language),
        'months.from': ({ fromState, fromLabel }) =>
          fromState === null ? t('months.newLine') : stateWords(t, fromState, fromLabel),
        'months.to': ({ toState, toLabel }) => stateWords(t, toState, toLabel),
        'months.effect': { cents: ({ effect }) => effect, isSigned: true },
      }}
    >
      {lines > 0 && (
        <Muted>
          {t('months.amendmentsHint', {
            ...{ count: formatCount(lines), balance: formatAmount(balance) },
            outcomes: formatAmount(outcomes),
          })}
        </Muted>
      )}
    </TableCard>
  );
}

function stateWords(t: Translate, state: string, label: string | null): string {
  const wordOf = (key: string, stored: string) => {
    const known = findTextKey(key);
    return known ? t(known) : stored;
  };
  const named =
    label && wordOf(`${state === 'in_break' ? 'break' : 'days.category'}.${label}`, label);
  return [wordOf(`line.state.${state}`, state), named].filter(Boolean).join(': ');
}

function History({ month, nameOf }: Props) {
  const { t } = useVisit();
  return (
    <>
      <TableCard
        {...{ rows: month.decisions.toReversed(), title: 'word.history' }}
        empty="months.noHistory"
        columns={{
          'word.action': ({ action, item }) => {
            const key = item === null ? null : findTextKey(`months.${item}`);
            return [t(`months.did.${action}`), key && t(key)].filter(Boolean).join(': ');
          },
          'word.count': ({ count }) => count,
          'word.amount': { cents: ({ amount }) => amount },
          'word.who': { wide: ({ actor }) => nameOf(actor) },
          'word.role': ({ role }) => t(findTextKey(`role.${role}`) ?? 'app.none'),
          'app.reason': { wide: ({ reason }) => reason },
          'word.when': { at: ({ at }) => at },
        }}
      />
      <TableCard
        {...{ rows: month.closes.toReversed(), title: 'months.reports' }}
        empty="months.noReports"
        columns={{
          'days.revision': ({ revision }) => revision,
          'months.closedAt': { at: ({ at }) => at },
          'months.hash': { wide: ({ hash }) => <code>{hash}</code> },
        }}
      />
    </>
  );
}
