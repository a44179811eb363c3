// What awaits approval: the list, one payment with everything that is approved, several at once
// with their total, and the decision.
import { Controller } from '@nestjs/common';
import type { ComponentChildren } from 'preact';
import { z } from 'zod';
import type { NameOfActor } from '../../access/people/names-of-actors.service.js';
import { ApprovalDecision } from '../../generated/service/enums.js';
import { ControlChanges } from '../../outbound/payment-controls/control-changes.service.js';
import { AppError } from '../../platform/errors.js';
import { isUuid, listQuery, readUuid, toList } from '../../platform/http/listing.js';
import { ActorNames } from '../actor-names.service.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import {
  buttonText,
  ConfirmMoney,
  factsChanged,
  isConfirmed,
  type Money,
} from '../kit/confirm-money.js';
import {
  ActionBar,
  Amount,
  Card,
  Empty,
  Message,
  Button,
  Cards,
  Muted,
  Row,
} from '../kit/elements.js';
import { AskingForm, Fields, Hidden, statusOf, Form, reasonField } from '../kit/form.js';
import { ListCard, listPage } from '../kit/list-page.js';
import { ListTable } from '../kit/table.js';
import { sendingKinds } from '../../bank-contract/operation-kinds.js';
import { MoneyFacts } from '../money-facts.service.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { callerOf, pathId, typed, useVisit, type Visit } from '../visit.js';
import { reasonKey } from '../problems.js';
import { findTextKey } from '../texts.js';
import {
  BatchItems,
  Decisions,
  ExactRequest,
  Limits,
  PaymentFacts,
  RequestFacts,
  Similar,
} from './approval-detail.js';
import { ApprovalFactsReader } from './approval-facts.service.js';
import {
  PersonDecisions,
  type RefusedDecision,
  type SeenOperation,
} from './person-decisions.service.js';
import { maxDecidedTogether, WaitingApprovals, type Waiting } from './waiting-approvals.service.js';
import { isWaitingCursor, writeWaitingCursor } from './waiting-cursor.js';
import { moneyPayeeOf, waitingColumns } from './waiting-table.js';

@Controller()
export class ApprovalPages {
  constructor(
    private readonly waiting: WaitingApprovals,
    private readonly facts: ApprovalFactsReader,
    private readonly decisions: PersonDecisions,
    private readonly controls: ControlChanges,
    private readonly names: ActorNames,
    private readonly balances: MoneyFacts,
  ) {}

