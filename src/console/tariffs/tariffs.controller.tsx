// The fees about a month beside the price list, what to claim from the bank, and the list itself.
import { Controller } from '@nestjs/common';
import { monthOf } from '../../brazil/calendar.js';
import type { RouteOutput } from '../../bank-contract/route.js';
import { AppError } from '../../platform/errors.js';
import { tableFormats } from '../../reporting/exports/exports.schema.js';
import { FeeChecks } from '../../reporting/tariffs/fee-checks.service.js';
import { PriceLists } from '../../reporting/tariffs/price-lists.service.js';
import {
  changePriceList,
  exportFees,
  type getFeeCheck,
  type getPriceList,
} from '../../reporting/tariffs/tariffs.schema.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import type { NameOfActor } from '../../access/people/names-of-actors.service.js';
import { ActorNames } from '../actor-names.service.js';
import { formatAmount, formatCount, formatDay } from '../formats.js';
import { Amount, Card, Cards, KeyFigures, Message, Muted } from '../kit/elements.js';
import {
  FormCard,
  MonthCard,
  readBody,
  typedBody,
  type FormField,
  type FormFields,
} from '../kit/form.js';
import { TableCard } from '../kit/table.js';
import { Download, Redirect, Shown, type PageAnswer } from '../page.js';
import { LineLink } from '../search/list-elements.js';
import {
  ConsoleAction,
  ConsolePage,
  ShownAgainBy,
  Visiting,
} from '../serving/console-page.decorator.js';
import { askedMonth, typedDay, writeTypedDay } from '../typed-day.js';
import { auditedWord, callerOf, typed, useVisit, type Visit } from '../visit.js';
import { readTypedTariffs, writeTypedTariffs, type ShownTariff } from './typed-tariffs.js';

type Check = RouteOutput<typeof getFeeCheck>;
type Version = RouteOutput<typeof getPriceList>['versions'][number];

const needs = 'manage rules';
const listFields = {
  validFrom: { label: 'tariffs.validFrom', is: 'date', required: true },
  tariffs: { label: 'tariffs.rows', hint: 'tariffs.rowsHint', is: 'lines' },
} as const satisfies FormFields;

@Controller()
export class TariffPages {
  constructor(
    private readonly checks: FeeChecks,
    private readonly lists: PriceLists,
    private readonly bankTime: BankTime,
    private readonly names: ActorNames,
  ) {}

  @ConsolePage('tariffs', 'view', { title: 'tariffs.title', section: 'statement', place: 43 })
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t, query, accountId } = visit;
    const asked = askedMonth(query);
    const month = asked ?? monthOf(await this.bankTime.today(accountId));
    // It reads every line of the month: on demand only.
    const check = asked && (await this.find(accountId, asked));
    const { versions } = await this.lists.get(accountId);
    const nameOf = await this.names.find(
      visit,
      versions.map(({ actor }) => actor),
    );
    const body = (
      <>
        {query.has('saved') && <Message kind="good">{t('tariffs.saved')}</Message>}
        <MonthCard action={visit.to('tariffs')} month={month} />
        {check ? <Checked check={check} /> : asked && <Muted>{t('tariffs.noLines')}</Muted>}
        <PriceListCards versions={versions} nameOf={nameOf} />
      </>
    );
    return new Shown(t('tariffs.title'), body);
  }

  @ConsoleAction('tariffs', needs, 'change price list', (visit) => `account ${visit.accountId}`)
  @ShownAgainBy('show')
  async change(@Visiting() visit: Visit): Promise<PageAnswer> {
    const tariffs = readTypedTariffs(visit.t, visit.form.get('tariffs') ?? '');
    const given = { ...typedBody(visit, listFields), reason: typed(visit, 'reason'), tariffs };
    const { accountId, actor } = callerOf(visit);
    await this.lists.change(accountId, readBody(changePriceList.body, given), actor);
    return new Redirect(`${visit.to('tariffs')}?saved=1`);
  }

  @ConsoleAction(
    'tariffs/file',
    'take files',
    'take file',
    (visit) => `file fees ${auditedWord(visit, 'month')}`,
  )
  async file(@Visiting() visit: Visit): Promise<PageAnswer> {
    const format = tableFormats.find((one) => one === typed(visit, 'format')) ?? 'xlsx';
    const query = { format, delimiter: 'semicolon' } as const;
    const { month } = readBody(exportFees.params, { month: typedDay(typed(visit, 'month')) });
    const { body, name, contentType } = await this.checks.file(visit.accountId, month, query);
    return new Download(body, name, contentType);
  }

  private find(accountId: number, month: string): Promise<Check | null> {
    return this.checks.get(accountId, month).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'not_found') return null;
      throw error;
    });
  }
}

