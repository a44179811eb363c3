// One action on all breaks of a filter: the totals of what is selected, the confirmation, and how
// far it has come. Each step decides some breaks; with a script, the steps follow each other.
import { Controller } from '@nestjs/common';
import { AppError } from '../../platform/errors.js';
import { BreakReading } from '../../reconciliation/breaks/break-reading.service.js';
import {
  batchActions,
  DecisionBatches,
  maxBatch,
  type BatchAction,
  type BatchProgress,
} from '../../reconciliation/breaks/decision-batches.service.js';
import { assignBreaks, snoozeBreaks } from '../../reconciliation/breaks/break-plans.schema.js';
import { ReasonCodes } from '../../reconciliation/breaks/reason-codes.service.js';
import { formatAmount, formatCount } from '../formats.js';
import { ContinuedForm } from '../kit/break-parts.js';
import { Card, Message } from '../kit/elements.js';
import { FieldForm, readBody, typedWhole } from '../kit/form.js';
import { ListTable, TableCard } from '../kit/table.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { callerOf, pathId, typed, useVisit, type Visit } from '../visit.js';
import {
  ConsoleAction,
  ConsolePage,
  ShownAgainBy,
  Visiting,
} from '../serving/console-page.decorator.js';
import { isCoded, reasonCodeOf, reasonOf } from './action-forms-view.js';
import { readReasonCode, readReasonText } from './action-forms.js';
import type { GivenCode } from './break-facts.js';
import { Assignees } from './assignees.service.js';
import { readBreakList } from './break-list.js';
import { BackToBreaks, kindOf, refusalOfCode, breakColumns, type Assignee } from './break-words.js';
import { planFields } from './plan-forms.js';

const needs = 'resolve breaks';
const subject = 'breaks :id';
const shownRefusals = 100;

type Refusal = { row: Awaited<ReturnType<BreakReading['listByIds']>>[number]; code: string };

@Controller()
export class BatchPages {
  constructor(
    private readonly batches: DecisionBatches,
    private readonly reading: BreakReading,
    private readonly codes: ReasonCodes,
    private readonly assignees: Assignees,
  ) {}

  /** Changes no break: what is selected is confirmed first. */
  @ConsoleAction('breaks/batches', needs, 'own')
  async select(@Visiting() visit: Visit): Promise<PageAnswer> {
    const action = batchActions.find((one) => one === typed(visit, 'action'));
    if (!action) throw new AppError('validation_failed');
    const { filters, address } = readBreakList(visit.query);
    const id = await this.batches.select(callerOf(visit), action, filters);
    return new Redirect(`${visit.to(`breaks/batches/${id}`)}?${address.toString()}`);
  }

  @ConsolePage('breaks/batches/:id', needs)
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.render(visit, null);
  }

  @ConsoleAction('breaks/batches/:id/accept', needs, 'accept breaks', subject)
  accept(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.advance(visit, 'accept');
  }

  @ConsoleAction('breaks/batches/:id/reopen', needs, 'reopen breaks', subject)
  reopen(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.advance(visit, 'reopen');
  }

  @ConsoleAction('breaks/batches/:id/note', needs, 'note breaks', subject)
  note(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.advance(visit, 'note');
  }

  /** What each row of a spreadsheet decides. */
  @ConsoleAction('breaks/batches/:id/file', needs, 'decide breaks', subject)
  file(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.advance(visit, 'file');
  }

  @ConsoleAction('breaks/batches/:id/assign', needs, 'assign breaks', subject)
  @ShownAgainBy('show')
  assign(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.advance(visit, 'assign', () => {
      const given = typedWhole(visit, planFields(visit, []).assign);
      return readBody(assignBreaks.body.pick({ assignee: true }), given).assignee;
    });
  }

  @ConsoleAction('breaks/batches/:id/snooze', needs, 'snooze breaks', subject)
  @ShownAgainBy('show')
  snooze(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.advance(visit, 'snooze', () => {
      const given = typedWhole(visit, planFields(visit, []).snooze);
      return readBody(snoozeBreaks.body.pick({ until: true }), given).until;
    });
  }

  /** `readPlan`: of an action that needs no reason. */
  private async advance(
    visit: Visit,
    action: BatchAction,
    readPlan?: () => string | null,
  ): Promise<PageAnswer> {
    const id = pathId(visit);
    const { batch } = await this.batches.get(visit.accountId, id);
    if (batch.action !== action) throw new AppError('not_found');
    const isFirst = batch.reason === null;
    const reason = readPlan ? '' : readReasonText(visit);
    if (isFirst && reason === null) return this.render(visit, visit.t('breaks.invalid.reason'));
    const reasonCode = isCoded(action) ? readReasonCode(visit) : null;
    const planned = isFirst ? readPlan?.() : null;
    const given = isFirst && reason !== null ? { reason, reasonCode, planned } : null;
    await this.batches.advance(callerOf(visit), id, given);
    const { address } = readBreakList(visit.query);
    return new Redirect(`${visit.to(`breaks/batches/${id}`)}?${address.toString()}`);
  }

  private async render(visit: Visit, problem: string | null): Promise<Shown> {
    const { accountId } = visit;
    const progress = await this.batches.get(accountId, pathId(visit));
    const { batch } = progress;
    const refused = await this.batches.listRefused(accountId, batch.id, shownRefusals);
    const ids = refused.map(({ breakId }) => breakId);
    const rows = await this.reading.listByIds(callerOf(visit), ids);
    const refusals = rows.map((row) => ({
      ...{ row, code: refused.find(({ breakId }) => breakId === row.id)?.code ?? '' },
    }));
    const action = batch.action as BatchAction;
    const isAsked = batch.reason === null && isCoded(action);
    const reasonCodes = isAsked ? await this.codes.listActive(accountId) : [];
    const people = action === 'assign' ? await this.assignees.list(visit) : [];
    const part = <BatchPart {...{ progress, refusals, problem, reasonCodes, people }} />;
    const title = visit.t('breaks.batch', { action: visit.t(`breaks.action.${action}`) });
    return new Shown(title, part, { part, ...(problem === null ? {} : { status: 400 }) });
  }
}

