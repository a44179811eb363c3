// How the money of a month becomes journal entries: what no account is known for, and the mapping
// to accounts of the chart. A change is of the version that the person saw, and is made once.
import { randomUUID } from 'node:crypto';
import { Controller } from '@nestjs/common';
import { IdempotencyService } from '../../access/idempotency/idempotency.service.js';
import type { RouteOutput } from '../../bank-contract/route.js';
import { monthOf } from '../../brazil/calendar.js';
import { JournalPer } from '../../generated/service/enums.js';
import { AppError } from '../../platform/errors.js';
import { readUuid } from '../../platform/http/listing.js';
import { lineKinds } from '../../reporting/exports/line-kind.js';
import { JournalSetup } from '../../reporting/journal/journal-setup.service.js';
import { moneyClassNames } from '../../reporting/journal/journal.js';
import {
  changeMapping,
  directions,
  type getMapping,
} from '../../reporting/journal/journal.schema.js';
import { Journals, type UnmappedMoney } from '../../reporting/journal/journals.service.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import { formatCount } from '../formats.js';
import { Card, Cards, Message, Muted } from '../kit/elements.js';
import {
  FieldForm,
  FormCard,
  FormProblem,
  MonthCard,
  readBody,
  Step,
  typedBody,
} from '../kit/form.js';
import { type FormFields } from '../kit/form.js';
import { TableCard, type ListColumns } from '../kit/table.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { LineLink } from '../search/list-elements.js';
import {
  ConsoleAction,
  ConsolePage,
  ShownAgainBy,
  Visiting,
} from '../serving/console-page.decorator.js';
import { findTextKey, type TextKey } from '../texts.js';
import { askedMonth } from '../typed-day.js';
import { callerOf, typed, useVisit, type Visit } from '../visit.js';

type Mapping = NonNullable<RouteOutput<typeof getMapping>['mapping']>;
type Entry = Mapping['entries'][number];
type Money = Pick<Entry, 'direction' | 'lineKind' | 'classification' | 'category'>;

const needs = 'manage rules';
const subject = (visit: Visit) => `account ${visit.accountId}` as const;

@Controller()
export class JournalPages {
  constructor(
    private readonly setup: JournalSetup,
    private readonly journals: Journals,
    private readonly idempotency: IdempotencyService,
    private readonly bankTime: BankTime,
  ) {}

  @ConsolePage('journal', 'view', { title: 'journal.title', section: 'statement', place: 42 })
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t, accountId } = visit;
    const { chart } = await this.setup.getChart(accountId);
    const { mapping } = await this.setup.getMapping(accountId);
    const asked = askedMonth(visit.query);
    const month = asked ?? monthOf(await this.bankTime.today(accountId));
    // It reads every line of the month: on demand only.
    const unmapped = asked === null ? null : await this.findUnmapped(accountId, asked);
    const codes = (chart?.accounts ?? [])
      .filter(({ isPostable }) => isPostable)
      .map(({ code, name }) => [code, `${code} · ${name}`] as const);
    const mayMap = chart !== null && visit.may(needs);
    const body = (
      <>
        {visit.query.has('saved') && <Message kind="good">{t('journal.saved')}</Message>}
        {visit.path.endsWith('/remove') && <FormProblem />}
        {!chart && <Message kind="warn">{t('journal.noChart')}</Message>}
        <Cards>
          <Card title={t('chart.title')}>
            <Muted>
              {chart
                ? t('chart.version', {
                    ...{ version: chart.version, count: formatCount(chart.accounts.length) },
                  })
                : t('chart.none')}
            </Muted>
            <a href={visit.to('journal/chart')}>{t('chart.open')}</a>
          </Card>
          <Card title={t('reasonCodes.title')}>
            <Muted>{t('reasonCodes.intro')}</Muted>
            <a href={visit.to('journal/reason-codes')}>{t('reasonCodes.open')}</a>
          </Card>
        </Cards>
        <MonthCard action={visit.to('journal')} month={month} />
        {unmapped && <Unmapped {...{ unmapped, month, mayMap: mayMap && mapping !== null }} />}
        <Entries {...{ mapping, codes }} />
        {mayMap && <MappingForms {...{ mapping, codes }} />}
      </>
    );
    return new Shown(t('journal.title'), body);
  }

  @ConsoleAction('journal/bank', needs, 'change journal mapping', subject)
  @ShownAgainBy('show')
  setBank(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.change(visit, () => typedBody(visit, bankFields(visit, [])));
  }

  /** Adds an entry, or changes the one that the address names, and places it. */
  @ConsoleAction('journal/entries', needs, 'change journal mapping', subject)
  @ShownAgainBy('show')
  setEntry(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { position, ...entry } = typedBody(visit, entryFields(visit, []));
    return this.change(visit, (before) => {
      const others = before.filter((_, index) => index !== chosenEntry(visit));
      // Without an order, it is the last one.
      const at = Math.max(0, (Number(position) || Infinity) - 1);
      return { entries: others.toSpliced(at, 0, entry as Entry) };
    });
  }

  @ConsoleAction('journal/entries/remove', needs, 'change journal mapping', subject)
  @ShownAgainBy('show')
  removeEntry(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.change(visit, (before) => ({
      entries: before.filter((_, index) => index !== chosenEntry(visit)),
    }));
  }

  /** `to` makes the change of what was seen: a repeat of the form asks for the same. */
  private async change(visit: Visit, to: (before: Entry[]) => object): Promise<PageAnswer> {
    const { accountId, actor } = callerOf(visit);
    // No mapping has the version -1.
    const seen = Number(/^\d{1,9}$/.exec(typed(visit, 'shown'))?.[0] ?? -1);
    const { mapping } = await this.setup.getMapping(accountId, seen);
    const { bankCode, per, entries = [] } = mapping ?? {};
    const reason = typed(visit, 'reason');
    const given = { bankCode, per, entries, ...to(entries), reason };
    const body = readBody(changeMapping.body, given);
    const idempotencyKey = readUuid(typed(visit, 'key'));
    const request = { params: {}, query: {}, body, idempotencyKey };
    await this.idempotency.runOnce({ accountId, route: changeMapping, request }, () =>
      this.setup.changeMapping(accountId, body, actor, seen),
    );
    return new Redirect(`${visit.to('journal')}?${addressOf(visit, { saved: '1' })}`);
  }

  /** Empty before the first line. */
  private findUnmapped(accountId: number, month: string): Promise<UnmappedMoney[]> {
    return this.journals.listUnmapped(accountId, month).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'not_found') return [];
      throw error;
    });
  }
}

