// An operation: the request to the bank, its attempts and their answers, its approvals and what it
// was for. One whose outcome nobody knows can be resent where that is proven safe.
import { Controller } from '@nestjs/common';
import type { RouteOutput } from '../../bank-contract/route.js';
import { Database } from '../../platform/postgres/database.service.js';
import { OperationDetails } from '../../outbound/operations/operation-details.service.js';
import type { getOperation } from '../../outbound/operations/operations.schema.js';
import type { AppError } from '../../platform/errors.js';
import { isJsonObject } from '../../platform/json/exact-json.js';
import { BreakActions } from '../../reconciliation/breaks/break-actions.service.js';
import { ActorNames } from '../actor-names.service.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { ConfirmMoney, factsChanged, isConfirmed, type Money } from '../kit/confirm-money.js';
import { FactList, Message, Cards } from '../kit/elements.js';
import { FormCard, statusOf } from '../kit/form.js';
import { MoneyFacts } from '../money-facts.service.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { callerOf, pathId, requireReason, typed, useVisit, type Visit } from '../visit.js';
import type { TextKey } from '../texts.js';
import { PaymentStories } from './payment-stories.service.js';
import {
  Exchanged,
  Identifier,
  OutcomeNotice,
  RelatedRecords,
  RecordStateBadge,
  type RelatedLink,
} from './record-page.js';
import { problemOf, ProblemNotice } from './request-form.js';
import { Story, shownValue } from './story-timeline.js';
import { awaitedOf, wordFor } from './story.js';
import { findOperationRecords, findUnknownOutcomeBreak } from './story.queries.js';

type Operation = RouteOutput<typeof getOperation>;
type Records = NonNullable<Awaited<ReturnType<typeof findOperationRecords>>>;

@Controller()
export class OperationPages {
  constructor(
    private readonly details: OperationDetails,
    private readonly stories: PaymentStories,
    private readonly actorNames: ActorNames,
    private readonly breakActions: BreakActions,
    private readonly database: Database,
    private readonly money: MoneyFacts,
  ) {}

  @ConsolePage('operations/:id', 'view')
  async operation(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.page(visit, null);
  }

  /** Whom the request pays that is sent again, before it is. */
  @ConsoleAction('operations/:id/resend/confirm', 'request payments', 'own')
  async confirmResend(@Visiting() visit: Visit): Promise<PageAnswer> {
    requireReason(visit);
    const asked = await this.readResend(visit);
    if (asked === null) return new Redirect(visit.to(`operations/${pathId(visit)}`));
    return this.confirmation(visit, asked, null);
  }

  @ConsoleAction('operations/:id/resend', 'request payments', 'resend operation', 'operation :id')
  async resend(@Visiting() visit: Visit): Promise<PageAnswer> {
    const reason = requireReason(visit);
    const id = pathId(visit);
    const asked = await this.readResend(visit);
    // The form was sent before, or the operation was resent meanwhile: the record shows it.
    if (asked === null || visit.form.get('attempts') !== String(asked.attempts))
      return new Redirect(visit.to(`operations/${id}`));
    if (!isConfirmed(visit, asked.money)) return this.confirmation(visit, asked, factsChanged());
    try {
      const action = { action: 'resend', reason } as const;
      const act = () => Promise.resolve(true);
      await this.breakActions.act(callerOf(visit), asked.breakId, action, act);
      return new Redirect(visit.to(`operations/${id}`));
    } catch (error) {
      return this.page(visit, problemOf(error));
    }
  }

  /** Null for an operation that cannot be sent again. */
  private async readResend(visit: Visit): Promise<AskedResend | null> {
    const { prisma } = this.database;
    const { accountId } = callerOf(visit);
    const id = pathId(visit);
    const { attempts } = await this.details.get(callerOf(visit), id);
    const found = await findUnknownOutcomeBreak(prisma, accountId, id);
    if (found === null) return null;
    const where = { accountId_id: { accountId, id } };
    const operation = await prisma.operation.findUniqueOrThrow({ where });
    const [payee, asked] = await Promise.all([
      this.money.findPayee(visit, operation),
      this.money.readAsked(visit),
    ]);
    const { amountCents } = operation;
    const facts = [['payment.attempts', String(attempts)]] as const;
    const payees = amountCents === null ? [] : [{ ...payee, asked, amountCents }];
    const money = { payees, totalCents: amountCents ?? 0n, facts };
    return { attempts, breakId: found.id, money };
  }

