// A person's actions on a break. Each action locks reconciliation first and the row of the break
// second, in the matcher's order, and is recorded in the history with its reason.
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import { missingScope } from '../../access/accounts/scope.decorator.js';
import type { RouteOutput } from '../../bank-contract/route.js';
import { Database, type Tx } from '../../platform/postgres/database.service.js';
import type { RequestSteps } from '../../access/idempotency/request-steps.service.js';
import { OperationResending } from '../../outbound/operations/operation-resending.service.js';
import {
  AppError,
  conflict,
  invalidField,
  unreachable,
  ruleBroken,
} from '../../platform/errors.js';
import { isUuid } from '../../platform/http/listing.js';
import {
  operationBreakKinds,
  statementBreakKinds,
  subjectOfExpected,
  subjectOfLine,
} from '../decide/break-kinds.js';
import type { DecisionMaker } from '../decide/model.js';
import { recordFeeTask } from '../../statement/reconciliation-tasks/reconciliation-tasks.queries.js';
import { BreakWriter } from '../apply/break-writer.service.js';
import { lockReconciliation } from '../apply/decision-writer.queries.js';
import { ReconciliationService } from '../apply/reconciliation.service.js';
import * as queries from './break-actions.queries.js';
import { listBreakIds } from './break-reading.queries.js';
import { assertSeen, BreakRefunds } from './break-refunds.service.js';
import type { actOnBreaks, BreakAction, BulkAction } from './breaks.schema.js';
import { listLiveMatches } from './manual-matches.queries.js';
import { detailOfCoding, type GivenCoding } from './reason-codes.service.js';
import { listLinkedOriginals, lockLines } from './refund-links.queries.js';
import {
  assertNoRefundInProgress,
  ManualMatches,
  toParts,
  type Link,
} from './manual-matches.service.js';

type LinkAction = Extract<BreakAction, { action: 'link' }>;
/** An action that is done in one transaction. */
type ChangingAction = Exclude<BreakAction, { action: 'refund' | 'resend' }>;
type BulkResult = RouteOutput<typeof actOnBreaks>;
type Outcome = BulkResult['data'][number];
/** What is stored of a break of a bulk action. Its state is read when the action has ended. */
type StoredOutcome = Omit<Outcome, 'id' | 'state'>;
/**
 * Claims an action in its transaction. False if the same request has done it in another process:
 * then the action has no effect.
 */
type ClaimAction = (tx: Tx) => Promise<boolean>;

const done: StoredOutcome = { outcome: 'done', code: null, title: null };
const unchanged: StoredOutcome = { outcome: 'unchanged', code: null, title: null };

/** What an action on a break would do now. */
export type ActionPreview = Outcome & {
  /** What the action would refund; null for other actions. */
  amountCents: bigint | null;
};

/** Ends the transaction of a preview without a trace. */
class PreviewEnded extends Error {
  override readonly name = 'PreviewEnded';
  constructor(readonly state: queries.LockedBreak['state']) {
    super('the preview of an action is rolled back');
  }
}

/** A break that is locked for an action of a person. */
interface Acted {
  tx: Tx;
  accountId: number;
  found: queries.LockedBreak;
  decidedBy: DecisionMaker;
}

@Injectable()
export class BreakActions {
  constructor(
    private readonly database: Database,
    private readonly breaks: BreakWriter,
    private readonly manualMatches: ManualMatches,
    private readonly refunds: BreakRefunds,
    private readonly resending: OperationResending,
    private readonly reconciliation: ReconciliationService,
  ) {}

  /**
   * Throws `not_found`, also for a break of another account; `conflict` in the wrong state, or with
   * `seen` once the break has another version; `forbidden` without the scope `refund`; and
   * `rule_broken`.
   */
  async act(
    { accountId, actor, scopes }: Caller,
    id: string,
    request: BreakAction,
    claim: ClaimAction,
    seen: string | null = null,
  ): Promise<void> {
    if (!isUuid(id)) throw new AppError('not_found');
    const decidedBy = { actor, reason: request.reason };
    switch (request.action) {
      case 'refund':
        // A refund sends money: it needs this scope besides `reconcile`. Its own key makes it once.
        if (!scopes.includes('refund')) throw missingScope('refund');
        return this.refunds.refund(accountId, id, {
          ...decidedBy,
          amountCents: request.amount ?? null,
          requestedBy: { source: 'break', actor },
          seen,
        });
      case 'resend':
        return this.resend(accountId, id, decidedBy, seen);
      default:
        return this.change(accountId, id, { decidedBy, request }, async (acted) => {
          assertSeen(acted.found, seen);
          return (await claim(acted.tx)) ? this.workOf(acted, request) : [];
        });
    }
  }

