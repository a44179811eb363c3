// One action on many breaks: first a preview of what would happen to each, then the confirmation,
// then what was done. Each break is decided by the service that decides a single one.
import { randomUUID } from 'node:crypto';
import { Controller } from '@nestjs/common';
import { IdempotencyService } from '../../access/idempotency/idempotency.service.js';
import type { RequestSteps } from '../../access/idempotency/request-steps.service.js';
import { Reply } from '../../platform/http/contract-route.js';
import { AppError } from '../../platform/errors.js';
import { isUuid, readUuid } from '../../platform/http/listing.js';
import { BreakActions } from '../../reconciliation/breaks/break-actions.service.js';
import {
  BreakReading,
  type VersionedView,
} from '../../reconciliation/breaks/break-reading.service.js';
import { versionOfBreaks } from '../../reconciliation/breaks/break-version.js';
import { ReasonCodes } from '../../reconciliation/breaks/reason-codes.service.js';
import { actOnBreaks } from '../../reconciliation/breaks/breaks.schema.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { isConfirmed } from '../kit/confirm-money.js';
import { MoneyFacts } from '../money-facts.service.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { callerOf, typed, type Visit } from '../visit.js';
import { readReasonCode, readReasonText } from './action-forms.js';
import { isCoded } from './action-forms-view.js';
import { readBreakList } from './break-list.js';
import { bulkActionsFor, maxPreviewed, type BulkActionName } from './bulk-choice.js';
import { BulkPreview, moneyOfRefunds, type PreviewedBreak } from './bulk-preview.js';
import { BulkResult } from './bulk-result.js';
import { outcomesIn, writeOutcome, type ReadOutcome } from './bulk-outcomes.js';

const needs = 'resolve breaks';
const subject = (visit: Visit) => `breaks ${readUuid(typed(visit, 'key'))}` as const;

/** A break has changed since the preview: nothing is done. */
class PreviewOutdated extends Error {
  override readonly name = 'PreviewOutdated';
}

@Controller()
export class BulkBreakPages {
  constructor(
    private readonly reading: BreakReading,
    private readonly actions: BreakActions,
    private readonly codes: ReasonCodes,
    private readonly idempotency: IdempotencyService,
    private readonly money: MoneyFacts,
  ) {}

  @ConsolePage('breaks/bulk', needs)
  async preview(@Visiting() visit: Visit): Promise<PageAnswer> {
    const action = bulkActionsFor(visit, undefined).find(
      (one) => one === visit.query.get('action'),
    );
    if (!action) throw new AppError('not_found');
    return this.show(visit, action, await this.select(visit), { status: 200, problem: null });
  }

  @ConsolePage('breaks/bulk/result', needs)
  async result(@Visiting() visit: Visit): Promise<PageAnswer> {
    const outcomes = outcomesIn(visit.query);
    const ids = outcomes.map(({ id }) => id);
    const found = await this.reading.listByIds(callerOf(visit), ids);
    const rows = found.map((row) => ({ row, outcome: outcomes.find(({ id }) => id === row.id)! }));
    const action = visit.query.get('action') ?? '';
    const known = bulkActionsFor(visit, undefined).find((one) => one === action) ?? 'note';
    const title = visit.t('breaks.bulk.result', { action: visit.t(`breaks.action.${known}`) });
    return new Shown(title, <BulkResult rows={rows} />);
  }

  @ConsoleAction('breaks/bulk/accept', needs, 'accept breaks', subject)
  accept(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.confirm(visit, 'accept');
  }

  @ConsoleAction('breaks/bulk/refund', 'request payments', 'refund breaks', subject)
  refund(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.confirm(visit, 'refund');
  }

  @ConsoleAction('breaks/bulk/reopen', needs, 'reopen breaks', subject)
  reopen(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.confirm(visit, 'reopen');
  }

  @ConsoleAction('breaks/bulk/note', needs, 'note breaks', subject)
  note(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.confirm(visit, 'note');
  }

  /** Those that are ticked, or the first ones that the filters select. */
  private async select(visit: Visit): Promise<string[]> {
    const { query } = visit;
    if (query.get('of') !== 'filter')
      return [...new Set(query.getAll('break').filter(isUuid))].slice(0, maxPreviewed);
    const { filters } = readBreakList(query);
    const page = { ...filters, limit: maxPreviewed };
    return [...(await this.reading.list(callerOf(visit), page)).data].map(({ id }) => id);
  }