const nameOfTariff = ({ t }: Visit, kind: ShownTariff['kind'] | null) =>
  t(kind === null ? 'tariffs.other' : `tariffs.kind.${kind}`);

function Checked({ check }: { check: Check }) {
  const visit = useVisit();
  const { t, language } = visit;
  const figures = (['expected', 'charged', 'overcharge', 'undercharge', 'returned'] as const).map(
    (name) => ({ name: t(`tariffs.${name}`), value: <Amount cents={check[name]} /> }),
  );
  const format: FormField = {
    ...({ label: 'word.format', is: 'choice' } as const),
    options: tableFormats.toReversed().map((one) => [one, t(`days.format.${one}`)]),
  };
  const left = (['unpriced', 'waiting'] as const).filter((name) => check[name] > 0);
  return (
    <>
      <Card>
        <KeyFigures figures={figures} />
        {left.map((name) => (
          <Muted>{t(`tariffs.${name}`, { count: formatCount(check[name]) })}</Muted>
        ))}
      </Card>
      <TableCard
        {...{ rows: check.mismatches, title: 'tariffs.mismatches', empty: 'tariffs.agrees' }}
        columns={{
          'word.nsu': ({ nsu }) => <LineLink nsu={nsu} />,
          'word.day': ({ date }) => formatDay(date, language),
          'tariffs.tariff': ({ kind }) => nameOfTariff(visit, kind),
          'tariffs.period': ({ period }) => writeTypedDay(period, language),
          'tariffs.charged': { cents: ({ charged }) => charged },
          'tariffs.expected': { cents: ({ expected }) => expected },
          'tariffs.overcharge': { cents: ({ overcharge }) => overcharge },
        }}
      />
      <TableCard
        {...{ rows: check.tariffs, title: 'tariffs.byKind', empty: 'tariffs.none' }}
        columns={{
          'tariffs.tariff': ({ kind }) => nameOfTariff(visit, kind),
          'word.lines': { count: ({ lines }) => lines },
          'tariffs.expected': { cents: ({ expected }) => expected },
          'tariffs.charged': { cents: ({ charged }) => charged },
          'tariffs.overcharge': { cents: ({ overcharge }) => overcharge },
          'tariffs.undercharge': { cents: ({ undercharge }) => undercharge },
        }}
      />
      {visit.may('take files') && (
        <FormCard
          {...{ action: visit.to('tariffs/file'), fields: { format }, title: 'tariffs.file' }}
          {...{ hidden: { month: check.month }, button: 'word.download' }}
        />
      )}
    </>
  );
}

interface ListProps {
  versions: readonly Version[];
  nameOf: NameOfActor;
}

/** Of each version what it says; the last one stands in the form, to be changed. */
function PriceListCards({ versions, nameOf }: ListProps) {
  const visit = useVisit();
  const { t, language } = visit;
  const [last] = versions;
  const said = ({ price, period, freeItems, tiers }: ShownTariff) =>
    [
      `${formatAmount(price)} / ${t(`tariffs.period.${period}`)}`,
      ...(freeItems > 0 ? [`${t('tariffs.free')}: ${formatCount(freeItems)}`] : []),
      ...tiers.map((tier) =>
        t('tariffs.tier', { from: formatCount(tier.from), price: formatAmount(tier.price) }),
      ),
    ].join(' · ');
  return (
    <>
      <TableCard
        {...{ rows: versions, title: 'tariffs.list', empty: 'tariffs.noList' }}
        columns={{
          'tariffs.validFrom': ({ validFrom }) => formatDay(validFrom, language),
          'tariffs.tariff': {
            is: 'sentence',
            cell: ({ tariffs }) =>
              tariffs.map((one) => (
                <div>
                  {nameOfTariff(visit, one.kind)}: {said(one)}
                </div>
              )),
          },
          'word.who': { wide: ({ actor }) => nameOf(actor) },
          'app.reason': { wide: ({ reason }) => reason },
          'word.when': { at: ({ at }) => at },
        }}
      />
      {visit.may(needs) && (
        <Cards>
          <FormCard
            {...{ action: visit.to('tariffs'), fields: listFields, button: 'tariffs.change' }}
            {...{ title: 'tariffs.change', intro: 'tariffs.changeHint', asksReason: true }}
            values={{
              validFrom: last?.validFrom,
              tariffs: last && writeTypedTariffs(t, last.tariffs),
            }}
          />
        </Cards>
      )}
    </>
  );
}
