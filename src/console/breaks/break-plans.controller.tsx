// Who works on breaks, and until when they are put off: of one on its page, and of those that are
// ticked in the list.
import { Controller } from '@nestjs/common';
import { AppError } from '../../platform/errors.js';
import { isUuid } from '../../platform/http/listing.js';
import { assignBreaks, snoozeBreaks } from '../../reconciliation/breaks/break-plans.schema.js';
import { BreakPlans } from '../../reconciliation/breaks/break-plans.service.js';
import { BreakReading } from '../../reconciliation/breaks/break-reading.service.js';
import { ActionCard } from '../kit/break-parts.js';
import { readBody, typedWhole } from '../kit/form.js';
import { TableCard } from '../kit/table.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import {
  ConsoleAction,
  ConsolePage,
  ShownAgainBy,
  Visiting,
} from '../serving/console-page.decorator.js';
import { callerOf, type Visit } from '../visit.js';
import { Assignees } from './assignees.service.js';
import { readBreakList } from './break-list.js';
import { BreakPage, isInQueue } from './break-page.service.js';
import { BreakQueue } from './break-queue.service.js';
import { assigneeIn, BackToBreaks, breakColumns } from './break-words.js';
import { maxPreviewed } from './bulk-choice.js';
import { planFields, PlanForms, type PlanChange } from './plan-forms.js';

const needs = 'resolve breaks';
/** The address of a form may name the break beside which it stands. */
const chosenIn = ({ isForm, form, query }: Visit) =>
  [...new Set((isForm ? form : query).getAll('break').filter(isUuid))].slice(0, maxPreviewed);
const subject = (visit: Visit) => {
  const [first = '', ...others] = chosenIn(visit);
  return others.length === 0
    ? (`break ${first}` as const)
    : (`breaks ${others.length + 1} ${first}` as const);
};

@Controller()
export class BreakPlanPages {
  constructor(
    private readonly plans: BreakPlans,
    private readonly reading: BreakReading,
    private readonly assignees: Assignees,
    private readonly page: BreakPage,
    private readonly queue: BreakQueue,
  ) {}

  @ConsolePage('breaks/plan', needs)
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { status = 200 } = visit.problem ?? {};
    const ids = chosenIn(visit);
    const [only = ''] = ids;
    // The form of one break stands on its page.
    if (visit.problem && ids.length === 1)
      return (isInQueue(visit) ? this.queue : this.page).refuse(visit, only, status, null);
    const [rows, people] = await Promise.all([
      this.reading.listByIds(callerOf(visit), ids),
      this.assignees.list(visit),
    ]);
    const { address } = readBreakList(visit.query);
    const found = rows.map(({ id }) => id);
    const isOpen = rows.every(({ state }) => state === 'open');
    const body = (
      <>
        <p>
          <BackToBreaks address={address} />
        </p>
        {rows.length > 0 && (
          <ActionCard title={visit.t('breaks.plan', { count: rows.length })}>
            <PlanForms {...{ ids: found, people, isOpen, address }} />
          </ActionCard>
        )}
        <TableCard
          {...{ title: 'breaks.list', rows, empty: 'breaks.bulk.nothing' }}
          columns={{
            ...breakColumns(visit, address, (row: (typeof rows)[number]) => row),
            'breaks.assignee': { wide: ({ assignee }) => assigneeIn(visit, people, assignee) },
          }}
        />
      </>
    );
    return new Shown(visit.t('breaks.plan', { count: rows.length }), body, { status });
  }

  @ConsoleAction('breaks/assign', needs, 'assign breaks', subject)
  @ShownAgainBy('show')
  async assign(@Visiting() visit: Visit): Promise<PageAnswer> {
    await this.plans.assign(callerOf(visit), readBody(assignBreaks.body, read(visit, 'assign')));
    return this.goOn(visit, 'assign');
  }

  @ConsoleAction('breaks/snooze', needs, 'snooze breaks', subject)
  @ShownAgainBy('show')
  async snooze(@Visiting() visit: Visit): Promise<PageAnswer> {
    await this.plans.snooze(callerOf(visit), readBody(snoozeBreaks.body, read(visit, 'snooze')));
    return this.goOn(visit, 'snooze');
  }

  private async goOn(visit: Visit, did: PlanChange): Promise<Redirect> {
    const [first, ...others] = visit.form.getAll('break');
    if (first === undefined) throw new AppError('validation_failed');
    if (others.length === 0) return this.page.goOn(visit, first, did);
    const { address } = readBreakList(visit.query);
    address.set('did', did);
    return new Redirect(`${visit.to('breaks')}?${address.toString()}`);
  }
}

const read = (visit: Visit, change: PlanChange) => ({
  ids: visit.form.getAll('break'),
  ...typedWhole(visit, planFields(visit, [])[change]),
});