  /** Returns the operations to advance after the commit. */
  private async workOf(acted: Acted, request: ChangingAction): Promise<string[]> {
    const { tx, accountId, found, decidedBy } = acted;
    switch (request.action) {
      case 'link':
        return this.link(acted, request);
      case 'accept':
        return this.accept(acted, request);
      case 'reopen':
        return this.reopen(acted);
      case 'note': {
        const detail = await detailOfCoding(tx, accountId, request);
        await queries.insertBreakHistoryEntry(tx, accountId, found.id, 'note', decidedBy, detail);
        return [];
      }
      default:
        return unreachable(request);
    }
  }

  /**
   * What the action would do now, found by doing it in a transaction that is rolled back. Of a
   * refund, only what the break and its Pix allow is checked: the bank may still refuse it, and a
   * policy may require an approval.
   */
  async preview(
    { accountId, actor, scopes }: Caller,
    id: string,
    action: BulkAction['action'],
  ): Promise<ActionPreview> {
    const decidedBy = { actor, reason: '' };
    const before = await this.find(accountId, id);
    const state = before?.state ?? null;
    if (isDoneBefore(before, action)) return { id, state, ...unchanged, amountCents: null };
    try {
      if (action !== 'refund')
        return await this.previewOf(accountId, id, decidedBy, { action, reason: '' });
      if (!scopes.includes('refund')) throw missingScope('refund');
      const requestedBy = { source: 'break', actor } as const;
      const request = { ...decidedBy, amountCents: null, requestedBy };
      const amountCents = await this.refunds.findAmount(accountId, id, request);
      return { id, state, ...(amountCents === null ? unchanged : done), amountCents };
    } catch (error) {
      return { id, state, ...refusalOf(error), amountCents: null };
    }
  }

  private async previewOf(
    accountId: number,
    id: string,
    decidedBy: DecisionMaker,
    request: ChangingAction,
  ): Promise<ActionPreview> {
    const ended = await this.database
      .transaction(async (tx) => {
        const found = await this.lockFor(tx, accountId, id, request);
        await this.workOf({ tx, accountId, found, decidedBy }, request);
        throw new PreviewEnded((await lock(tx, accountId, id)).state);
      })
      .catch((error: unknown) => {
        if (error instanceof PreviewEnded) return error;
        throw error;
      });
    return { id, state: ended.state, ...done, amountCents: null };
  }

  /**
   * Applies one action to many breaks, one after the other, each in its own transaction. The breaks
   * are selected once, and each is acted on once, however many processes do the request.
   */
  async actOnMany(
    caller: Caller,
    request: BulkAction,
    steps: RequestSteps,
    seen: ReadonlyMap<string, string> = new Map(),
  ): Promise<BulkResult> {
    const { action, reason, reasonCode, coding } = request;
    const each = { action, reason, ...(reasonCode && { reasonCode }), ...(coding && { coding }) };
    if (action === 'refund' && !caller.scopes.includes('refund')) throw missingScope('refund');
    const selected = await steps.once('select', () => this.select(caller, request));
    const data: Outcome[] = [];
    for (const id of selected) {
      const claim: ClaimAction = (tx) => steps.record(tx, stepOf(id), done);
      const stored = await steps.once(stepOf(id), () =>
        this.actOnOne(caller, id, each, claim, seen.get(id) ?? null),
      );
      const state = (await this.find(caller.accountId, id))?.state ?? null;
      data.push({ id, state, ...stored });
    }
    const count = (outcome: Outcome['outcome']) =>
      data.filter((one) => one.outcome === outcome).length;
    const counts = {
      done: count('done'),
      unchanged: count('unchanged'),
      refused: count('refused'),
    };
    return { data, counts };
  }

  private async select({ accountId }: Caller, request: BulkAction): Promise<string[]> {
    const ids = request.ids ?? (await listBreakIds(this.database.prisma, accountId, request));
    // Ids are compared without regard to case.
    return [...new Set(ids.map((one) => one.toLowerCase()))];
  }

  private async actOnOne(
    caller: Caller,
    id: string,
    request: Pick<BulkAction, 'action' | 'reason'> & GivenCoding,
    claim: ClaimAction,
    seen: string | null,
  ): Promise<StoredOutcome> {
    if (isDoneBefore(await this.find(caller.accountId, id), request.action)) return unchanged;
    try {
      await this.act(caller, id, request, claim, seen);
    } catch (error) {
      return refusalOf(error);
    }
    return done;
  }