/** Of the mapping, as the address numbers it. -1 for a new one. */
const chosenEntry = ({ query }: Visit) => Number(query.get('entry') ?? 0) - 1;

function addressOf(visit: Visit, more: Record<string, string>): string {
  const month = askedMonth(visit.query);
  return new URLSearchParams({ ...(month && { month }), ...more }).toString();
}

const linkTo = (visit: Visit, more: Record<string, string>) =>
  `${visit.to('journal')}?${addressOf(visit, more)}#entry`;

/** What a form sends beside its fields. */
const once = (mapping: Mapping | null) => ({
  shown: String(mapping?.version ?? 0),
  hidden: { key: randomUUID() },
});

/** What money is, in words. `none` is for what is not said. */
function moneyColumns<Row extends Record<keyof Money, string | null>>(
  { t }: Visit,
  none: TextKey = 'app.none',
) {
  const word = (area: string, value: string | null) => {
    return t((value !== null && findTextKey(`${area}.${value}`)) || none);
  };
  return {
    'word.direction': ({ direction }) => word('journal.direction', direction),
    'word.kind': ({ lineKind }) => word('journal.kind', lineKind),
    'journal.class': ({ classification }) => word('journal.class', classification),
    'word.category': { wide: ({ category }) => category ?? t(none) },
  } satisfies ListColumns<Row>;
}

interface UnmappedProps {
  unmapped: readonly UnmappedMoney[];
  month: string;
  mayMap: boolean;
}

function Unmapped({ unmapped, month, mayMap }: UnmappedProps) {
  const visit = useVisit();
  const { t } = visit;
  const rows = unmapped.map(({ isCredit, ...money }) => ({
    ...money,
    direction: isCredit ? ('credit' as const) : ('debit' as const),
  }));
  const addressFor = ({ direction, lineKind, classification, category }: (typeof rows)[number]) =>
    linkTo(visit, { month, direction, lineKind, classification, ...(category && { category }) });
  return (
    <TableCard
      {...{ rows, title: 'journal.unmapped', empty: 'journal.allMapped' }}
      columns={{
        ...moneyColumns(visit),
        'word.count': { count: ({ lines }) => lines },
        'word.amount': { cents: ({ cents }) => cents },
        'word.lines': {
          is: 'sentence',
          cell: ({ nsus, lines }) => (
            <>
              {nsus.map((nsu) => (
                <>
                  <LineLink nsu={nsu} />{' '}
                </>
              ))}
              {lines > nsus.length && t('journal.more', { count: lines - nsus.length })}
            </>
          ),
        },
        'word.actions': mayMap && ((row) => <a href={addressFor(row)}>{t('journal.map')}</a>),
      }}
    />
  );
}

