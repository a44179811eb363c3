// The payment controls: limits with what is left of them, who may be paid, and who changed it. An
// admin changes them, as the operator does by the API.
import { accountIn } from '../requested-payment.js';
import { unknownParty } from '../../access/counterparties/party.js';
import { Controller } from '@nestjs/common';
import type { z } from 'zod';
import type { RouteOutput } from '../../bank-contract/route.js';
import { seesPersonalData } from '../../access/counterparties/counterparty.schema.js';
import { maskParty } from '../../access/counterparties/masking.js';
import { ControlChanges } from '../../outbound/payment-controls/control-changes.service.js';
import type {
  beneficiaryView,
  getAccountPaymentControls,
} from '../../outbound/payment-controls/payment-controls.schema.js';
import { isUuid, readPage, toList } from '../../platform/http/listing.js';
import { ActorNames } from '../actor-names.service.js';
import {
  ConsoleAction,
  ConsolePage,
  Visiting,
  ShownAgainBy,
} from '../serving/console-page.decorator.js';
import { Amount, FactList, Pager, Message, Cards, Muted } from '../kit/elements.js';
import { FormCard, Step } from '../kit/form.js';
import { TableCard } from '../kit/table.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { accountOf, callerOf, pathId, requireReason, useVisit, type Visit } from '../visit.js';
import { writeTypedAmount } from '../typed-amount.js';
import { Limits } from './approval-detail.js';
import {
  beneficiaryFields,
  controlFields,
  limitNames,
  readBeneficiaryForm,
  readControlForm,
  typedGuard,
} from './control-form.js';

const needs = 'manage payment rules';
type Controls = RouteOutput<typeof getAccountPaymentControls>;
type Beneficiary = z.output<typeof beneficiaryView>;

@Controller()
export class PaymentControlPages {
  constructor(
    private readonly controls: ControlChanges,
    private readonly names: ActorNames,
  ) {}

  @ConsolePage('payment-controls', 'view', {
    title: 'controls.title',
    section: 'approvals',
    place: 63,
  })
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t, query } = visit;
    const { id: accountId, slug } = accountOf(visit);
    const controls = await this.controls.readAudited(slug);
    const mayChange = visit.may(needs);
    const body = (
      <>
        {query.get('done') === 'saved' && <Message kind="good">{t('controls.saved')}</Message>}
        {guardsInVain(controls) && <Message kind="bad">{t('controls.noChannel')}</Message>}
        <Cards is="facts">
          <Limits limits={await this.controls.listLimitsInUse(accountId)} />
          <Rules controls={controls} />
        </Cards>
        {!mayChange && <Muted>{t('policy.needsRole')}</Muted>}
        {await this.beneficiaries(visit)}
        {mayChange && (
          <>
            <FormCard
              action={visit.to('payment-controls/beneficiaries')}
              fields={beneficiaryFields}
              title="controls.add"
              intro="controls.addWhy"
              button="controls.add"
              asksReason
            />
            <FormCard
              action={visit.to('payment-controls')}
              {...{ fields: controlFields, values: typedValues(controls) }}
              title="controls.change"
              intro="controls.changeWhy"
              button="controls.change"
              asksReason
            />
          </>
        )}
        {await this.changes(visit, controls)}
      </>
    );
    return new Shown(t('controls.title'), body);
  }

  @ConsoleAction(
    'payment-controls',
    needs,
    'change payment controls',
    (visit) => `account ${visit.accountId}`,
  )
  @ShownAgainBy('show')
  async change(@Visiting() visit: Visit): Promise<PageAnswer> {
    const body = { ...readControlForm(visit), actor: callerOf(visit).actor };
    await this.controls.change({ ...requestOf(visit), body });
    return saved(visit);
  }

  @ConsoleAction(
    'payment-controls/beneficiaries',
    needs,
    'add beneficiary',
    (visit) => `account ${visit.accountId}`,
  )
  @ShownAgainBy('show')
  async add(@Visiting() visit: Visit): Promise<PageAnswer> {
    const body = { ...readBeneficiaryForm(visit), actor: callerOf(visit).actor };
    await this.controls.add({ ...requestOf(visit), body });
    return saved(visit);
  }

  @ConsoleAction(
    'payment-controls/beneficiaries/:id/remove',
    needs,
    'remove beneficiary',
    'beneficiary :id',
  )
  async remove(@Visiting() visit: Visit): Promise<PageAnswer> {
    const body = { actor: callerOf(visit).actor, reason: requireReason(visit) };
    const request = requestOf(visit);
    const params = { ...request.params, id: pathId(visit) };
    await this.controls.remove({ ...request, params, body });
    return saved(visit);
  }

  private async beneficiaries(visit: Visit) {
    const { t, query } = visit;
    const page = readPage({ cursor: query.get('cursor') ?? undefined }, isUuid);
    const found = await this.controls.listBeneficiaries(visit.accountId, page);
    const { data: rows, next } = toList(found, page, ({ id }) => id);
    const shown = (row: Beneficiary) => partyOf(visit, row);
    return (
      <TableCard
        {...{ rows, title: 'controls.beneficiaries' }}
        empty="controls.noBeneficiaries"
        columns={{
          'word.name': { wide: (row) => shown(row).name },
          'controls.account': {
            wide: (row) => {
              const { ispb, branch, account } = shown(row);
              return [ispb, branch, account].filter((part) => part !== null).join(' / ');
            },
          },
          'controls.usableFrom': { at: ({ usableFrom }) => usableFrom },
          'word.remove':
            visit.may(needs) &&
            (({ id, name }) => (
              <Step
                action={visit.to(`payment-controls/beneficiaries/${id}/remove`)}
                button="word.remove"
                reasonLabel={t('controls.removeOf', { name })}
                asksReason
              />
            )),
        }}
      >
        <Pager next={next} />
      </TableCard>
    );
  }

  private async changes(visit: Visit, { changes: rows }: Controls) {
    const { t } = visit;
    const nameOf = await this.names.find(
      visit,
      rows.map(({ actor }) => actor),
    );
    return (
      <TableCard
        {...{ rows, title: 'controls.history', empty: 'controls.noHistory' }}
        columns={{
          'word.when': { at: ({ at }) => at },
          'word.who': { wide: ({ actor }) => nameOf(actor) },
          'policy.what': ({ action }) => t(`controls.action.${action}`),
          'app.reason': { wide: ({ reason }) => reason },
        }}
      />
    );
  }
}