  private async find(accountId: number, id: string) {
    const where = { accountId_id: { accountId, id } };
    return isUuid(id) ? this.database.prisma.break.findUnique({ where }) : null;
  }

  /**
   * Runs a change in one transaction. It returns the operations to advance after the commit.
   */
  private async change(
    accountId: number,
    id: string,
    { decidedBy, request }: { decidedBy: DecisionMaker; request: ChangingAction },
    work: (acted: Acted) => Promise<string[]>,
  ): Promise<void> {
    const operationIds = await this.database.transaction(async (tx) => {
      const found = await this.lockFor(tx, accountId, id, request);
      return work({ tx, accountId, found, decidedBy });
    });
    await this.reconciliation.enqueueAfterAction(accountId, operationIds);
  }

  /** Locks reconciliation, then the lines that the action links or unlinks, then the break. */
  private async lockFor(
    tx: Tx,
    accountId: number,
    id: string,
    request: ChangingAction,
  ): Promise<queries.LockedBreak> {
    await lockReconciliation(tx, accountId);
    const about = await tx.break.findUnique({ where: { accountId_id: { accountId, id } } });
    if (about && request.action === 'link')
      await this.manualMatches.lockFor(tx, accountId, linkOf(about, request));
    const linked =
      request.action === 'reopen' ? await queries.findLastLinkedLine(tx, accountId, id) : null;
    if (linked !== null)
      await lockLines(tx, accountId, [
        linked,
        ...(await listLinkedOriginals(tx, accountId, linked)),
      ]);
    return lock(tx, accountId, id);
  }

  private async link(
    { tx, accountId, found, decidedBy }: Acted,
    request: LinkAction,
  ): Promise<string[]> {
    const { id } = assertOpen(found);
    const link = linkOf(found, request);
    await assertNoRefundInProgress(tx, accountId, { breakId: id });
    const detail = await detailOfCoding(tx, accountId, request);
    const linked = await this.manualMatches.link(tx, accountId, link, decidedBy, { id, detail });
    return linked.operationIds;
  }

  private async accept(
    { tx, accountId, found, decidedBy }: Acted,
    coded: GivenCoding,
  ): Promise<string[]> {
    const { id } = assertOpen(found);
    await assertNoRefundInProgress(tx, accountId, { breakId: id });
    await this.refunds.withdrawMissing(tx, accountId, found);
    const covered = {
      ...coveredByAcceptance(found),
      ...(await detailOfCoding(tx, accountId, coded)),
    };
    await queries.insertBreakHistoryEntry(tx, accountId, id, 'accept', decidedBy, covered);
    const resolved = await queries.resolveBreak(tx, accountId, id, 'accept', decidedBy);
    this.breaks.reportResolved(tx, accountId, resolved);
    return this.decideAgain(tx, accountId, found);
  }

  private async reopen({ tx, accountId, found, decidedBy }: Acted): Promise<string[]> {
    const { id, state, resolution } = found;
    if (state === 'open') throw conflict('already_open', 'The break is already open.');
    if (resolution === 'automatic')
      throw conflict(
        'resolved_automatically',
        'Only a resolution by a person or a policy can be reopened, not an automatic one.',
      );
    await queries.insertBreakHistoryEntry(tx, accountId, id, 'reopen', decidedBy);
    if (resolution === 'accept') await this.refunds.reinstateMissing(tx, accountId, found);
    if (resolution === 'link') await this.unlink(tx, accountId, id, decidedBy);
    const reopened = await queries.reopenBreak(tx, accountId, id);
    this.breaks.reportOpened(tx, accountId, reopened);
    const operationIds = await this.decideAgain(tx, accountId, found);
    const { state: now } = await lock(tx, accountId, id);
    if (now === 'resolved')
      throw conflict(
        'nothing_to_reopen',
        'The statement no longer shows what the break was about.',
      );
    return operationIds;
  }

  private async unlink(
    tx: Tx,
    accountId: number,
    id: string,
    decidedBy: DecisionMaker,
  ): Promise<void> {
    const nsu = await queries.findLastLinkedLine(tx, accountId, id);
    if (nsu === null || !(await hasLink(tx, accountId, nsu))) return;
    await this.manualMatches.unlink(tx, accountId, { nsu, matchId: null }, decidedBy);
  }