  private async confirmation(
    visit: Visit,
    { attempts, money }: AskedResend,
    problem: AppError | null,
  ): Promise<Shown> {
    const id = pathId(visit);
    const page = visit.to(`operations/${id}`);
    const body = (
      <ConfirmMoney
        {...{ money, balances: await this.money.findBalances(visit.accountId) }}
        action={`${page}/resend`}
        button={{ one: money.payees.length > 0 ? 'money.resend' : 'payment.resend' }}
        warning="payment.resendWhat"
        shown={`operation ${id}, attempts ${attempts}`}
        hidden={{ attempts: String(attempts), reason: typed(visit, 'reason') }}
        back={{ href: page, text: 'app.back' }}
      />
    );
    const options = { isNarrow: true, ...statusOf(problem) };
    return new Shown(visit.t('payment.resend'), body, options);
  }

  private async page(visit: Visit, problem: AppError | null): Promise<Shown> {
    const caller = callerOf(visit);
    const { prisma } = this.database;
    const operation = await this.details.get(caller, pathId(visit));
    const { id, state } = operation;
    const [records, resendable] = await Promise.all([
      findOperationRecords(prisma, caller.accountId, id),
      state === 'needs_operator' && visit.may('request payments')
        ? findUnknownOutcomeBreak(prisma, caller.accountId, id)
        : null,
    ]);
    const story = await this.stories.compose(visit, {
      operationIds: [id],
      expectedPaymentIds: records?.expectedPayments.map((one) => one.id) ?? [],
      resources: [{ kind: 'operation', id }],
    });
    const names = await this.actorNames.find(visit, [records?.requestedBy ?? null]);
    const requester = records?.requestedBy ? names(records.requestedBy) : visit.t('app.none');
    const body = (
      <>
        {problem && <ProblemNotice problem={problem} />}
        <OutcomeNotice operation={{ operationState: state, operationId: id }} />
        <Cards>
          <OperationFacts {...{ operation, requester, source: records?.source ?? 'api' }} />
          <RelatedRecords links={[...linksOf(operation, records), ...story.breaks]} />
        </Cards>
        {resendable !== null && <ResendForm operation={operation} />}
        <Story {...story} awaited={awaitedOf({ operationState: state, settlement: null })} />
        <Exchanged title="payment.sent" value={operation.request} />
        <Exchanged title="payment.response" value={operation.response} />
      </>
    );
    const title = visit.t('payment.operationTitle', {
      kind: shownValue(visit, wordFor('payment.kind', operation.kind)),
    });
    return new Shown(title, body, { status: problem?.status ?? 200 });
  }
}

interface AskedResend {
  attempts: number;
  breakId: string;
  money: Money;
}

interface Props {
  operation: Operation;
}

function OperationFacts({
  operation,
  source,
  requester,
}: Props & { source: string; requester: string }) {
  const visit = useVisit();
  const { t, time } = visit;
  const { state, reason, responseStatus, attempts } = operation;
  return (
    <FactList
      title="word.summary"
      facts={[
        ['word.status', <RecordStateBadge list="list.operationState" state={state} />],
        ...(reason === null
          ? []
          : [['app.reason', shownValue(visit, wordFor('payment.reason', reason))] as const]),
        ['word.requestedBy', requester],
        ['payment.through', shownValue(visit, wordFor('payment.source', source))],
        ['payment.attempts', String(attempts)],
        [
          'payment.responseStatus',
          responseStatus === null ? t('app.none') : String(responseStatus),
        ],
        ['word.createdAt', time(operation.createdAt)],
        ['payment.endedAt', time(operation.endedAt)],
        ['payment.id', <Identifier text={operation.id} />],
        ['referenceKind.idempotency_key', <Identifier text={operation.idempotencyKey} />],
        ['payment.bankReference', <Identifier text={operation.bankReference} />],
      ]}
    />
  );
}

/** What the operation was for. A change of a charge names it in its path. */
function linksOf({ request }: Operation, records: Records | null): RelatedLink[] {
  const params = isJsonObject(request.params) ? request.params : {};
  const changed = typeof params.correlationId === 'string' ? params.correlationId : null;
  const link = (label: TextKey, list: string, id: string | null | undefined): RelatedLink[] =>
    id ? [{ label, list, id }] : [];
  return [
    ...link('payment.record.charge', 'charges', records?.charge?.correlationId ?? changed),
    ...(records?.transfers ?? []).flatMap(({ id }) =>
      link('payment.record.transfer', 'transfers', id),
    ),
    ...link('payment.record.bill', 'bills', records?.billPayment?.id),
    ...link('payment.record.refund', 'refunds', records?.refund?.id),
    ...(records?.expectedPayments ?? []).flatMap(({ id }) =>
      link('word.expectedPayment', 'expected-payments', id),
    ),
  ];
}

function ResendForm({ operation: { id } }: Props) {
  const { to, t } = useVisit();
  return (
    <FormCard
      {...{ fields: {}, title: 'payment.resend', button: 'app.continue' }}
      action={to(`operations/${id}/resend/confirm`)}
      asksReason
    >
      <Message kind="warn">{t('payment.resendWhat')}</Message>
    </FormCard>
  );
}
