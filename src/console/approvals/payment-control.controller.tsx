// The payment controls: limits with what is left of them, who may be paid, and who changed it. An
// admin changes them, as the operator does by the API.
import { Controller } from '@nestjs/common';
import type { RouteOutput } from '../../bank-contract/route.js';
import { seesPersonalData } from '../../access/counterparties/counterparty.schema.js';
import { ControlChanges } from '../../outbound/payment-controls/control-changes.service.js';
import type { getAccountPaymentControls } from '../../outbound/payment-controls/payment-controls.schema.js';
import { isUuid, readPage, toList } from '../../platform/http/listing.js';
import { ActorNames, type NameOfActor } from '../actor-names.service.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Card, FactList } from '../kit/elements.js';
import { formatTime } from '../formats.js';
import { DataTable, Message, StepUpNotice } from '../kit/frame.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import type { TextKey } from '../texts.js';
import {
  accountOf,
  callerOf,
  isAllowedTo,
  pathId,
  pathTo,
  requireReason,
  typed,
} from '../visit.js';
import { Limits } from './approval-detail.js';
import { readBeneficiaryForm, readControlForm } from './control-form.js';
import { BeneficiaryForm, BeneficiaryTable, ControlForm } from './control-parts.js';

const path = '/console/accounts/:account/payment-controls';
const needs = 'manage payment rules';
type Controls = RouteOutput<typeof getAccountPaymentControls>;

@Controller()
export class PaymentControlPages {
  constructor(
    private readonly controls: ControlChanges,
    private readonly names: ActorNames,
  ) {}

  @ConsolePage({
    path,
    needs: 'view',
    menu: { title: 'controls.title', section: 'approvals', place: 63 },
  })
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.page(visit);
  }

  @ConsoleAction({
    path,
    needs,
    audit: {
      action: 'change payment controls',
      subject: (visit) => `account ${accountOf(visit).id}`,
    },
  })
  async change(@Visiting() visit: Visit): Promise<PageAnswer> {
    const read = readControlForm(visit.form, typed(visit, 'reason'));
    if (!read.ok) return this.page(visit, read.wrong);
    const body = { ...read.body, actor: callerOf(visit).actor };
    if (body.nightFromHour === body.nightUntilHour)
      return this.page(visit, ['controls.nightUntil']);
    await this.controls.change({ ...requestOf(visit), body });
    return saved(visit);
  }

  @ConsoleAction({
    path: `${path}/beneficiaries`,
    needs,
    audit: { action: 'add beneficiary', subject: (visit) => `account ${accountOf(visit).id}` },
  })
  async add(@Visiting() visit: Visit): Promise<PageAnswer> {
    const read = readBeneficiaryForm(visit.form, typed(visit, 'reason'));
    if (!read.ok) return this.page(visit, read.wrong);
    const body = { ...read.body, actor: callerOf(visit).actor };
    await this.controls.add({ ...requestOf(visit), body });
    return saved(visit);
  }

  @ConsoleAction({
    path: `${path}/beneficiaries/:id/remove`,
    needs,
    audit: { action: 'remove beneficiary', subject: (visit) => `beneficiary ${pathId(visit)}` },
  })
  async remove(@Visiting() visit: Visit): Promise<PageAnswer> {
    const body = { actor: callerOf(visit).actor, reason: requireReason(visit) };
    const request = requestOf(visit);
    const params = { ...request.params, id: pathId(visit) };
    await this.controls.remove({ ...request, params, body });
    return saved(visit);
  }

  private async page(visit: Visit, wrong: readonly TextKey[] = []): Promise<Shown> {
    const { t, query } = visit;
    const { id: accountId, slug } = accountOf(visit);
    const controls = await this.controls.readAudited(slug);
    const cursor = query.get('cursor') ?? undefined;
    const page = readPage({ cursor }, isUuid);
    const found = await this.controls.listBeneficiaries(accountId, page);
    const { next } = toList(found, page, ({ id }) => id);
    const actors = controls.changes.map(({ actor }) => actor);
    const nameOf = await this.names.find(visit, actors);
    const mayChange = isAllowedTo(visit, needs);
    const body = (
      <>
        {wrong.length > 0 && (
          <Message kind="bad">
            {t('controls.wrong', { names: wrong.map((key) => t(key)).join(', ') })}
          </Message>
        )}
        {query.get('done') === 'saved' && <Message kind="good">{t('controls.saved')}</Message>}
        <div class="cards facts">
          <Limits visit={visit} limits={await this.controls.listLimitsInUse(accountId)} />
          <Rules visit={visit} controls={controls} />
        </div>
        {mayChange ? <StepUpNotice visit={visit} /> : <p class="muted">{t('policy.needsRole')}</p>}
        <BeneficiaryTable
          visit={visit}
          rows={found.slice(0, page.limit)}
          next={next}
          mayChange={mayChange}
          isMasked={!seesPersonalData(callerOf(visit).scopes)}
        />
        {mayChange && <BeneficiaryForm visit={visit} />}
        {mayChange && <ControlForm visit={visit} controls={controls} />}
        <Changes visit={visit} controls={controls} nameOf={nameOf} />
      </>
    );
    return new Shown(t('controls.title'), body, wrong.length > 0 ? { status: 400 } : {});
  }
}

function requestOf(visit: Visit) {
  return { params: { slug: accountOf(visit).slug }, query: {}, idempotencyKey: null };
}

function saved(visit: Visit): Redirect {
  return new Redirect(`${pathTo(visit, 'payment-controls')}?done=saved`);
}

function Rules({ visit, controls }: { visit: Visit; controls: Controls }) {
  const { t } = visit;
  const yesNo = (value: boolean) => t(value ? 'app.yes' : 'app.no');
  const { nightFromHour: from, nightUntilHour: until } = controls;
  return (
    <FactList
      visit={visit}
      title="controls.rules"
      facts={[
        ['controls.checksPayee', yesNo(controls.checksPayee)],
        ['controls.allowList', yesNo(controls.allowList)],
        ['controls.includesBills', yesNo(controls.allowListIncludesBills)],
        ['controls.coolingOff', String(controls.coolingOffHours)],
        ['controls.night', t('controls.nightHours', { from, until })],
      ]}
    />
  );
}

function Changes({
  visit,
  controls: { changes },
  nameOf,
}: {
  visit: Visit;
  controls: Controls;
  nameOf: NameOfActor;
}) {
  const { t, language } = visit;
  return (
    <Card title={t('controls.history')}>
      <DataTable
        empty={t('controls.noHistory')}
        visit={visit}
        name={t('controls.history')}
        columns={['policy.at', 'policy.who', 'policy.what', 'app.reason']}
      >
        {changes.map(({ at, actor, action, reason }) => (
          <tr>
            <td>{formatTime(at, language)}</td>
            <td class="wide">{nameOf(actor)}</td>
            <td>{t(`controls.action.${action}`)}</td>
            <td class="wide">{reason}</td>
          </tr>
        ))}
      </DataTable>
    </Card>
  );
}
