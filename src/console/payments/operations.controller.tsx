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
import { FactList } from '../kit/elements.js';
import { FormCard } from '../kit/form.js';
import { formatTime } from '../formats.js';
import { Message } from '../kit/frame.js';
import { Cards } from '../kit/layout.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import type { TextKey } from '../texts.js';
import { callerOf, isAllowedTo, pathId, pathTo, requireReason } from '../visit.js';
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

const path = '/console/accounts/:account/operations/:id';

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
  ) {}

  @ConsolePage({ path, needs: 'view' })
  async operation(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.page(visit, null);
  }

  @ConsoleAction({
    path: `${path}/resend`,
    needs: 'request payments',
    audit: { action: 'resend operation', subject: (visit) => `operation ${pathId(visit)}` },
  })
  async resend(@Visiting() visit: Visit): Promise<PageAnswer> {
    const reason = requireReason(visit);
    const id = pathId(visit);
    const { accountId } = callerOf(visit);
    const { attempts } = await this.details.get(callerOf(visit), id);
    const found = await findUnknownOutcomeBreak(this.database.prisma, accountId, id);
    // The form was sent before, or the operation was resent meanwhile: the record shows it.
    if (found === null || visit.form.get('attempts') !== String(attempts))
      return new Redirect(pathTo(visit, `operations/${id}`));
    try {
      const action = { action: 'resend', reason } as const;
      await this.breakActions.act(callerOf(visit), found.id, action, () => Promise.resolve(true));
      return new Redirect(pathTo(visit, `operations/${id}`));
    } catch (error) {
      return this.page(visit, problemOf(error));
    }
  }

  private async page(visit: Visit, problem: AppError | null): Promise<Shown> {
    const caller = callerOf(visit);
    const { prisma } = this.database;
    const operation = await this.details.get(caller, pathId(visit));
    const { id, state } = operation;
    const [records, resendable] = await Promise.all([
      findOperationRecords(prisma, caller.accountId, id),
      state === 'needs_operator' && isAllowedTo(visit, 'request payments')
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
        {problem && <ProblemNotice visit={visit} problem={problem} />}
        <OutcomeNotice visit={visit} operation={{ operationState: state, operationId: id }} />
        <Cards>
          <OperationFacts {...{ visit, operation, requester, source: records?.source ?? 'api' }} />
          <RelatedRecords visit={visit} links={[...linksOf(operation, records), ...story.breaks]} />
        </Cards>
        {resendable !== null && <ResendForm visit={visit} operation={operation} />}
        <Story
          {...{ visit, ...story }}
          awaited={awaitedOf({ operationState: state, settlement: null })}
        />
        <Exchanged visit={visit} title="payment.sent" value={operation.request} />
        <Exchanged visit={visit} title="payment.response" value={operation.response} />
      </>
    );
    const title = visit.t('payment.operationTitle', {
      kind: shownValue(visit, wordFor('payment.kind', operation.kind)),
    });
    return new Shown(title, body, { status: problem?.status ?? 200 });
  }
}

interface Props {
  visit: Visit;
  operation: Operation;
}

function OperationFacts({
  visit,
  operation,
  source,
  requester,
}: Props & { source: string; requester: string }) {
  const { t, language } = visit;
  const { state, reason, responseStatus, attempts } = operation;
  return (
    <FactList
      visit={visit}
      title="payment.facts"
      facts={[
        [
          'payment.state',
          <RecordStateBadge visit={visit} list="payment.operation" state={state} />,
        ],
        ...(reason === null
          ? []
          : [['payment.why', shownValue(visit, wordFor('payment.reason', reason))] as const]),
        ['payment.requestedBy', requester],
        ['payment.through', shownValue(visit, wordFor('payment.source', source))],
        ['payment.attempts', String(attempts)],
        [
          'payment.responseStatus',
          responseStatus === null ? t('app.none') : String(responseStatus),
        ],
        ['payment.createdAt', formatTime(operation.createdAt, language)],
        ['payment.endedAt', formatTime(operation.endedAt, language)],
        ['payment.id', <Identifier text={operation.id} />],
        ['payment.idempotencyKey', <Identifier text={operation.idempotencyKey} />],
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
      link('payment.expectedPayment', 'expected-payments', id),
    ),
  ];
}

function ResendForm({ visit, operation: { id, attempts } }: Props) {
  return (
    <FormCard
      {...{ visit, fields: {}, title: 'payment.resend', button: 'payment.resendNow' }}
      action={pathTo(visit, `operations/${id}/resend`)}
      shown={`operation ${id}, attempts ${attempts}`}
      hidden={{ attempts: String(attempts) }}
      asksReason
    >
      <Message kind="warn">{visit.t('payment.resendWhat')}</Message>
    </FormCard>
  );
}