  @ConsolePage('approvals', 'view', { title: 'approvals.title', section: 'approvals', place: 60 })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t } = visit;
    const viewer = callerOf(visit);
    const limits = await this.controls.listLimitsInUse(viewer.accountId);
    return listPage({
      ...{ visit, title: 'approvals.title', empty: 'approvals.empty' },
      query: listQuery({ kind: z.enum(sendingKinds).optional() }),
      filters: { kind: { label: 'word.kind', options: sendingKinds, of: 'approvals.kind' } },
      isCursor: isWaitingCursor,
      read: async (page, { kind }) =>
        toList(await this.waiting.listPage(viewer, page, kind), page, writeWaitingCursor),
      total: ({ kind }) => this.waiting.total(viewer.accountId, kind),
      columns: async (rows) => waitingColumns(visit, await this.nameOf(visit, rows), true),
      around: (table, rows) =>
        rows.length > 0 && visit.may('approve payments') ? <Choice>{table}</Choice> : table,
      before: <Done />,
      after: (
        <>
          <p>
            <a href={visit.to('approval-policy')}>{t('policy.title')}</a>
          </p>
          <Limits limits={limits} />
        </>
      ),
    });
  }

  /** Several at once, with their total, before they are decided. */
  @ConsolePage('approvals/batch', 'view')
  async batch(@Visiting() visit: Visit): Promise<PageAnswer> {
    const ids = visit.query.getAll('operation').filter(isUuid).slice(0, maxDecidedTogether);
    if (ids.length === 0) return new Redirect(visit.to('approvals'));
    return this.preview(visit, await this.waiting.listOf(callerOf(visit), ids), []);
  }

  /** The rows of an uploaded file that await approval. */
  @ConsolePage('approvals/uploads/:id', 'view')
  async upload(@Visiting() visit: Visit): Promise<PageAnswer> {
    const uploadId = pathId(visit);
    const afterLine = Number(/^\d{1,6}$/.exec(visit.query.get('after') ?? '')?.[0] ?? 0);
    const rows = await this.waiting.listOfUpload(callerOf(visit), uploadId, afterLine);
    return this.preview(visit, rows, [], uploadId);
  }

  @ConsolePage('approvals/:id', 'view')
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.detail(visit, pathId(visit), []);
  }

  /** Whom an approval pays, before it is given. */
  @ConsoleAction('approvals/confirm', 'approve payments', 'own')
  async confirm(@Visiting() visit: Visit): Promise<PageAnswer> {
    const read = readDecision(visit);
    const { operations, uploadId } = read;
    if (read.reason === '') return this.refusals(visit, operations, noReason(operations), uploadId);
    const asked = await this.readMoney(visit, operations);
    const none = operations.map((one) => ({ ...one, code: 'not_awaiting_approval' }));
    if (asked.operations.length === 0) return this.refusals(visit, operations, none, uploadId);
    return this.confirmation(visit, read, asked);
  }

  @ConsoleAction('approvals/decide', 'approve payments', 'own')
  async decide(@Visiting() visit: Visit): Promise<PageAnswer> {
    const read = readDecision(visit);
    const { decision, operations, reason, uploadId } = read;
    if (reason === '') return this.refusals(visit, operations, noReason(operations), uploadId);
    if (decision === 'approve') {
      const asked = await this.readMoney(visit, operations);
      // What awaits approval no more is refused, and the page says so.
      if (asked.operations.length > 0 && !isConfirmed(visit, asked.money))
        return this.confirmation(visit, read, asked, factsChanged());
    }
    const refused = await this.decisions.decide(callerOf(visit), operations, { decision, reason });
    if (refused.length > 0) return this.refusals(visit, operations, refused, uploadId);
    const done = `done=${decision}&count=${operations.length}`;
    return new Redirect(`${await this.nextPage(visit, operations, uploadId)}?${done}`);
  }

  /** What the operations pay that still await approval. */
  private async readMoney(visit: Visit, seen: readonly SeenOperation[]): Promise<AskedMoney> {
    const ids = seen.map(({ id }) => id);
    const rows = await this.waiting.listOf(callerOf(visit), ids);
    const nameOf = await this.nameOf(visit, rows);
    const operations = seen.filter((one) => rows.some(({ id }) => id === one.id));
    return { operations, money: moneyOf(visit, rows, nameOf) };
  }

  private async confirmation(
    visit: Visit,
    { reason, uploadId }: ReadDecision,
    { operations, money }: AskedMoney,
    problem: AppError | null = null,
  ): Promise<Shown> {
    const { accountId } = visit;
    const [first] = operations;
    const isOne = operations.length === 1;
    const facts = isOne && first ? await this.facts.read(callerOf(visit), first.id) : null;
    const body = (
      <ConfirmMoney
        {...{ money, balances: await this.balances.findBalances(accountId) }}
        action={visit.to('approvals/decide')}
        button={approveButton}
        warning="approvals.confirmWhy"
        {...(first && isOne ? { shown: first.requestHash } : {})}
        hidden={{
          ...{ decision: 'approve', reason, operation: operations.map(writeOperation) },
          ...(uploadId === null ? {} : { upload: uploadId }),
        }}
        back={{ href: visit.cameFrom, text: 'app.back' }}
      >
        {facts && <BatchItems facts={facts} />}
      </ConfirmMoney>
    );
    const title = visit.t(isOne ? 'approvals.one' : 'approvals.batch');
    return new Shown(title, body, problem ? statusOf(problem) : {});
  }

  /** After one payment, the next one that the person can decide; after a file, its next rows. */
  private async nextPage(
    visit: Visit,
    operations: readonly SeenOperation[],
    uploadId: string | null,
  ): Promise<string> {
    const viewer = callerOf(visit);
    if (uploadId !== null) {
      const rows = await this.waiting.listOfUpload(viewer, uploadId);
      if (rows.some(({ own }) => own === null)) return visit.to(`approvals/uploads/${uploadId}`);
    }
    const next = operations.length === 1 ? await this.waiting.findNext(viewer) : null;
    return visit.to(next === null ? 'approvals' : `approvals/${next}`);
  }

  private async refusals(
    visit: Visit,
    operations: readonly SeenOperation[],
    refused: RefusedDecision[],
    uploadId: string | null,
  ): Promise<PageAnswer> {
    const [first] = operations;
    if (first && operations.length === 1) return this.detail(visit, first.id, refused);
    const ids = refused.map(({ id }) => id);
    const rows = await this.waiting.listOf(callerOf(visit), ids);
    return this.preview(visit, rows, refused, uploadId);
  }

  private async preview(
    visit: Visit,
    rows: readonly Waiting[],
    refused: RefusedDecision[],
    uploadId: string | null = null,
  ): Promise<Shown> {
    const { t } = visit;
    const decidable = rows.filter(({ own, isExpired }) => own === null && !isExpired);
    const nameOf = await this.nameOf(visit, rows);
    const body = (
      <>
        <Done />
        <Refusals refused={refused} />
        {rows.length === 0 ? (
          <Empty>{t('approvals.noneLeft')}</Empty>
        ) : (
          <ListCard>
            <ListTable
              {...{ rows, name: 'approvals.title' }}
              columns={waitingColumns(visit, nameOf, false)}
            />
          </ListCard>
        )}
        {decidable.length < rows.length && (
          <Message kind="warn">
            {t('approvals.leftOut', { count: rows.length - decidable.length })}
          </Message>
        )}
        {uploadId !== null && rows.length === maxDecidedTogether && (
          <Muted>
            {t('approvals.moreRows')}{' '}
            <a href={`${visit.to(`approvals/uploads/${uploadId}`)}?after=${rows.at(-1)?.line}`}>
              {t('app.next')}
            </a>
          </Muted>
        )}
        {decidable.length > 0 && <DecisionForm operations={decidable} {...{ nameOf, uploadId }} />}
        <Back />
      </>
    );
    const title = t(uploadId === null ? 'approvals.batch' : 'approvals.upload');
    return new Shown(title, body, refused.length > 0 ? { status: 409 } : {});
  }

  private async detail(visit: Visit, id: string, refused: RefusedDecision[]): Promise<Shown> {
    const { t } = visit;
    const viewer = callerOf(visit);
    const facts = await this.facts.read(viewer, id);
    const [waiting] = await this.waiting.listOf(viewer, [id]);
    const actors = facts.detail.approval.decisions.map(({ actor }) => actor);
    const nameOf = await this.names.find(visit, [facts.detail.approval.requestedBy, ...actors]);
    const props = { facts, nameOf };
    const state = findTextKey(`approvals.state.${facts.detail.state}`);
    const body = (
      <>
        <Done />
        <Refusals refused={refused} />
        {waiting ? (
          <>
            <Similar {...props} />
            <Cards is="facts">
              <PaymentFacts {...props} waiting={waiting} />
              <RequestFacts {...props} waiting={waiting} />
              <Limits limits={facts.limits} />
              <Decisions {...props} />
            </Cards>
            <BatchItems {...props} />
            <ExactRequest {...props} />
            <Decision {...{ waiting, nameOf }} />
          </>
        ) : (
          <>
            <Message kind="warn">
              {t('approvals.ended')} {state && t(state)}{' '}
              <a href={visit.to(`operations/${id}`)}>{t('payment.see.operation')}</a>
            </Message>
            <Cards is="facts">
              <Decisions {...props} />
            </Cards>
          </>
        )}
        <Back />
      </>
    );
    const title = t('approvals.one');
    return new Shown(title, body, refused.length > 0 ? { status: 409 } : {});
  }

  private nameOf(visit: Visit, rows: readonly Waiting[]): Promise<NameOfActor> {
    return this.names.find(
      visit,
      rows.map(({ requestedBy }) => requestedBy),
    );
  }
}