  /** Decides what the break is about again, with the person's decision. */
  private async decideAgain(
    tx: Tx,
    accountId: number,
    { kind, nsu, expectedPaymentId, operationId }: queries.LockedBreak,
  ): Promise<string[]> {
    if (statementBreakKinds.includes(kind)) await this.breaks.refreshStatementBreaks(tx, accountId);
    if (kind === 'fee_mismatch' && nsu !== null) await recordFeeTask(tx, accountId, nsu);
    return this.reconciliation.decideNow(tx, accountId, {
      nsus: nsu === null ? [] : [nsu],
      expectedPaymentIds: expectedPaymentId === null ? [] : [expectedPaymentId],
      operationIds: operationId === null ? [] : [operationId],
    });
  }

  private async resend(
    accountId: number,
    id: string,
    decidedBy: DecisionMaker,
    seen: string | null,
  ): Promise<void> {
    const operationId = await this.database.transaction(async (tx) => {
      await lockReconciliation(tx, accountId);
      const found = assertOpen(await lock(tx, accountId, id));
      assertSeen(found, seen);
      const { kind, operationId: unknown } = found;
      if (!operationBreakKinds.includes(kind) || unknown === null)
        throw conflict(
          'not_safe_to_resend',
          'Only an operation with an unknown outcome can be resent.',
        );
      await this.resending.reopen(tx, accountId, unknown);
      const detail = { operationId: unknown };
      await queries.insertBreakHistoryEntry(tx, accountId, id, 'resend', decidedBy, detail);
      return unknown;
    });
    await this.resending.send(accountId, operationId);
    await this.reconciliation.enqueueAfterAction(accountId, []);
  }
}

/** Whether the break already has the state that the action leads to. */
function isDoneBefore(
  before: { state: string; resolution: string | null } | null,
  action: BulkAction['action'],
): boolean {
  if (action === 'reopen') return before?.state === 'open';
  return before?.state === 'resolved' && before.resolution === action;
}

/** An AppError concerns this break or the bank and is reported; a bug is thrown. */
function refusalOf(error: unknown): StoredOutcome {
  if (!(error instanceof AppError)) throw error;
  const { code, details } = error;
  return { outcome: 'refused', code: details.reason ?? code, title: details.public ?? null };
}

const stepOf = (breakId: string) => `break ${breakId}`;

async function lock(tx: Tx, accountId: number, id: string): Promise<queries.LockedBreak> {
  const found = await queries.lockBreak(tx, accountId, id);
  if (!found) throw new AppError('not_found');
  return found;
}

function assertOpen(found: queries.LockedBreak): queries.LockedBreak {
  if (found.state !== 'open') throw conflict('already_resolved', 'The break is already resolved.');
  return found;
}

/**
 * What an acceptance covers: the amount of the break at that time, and for a gap or a day the jumps
 * of the balance. The row of the break changes afterwards; this does not.
 */
function coveredByAcceptance({ amountCents, evidence: { jumps } }: queries.LockedBreak): object {
  return {
    cents: amountCents?.toString() ?? null,
    ...(jumps === undefined ? {} : { jumps }),
  };
}

/** The break has the line or the expected payment. The action contains the missing one. */
function linkOf(
  {
    nsu,
    subject,
    expectedPaymentId,
  }: Pick<queries.LockedBreak, 'nsu' | 'subject' | 'expectedPaymentId'>,
  request: LinkAction,
): Link {
  if (nsu !== null && subject === subjectOfLine(nsu)) {
    const { expectedPaymentId: whole, allocations, refundOf } = request;
    if (request.nsu !== undefined && request.nsu !== nsu)
      throw invalid('nsu must be the nsu of the break’s line, or be left out.');
    if ([whole, allocations, refundOf].filter((one) => one !== undefined).length !== 1)
      throw invalid('Must have one of expectedPaymentId, allocations and refundOf.');
    if (whole !== undefined) return linkOfWhole(nsu, whole);
    return { nsu, ...toParts(request) };
  }
  if (expectedPaymentId === null || subject !== subjectOfExpected(expectedPaymentId))
    throw ruleBroken(
      'not_linkable',
      'Only a break of a line or of an expected payment can be linked.',
    );
  if (request.nsu === undefined)
    throw invalid('nsu is required: the line that pays the expected payment.');
  return linkOfWhole(request.nsu, expectedPaymentId);
}

const linkOfWhole = (nsu: bigint, expectedPaymentId: string): Link => ({
  nsu,
  allocations: [{ expectedPaymentId, amountCents: null }],
});

/** Whether a link of the line stands: as a match, or to what it refunds. */
async function hasLink(tx: Tx, accountId: number, nsu: bigint): Promise<boolean> {
  const live = await listLiveMatches(tx, accountId, nsu);
  return live.length > 0 || (await listLinkedOriginals(tx, accountId, nsu)).length > 0;
}

const invalid = (message: string) => invalidField('$.action', message);