interface MappingProps {
  mapping: Mapping | null;
  /** Those of the chart to which money can be posted. */
  codes: readonly (readonly [code: string, name: string])[];
}

function Entries({ mapping, codes }: MappingProps) {
  const visit = useVisit();
  const { t } = visit;
  const names = new Map(codes);
  const rows = (mapping?.entries ?? []).map((entry, index) => ({ ...entry, number: index + 1 }));
  const bank = mapping && (names.get(mapping.bankCode) ?? mapping.bankCode);
  return (
    <TableCard
      {...{ rows, title: 'journal.mapping', empty: 'journal.noMapping' }}
      columns={{
        'journal.position': { count: ({ number }) => number },
        ...moneyColumns(visit, 'app.any'),
        'journal.contra': { wide: ({ contraCode }) => names.get(contraCode) ?? contraCode },
        'word.actions':
          visit.may(needs) &&
          (({ number }) => (
            <>
              <a href={linkTo(visit, { entry: String(number) })}>{t('word.change')}</a>
              <Step
                action={`${visit.to('journal/entries/remove')}?${addressOf(visit, { entry: String(number) })}`}
                {...{ ...once(mapping), button: 'word.remove', asksReason: true }}
                reasonLabel={`${t('app.reason')}: ${number}`}
              />
            </>
          )),
      }}
    >
      {mapping && (
        <Muted>
          {t('journal.bankIs', { bank: bank ?? '', per: t(`journal.per.${mapping.per}`) })}
        </Muted>
      )}
    </TableCard>
  );
}

const optionsOf = <Value extends string>(
  { t }: Visit,
  values: readonly Value[],
  area: 'direction' | 'kind' | 'class' | 'per',
) => values.map((value) => [value, t(`journal.${area}.${value}` as TextKey)] as const);

function entryFields(visit: Visit, codes: MappingProps['codes']) {
  const any = ['', visit.t('app.any')] as const;
  const is = 'choice';
  return {
    direction: {
      ...{
        label: 'word.direction',
        is,
        options: [any, ...optionsOf(visit, directions, 'direction')],
      },
    },
    lineKind: {
      ...{ label: 'word.kind', is, options: [any, ...optionsOf(visit, lineKinds, 'kind')] },
    },
    classification: {
      ...{ label: 'journal.class', is },
      options: [any, ...optionsOf(visit, moneyClassNames, 'class')],
    },
    category: { label: 'word.category', hint: 'journal.categoryHint', maxLength: 100 },
    contraCode: { label: 'journal.contra', is, options: [['', visit.t('app.none')], ...codes] },
    position: { label: 'journal.position', hint: 'journal.positionHint', is: 'number', min: 1 },
  } satisfies FormFields;
}

const bankFields = (visit: Visit, codes: MappingProps['codes']) =>
  ({
    bankCode: {
      ...{ label: 'journal.bank', is: 'choice' },
      options: [['', visit.t('app.none')], ...codes],
    },
    per: {
      label: 'journal.per',
      is: 'choice',
      options: optionsOf(visit, Object.values(JournalPer), 'per'),
    },
  }) satisfies FormFields;

/** The form of an entry: of the one that is chosen, or of a new one for unmapped money. */
function MappingForms({ mapping, codes }: MappingProps) {
  const visit = useVisit();
  const { t, query } = visit;
  const index = chosenEntry(visit);
  const chosen = mapping?.entries[index];
  const asked = Object.fromEntries(
    ['direction', 'lineKind', 'classification', 'category'].map((name) => [name, query.get(name)]),
  );
  const position = chosen ? index + 1 : (mapping?.entries.length ?? 0) + 1;
  const address = addressOf(visit, chosen ? { entry: String(index + 1) } : {});
  const others = codes.filter(([code]) => code !== mapping?.bankCode);
  return (
    <>
      {mapping && (
        <Card id="entry" title={t(chosen ? 'journal.change' : 'journal.add')}>
          <FieldForm
            {...{ ...once(mapping), fields: entryFields(visit, others), asksReason: true }}
            {...{ intro: 'journal.mappingHint', button: 'app.save' }}
            action={`${visit.to('journal/entries')}?${address}`}
            values={{ ...(chosen ?? asked), position }}
          />
        </Card>
      )}
      <FormCard
        {...{ ...once(mapping), fields: bankFields(visit, codes), asksReason: true }}
        {...{ title: 'journal.bank', intro: 'journal.bankHint', button: 'app.save' }}
        action={`${visit.to('journal/bank')}?${addressOf(visit, {})}`}
        values={{ bankCode: mapping?.bankCode, per: mapping?.per }}
      />
    </>
  );
}