/** Whoever may decide chooses rows, and sees them with their total before deciding. */
function Choice({ children }: { children: ComponentChildren }) {
  const { to, t } = useVisit();
  return (
    <AskingForm action={to('approvals/batch')}>
      {children}
      <ActionBar name="word.actions">
        <button>{t('approvals.decideChosen')}</button>
      </ActionBar>
    </AskingForm>
  );
}

function moneyOf(visit: Visit, rows: readonly Waiting[], nameOf: NameOfActor): Money {
  const payees = rows.map((row) => moneyPayeeOf(visit, row, nameOf));
  return { payees, totalCents: payees.reduce((sum, one) => sum + one.amountCents, 0n) };
}

function Decision({ waiting, nameOf }: { waiting: Waiting; nameOf: NameOfActor }) {
  const { t } = useVisit();
  const { own, isExpired } = waiting;
  if (isExpired) return <Message kind="warn">{t('approvals.refusal.approval_expired')}</Message>;
  if (own !== null) return <Message kind="warn">{t(`approvals.ownWhy.${own}`)}</Message>;
  return <DecisionForm operations={[waiting]} nameOf={nameOf} />;
}

const decisionFields = {
  reason: { ...reasonField.reason, hint: 'approvals.reasonHint' },
} as const;

const approveButton = { one: 'money.approve', many: 'money.approveAll' } as const;