  private async show(
    visit: Visit,
    action: BulkActionName,
    ids: readonly string[],
    { status, problem }: { status: number; problem: string | null },
  ): Promise<Shown> {
    const caller = callerOf(visit);
    const rows = await this.reading.listByIds(caller, ids);
    const previewed = await this.tryEach(visit, rows, action);
    const key = randomUUID();
    const shown = versionOfBreaks(rows.map(({ version }) => version));
    const title = visit.t('breaks.bulk.preview', { action: visit.t(`breaks.action.${action}`) });
    const { address } = readBreakList(visit.query);
    const reasonCodes = isCoded(action) ? await this.codes.listActive(caller.accountId) : [];
    const paying =
      action === 'refund'
        ? {
            asked: await this.money.readAsked(visit),
            balances: await this.money.findBalances(caller.accountId),
          }
        : null;
    const props = { action, previewed, shown, formKey: key, address, problem, reasonCodes, paying };
    return new Shown(title, <BulkPreview {...props} />, { status });
  }

  private async confirm(visit: Visit, action: BulkActionName): Promise<PageAnswer> {
    const caller = callerOf(visit);
    const ids = [...new Set(visit.form.getAll('break').filter(isUuid))].slice(0, maxPreviewed);
    const key = readUuid(typed(visit, 'key'));
    const reason = readReasonText(visit);
    const { t } = visit;
    if (ids.length === 0 || !visit.may(needs)) throw new AppError('validation_failed');
    if (reason === null)
      return this.show(visit, action, ids, { status: 400, problem: t('breaks.invalid.reason') });
    const seen = readVersions(visit);
    const reasonCode = isCoded(action) && readReasonCode(visit);
    const body = { ids, action, reason, ...(reasonCode && { reasonCode }) };
    const request = { params: {}, query: {}, body, idempotencyKey: key };
    const keyed = { accountId: caller.accountId, route: actOnBreaks, request };
    // A repeat of the form, such as a second click, gets the result of the first one.
    const work = async (steps: RequestSteps) => {
      if (!(await this.isUnchanged(visit, action, ids, seen))) throw new PreviewOutdated();
      return this.actions.actOnMany(caller, body, steps, seen);
    };
    const result = await this.idempotency.runOnce(keyed, work).catch((error: unknown) => {
      if (error instanceof PreviewOutdated) return null;
      throw error;
    });
    if (result === null)
      return this.show(visit, action, ids, { status: 409, problem: t('breaks.bulk.changed') });
    const outcomes = result instanceof Reply ? readReply(result) : result.data;
    const { address } = readBreakList(visit.query);
    address.set('action', action);
    for (const outcome of outcomes) address.append('of', writeOutcome(outcome));
    return new Redirect(`${visit.to('breaks/bulk/result')}?${address.toString()}`);
  }

  private async isUnchanged(
    visit: Visit,
    action: BulkActionName,
    ids: readonly string[],
    seen: ReadonlyMap<string, string>,
  ): Promise<boolean> {
    const now = await this.reading.listByIds(callerOf(visit), ids);
    const isSame =
      now.length === ids.length && now.every((one) => seen.get(one.id) === one.version);
    if (!isSame || action !== 'refund') return isSame;
    // Another refund of a line changes what is left of it, and not its break.
    const asked = await this.money.readAsked(visit);
    return isConfirmed(visit, moneyOfRefunds(await this.tryEach(visit, now, action), asked));
  }

  private async tryEach(
    visit: Visit,
    rows: readonly VersionedView[],
    action: BulkActionName,
  ): Promise<PreviewedBreak[]> {
    const tried: PreviewedBreak[] = [];
    for (const row of rows)
      tried.push({ row, would: await this.actions.preview(callerOf(visit), row.id, action) });
    return tried;
  }
}

/** The versions that the person saw, by break. */
function readVersions({ form }: Visit): Map<string, string> {
  const ids = form.getAll('break');
  const versions = form.getAll('version');
  return new Map(ids.map((id, index) => [id, versions[index] ?? '']));
}

/** The response as it is stored. */
function readReply({ body }: Reply): ReadOutcome[] {
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
  return (JSON.parse(text) as { data: ReadOutcome[] }).data;
}