/** There are alarms, and they notify nobody. */
const guardsInVain = ({ guard }: Controls) =>
  (guard.intervalSeconds !== null || guard.stopsOnAlarm) && guard.alertChannels === 0;

/** Masked for whoever may not see names. */
function partyOf(visit: Visit, { name, counterparty }: Beneficiary) {
  const party = { ...unknownParty, name, ...accountIn(counterparty) };
  return seesPersonalData(callerOf(visit).scopes) ? party : maskParty(party);
}

/** As the fields of the form have it. */
function typedValues({ limits, guard, ...rules }: Controls) {
  const amounts = limitNames.map((name) => {
    const cents = limits[name];
    return [name, cents === null ? '' : writeTypedAmount(cents)] as const;
  });
  const { checksPayee, allowList, allowListIncludesBills } = rules;
  const { coolingOffHours, nightFromHour, nightUntilHour } = rules;
  return {
    ...Object.fromEntries(amounts),
    ...{ checksPayee, allowList, allowListIncludesBills },
    ...{ coolingOffHours, nightFromHour, nightUntilHour },
    ...typedGuard(guard),
  };
}

function requestOf(visit: Visit) {
  return { params: { slug: accountOf(visit).slug }, query: {}, idempotencyKey: null };
}

function saved(visit: Visit): Redirect {
  return new Redirect(`${visit.to('payment-controls')}?done=saved`);
}

function Rules({ controls }: { controls: Controls }) {
  const { t, to } = useVisit();
  const yesNo = (value: boolean) => t(value ? 'app.yes' : 'app.no');
  const { nightFromHour: from, nightUntilHour: until, guard } = controls;
  const { intervalSeconds, alarmAbove, declaredDebits } = guard;
  return (
    <FactList
      title="rules.title"
      facts={[
        ['controls.checksPayee', yesNo(controls.checksPayee)],
        ['controls.allowList', yesNo(controls.allowList)],
        ['controls.includesBills', yesNo(controls.allowListIncludesBills)],
        ['controls.coolingOff', String(controls.coolingOffHours)],
        ['controls.night', t('controls.nightHours', { from, until })],
        [
          'controls.guardInterval',
          intervalSeconds === null ? t('app.no') : String(intervalSeconds),
        ],
        [
          'controls.alarmAbove',
          alarmAbove === null ? t('controls.alarmAlways') : <Amount cents={alarmAbove} />,
        ],
        ['controls.declaredDebits', String(declaredDebits.length)],
        [
          'controls.stopsOnAlarm',
          <a href={to('payment-controls/alarm-stop')}>{yesNo(guard.stopsOnAlarm)}</a>,
        ],
      ]}
    />
  );
}