/** A field carries each operation with the hash of the request that the page shows. */
function DecisionForm({
  operations,
  nameOf,
  uploadId = null,
}: {
  operations: readonly Waiting[];
  nameOf: NameOfActor;
  /** The upload whose rows are decided; null for others. */
  uploadId?: string | null;
}) {
  const visit = useVisit();
  const { t, to, may } = visit;
  if (!may('approve payments')) return <Message kind="warn">{t('approvals.needsRole')}</Message>;
  const [first] = operations;
  const isOne = operations.length === 1;
  const operation = operations.map(writeOperation);
  const money = moneyOf(visit, operations, nameOf);
  return (
    <Card title={t('approvals.decide')}>
      {!isOne && (
        <p>
          {t('approvals.total', { count: operations.length })} <Amount cents={money.totalCents} />
        </p>
      )}
      <Form
        action={to('approvals/confirm')}
        {...(first && isOne ? { shown: first.requestHash } : {})}
      >
        <Hidden values={{ operation, ...(uploadId === null ? {} : { upload: uploadId }) }} />
        <Fields fields={decisionFields} />
        <Row>
          <button name="decision" value="approve">
            {buttonText(visit, { money, button: approveButton })}
          </button>
          <Button
            {...{ is: 'plain', name: 'decision', value: 'decline' }}
            formAction={to('approvals/decide')}
          >
            {t(isOne ? 'approvals.decline' : 'approvals.declineAll')}
          </Button>
        </Row>
      </Form>
    </Card>
  );
}

/** What could not be decided, and why. */
function Refusals({ refused }: { refused: readonly RefusedDecision[] }) {
  const { t } = useVisit();
  if (refused.length === 0) return null;
  const counts = new Map<string, number>();
  for (const { code } of refused) counts.set(code, (counts.get(code) ?? 0) + 1);
  const textOf = (code: string) => {
    const key = reasonKey(code, 'approvals.refusal');
    return key ? t(key) : t('approvals.refusal.other', { code });
  };
  return (
    <Message kind="bad">
      {t('approvals.refused', { count: refused.length })}
      <ul>
        {[...counts].map(([code, count]) => (
          <li>
            {count > 1 && `${count} × `}
            {textOf(code)}
          </li>
        ))}
      </ul>
    </Message>
  );
}

/** What the form before has done. */
function Done() {
  const { t, query } = useVisit();
  const done = Object.values(ApprovalDecision).find((one) => one === query.get('done'));
  if (!done) return null;
  const count = /^\d{1,3}$/.exec(query.get('count') ?? '')?.[0] ?? '1';
  return <Message kind="good">{t(`approvals.done.${done}`, { count })}</Message>;
}

function Back() {
  const { to, t } = useVisit();
  return (
    <p>
      <a href={to('approvals')}>{t('approvals.all')}</a>
    </p>
  );
}

interface AskedMoney {
  /** Those that still await approval. */
  operations: SeenOperation[];
  money: Money;
}

interface ReadDecision {
  decision: ApprovalDecision;
  operations: SeenOperation[];
  reason: string;
  /** The upload whose rows are decided; null for others. */
  uploadId: string | null;
}

/** Throws `validation_failed` without a decision, and without what is decided. */
function readDecision(visit: Visit): ReadDecision {
  const { form } = visit;
  const decision = Object.values(ApprovalDecision).find((one) => one === form.get('decision'));
  const operations = readOperations(form);
  if (!decision || operations.length === 0) throw new AppError('validation_failed');
  const upload = form.get('upload');
  const uploadId = upload === null ? null : readUuid(upload);
  return { decision, operations, reason: typed(visit, 'reason').slice(0, 500), uploadId };
}

const noReason = (operations: readonly SeenOperation[]): RefusedDecision[] =>
  operations.map((one) => ({ ...one, code: 'no_reason' }));

const writeOperation = ({ id, requestHash }: SeenOperation) => `${id} ${requestHash}`;

/** Each field has an id and the hash of the request that the page has shown. */
function readOperations(form: URLSearchParams): SeenOperation[] {
  const fields = form.getAll('operation').slice(0, maxDecidedTogether);
  return fields.map((field) => {
    const [id = '', requestHash = ''] = field.split(' ');
    if (!isUuid(id) || requestHash === '') throw new AppError('validation_failed');
    return { id, requestHash: requestHash.slice(0, 200) };
  });
}