interface Props {
  progress: BatchProgress;
  refusals: readonly Refusal[];
  reasonCodes: readonly GivenCode[];
  people: readonly Assignee[];
  problem: string | null;
}

function BatchPart(props: Props) {
  const visit = useVisit();
  const { progress, problem } = props;
  const { t } = visit;
  const { address } = readBreakList(visit.query);
  const { batch, breaks, cents, byKind } = progress;
  return (
    <div id="batch">
      <p>
        <BackToBreaks address={address} />
      </p>
      {problem !== null && <Message kind="bad">{problem}</Message>}
      <Card title={t('breaks.total', { count: formatCount(breaks), amount: formatAmount(cents) })}>
        {breaks >= BigInt(maxBatch) && (
          <p>{t('breaks.batch.most', { count: formatCount(maxBatch) })}</p>
        )}
        <ListTable
          {...{ name: 'breaks.byKind', rows: byKind, empty: 'breaks.bulk.nothing' }}
          columns={{
            'word.kind': { wide: ({ kind }) => kindOf(t, kind) },
            'word.action':
              batch.action === 'file' &&
              (({ action }) => t(`breaks.action.${action as BatchAction}`)),
            'breaks.count': { count: (sum) => sum.breaks },
            'word.amount': { cents: (sum) => sum.cents },
          }}
        />
      </Card>
      {batch.reason === null ? breaks > 0n && <Confirm {...props} /> : <Progress {...props} />}
    </div>
  );
}

const actionAddress = (visit: Visit, { batch }: BatchProgress) =>
  `${visit.to(`breaks/batches/${batch.id}/${batch.action}`)}?${readBreakList(visit.query).address.toString()}`;

function Confirm({ progress, reasonCodes, people }: Props) {
  const visit = useVisit();
  const action = progress.batch.action as BatchAction;
  const fields =
    action === 'assign' || action === 'snooze'
      ? planFields(visit, people)[action]
      : { ...reasonOf('bulk'), ...reasonCodeOf(visit, reasonCodes) };
  return (
    <Card title={visit.t('app.confirm')}>
      <FieldForm
        fields={fields}
        shown={progress.batch.id}
        action={actionAddress(visit, progress)}
        intro={`breaks.effect.${action}`}
        button={`breaks.action.${action}`}
      />
    </Card>
  );
}

function Progress({ progress, refusals }: Props) {
  const visit = useVisit();
  const { t } = visit;
  const { done, refused, left } = progress;
  const { address } = readBreakList(visit.query);
  const counts = {
    done: formatCount(done),
    refused: formatCount(refused),
    left: formatCount(left),
  };
  return (
    <>
      <Message kind={refused > 0 ? 'warn' : 'good'}>{t('breaks.batch.progress', counts)}</Message>
      {left > 0 && (
        <ContinuedForm
          action={actionAddress(visit, progress)}
          part="batch"
          button="breaks.batch.continue"
        />
      )}
      {refusals.length > 0 && (
        <TableCard
          {...{ title: 'breaks.batch.refused', rows: refusals }}
          columns={{
            ...breakColumns(visit, address, ({ row }: Refusal) => row),
            'word.result': { wide: ({ code }) => refusalOfCode(t, code) },
          }}
        />
      )}
    </>
  );
}
