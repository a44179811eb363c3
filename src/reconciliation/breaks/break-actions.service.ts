// What a person does about a break: each action under the lock of its row, with its reason, and written down. The
// judgement is locked before the break, as the judge does it, where an action touches matches.
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../accounts/api-keys.service.js';
import { Database, type Tx } from '../../database.service.js';
import { OperationResending } from '../../operations/operation-resending.service.js';
import { AppError, unreachable } from '../../platform/errors.js';
import { isUuid } from '../../platform/listing.js';
import { subjectOfExpected, subjectOfLine, lineBreakKinds } from '../line-outcome.js';
import { Breaks } from '../breaks.service.js';
import { deleteRefundClassifications } from '../refunded-breaks.queries.js';
import { touchRules } from '../rules/rules.queries.js';
import { lockReconciliation } from '../outcomes.queries.js';
import * as queries from './break-actions.queries.js';
import { BreakRefunds } from './break-refunds.service.js';
import type { BreakAction } from './breaks.schema.js';
import { ManualMatchAnnouncements } from './manual-match-announcements.service.js';
import type { Hand } from './manual-matches.queries.js';
import { assertNoRefundUnderWay, ManualMatches, type Link } from './manual-matches.service.js';

type ActionOf<Name extends BreakAction['action']> = Extract<BreakAction, { action: Name }>;

@Injectable()
export class BreakActions {
  constructor(
    private readonly database: Database,
    private readonly breaks: Breaks,
    private readonly hands: ManualMatches,
    private readonly refunds: BreakRefunds,
    private readonly resending: OperationResending,
    private readonly announcements: ManualMatchAnnouncements,
  ) {}

  /** Throws `not_found`, also for another account's, `conflict` in the wrong state, and `rule_broken`. */
  async act({ accountId, keyId, scopes }: Caller, id: string, asked: BreakAction): Promise<void> {
    if (!isUuid(id)) throw new AppError('not_found');
    const hand = { actor: keyId, reason: asked.reason };
    switch (asked.action) {
      case 'link':
        return this.link(accountId, id, asked, hand);
      case 'accept':
        return this.change(accountId, id, (tx, found) => this.accept(tx, accountId, found, hand));
      case 'reopen':
        return this.change(accountId, id, (tx, found) => this.reopen(tx, accountId, found, hand));
      case 'note':
        return this.change(accountId, id, (tx, found) => this.note(tx, accountId, found, hand));
      case 'refund':
        // Money that goes out asks for both.
        if (!scopes.includes('refund')) throw new AppError('forbidden');
        await this.refunds.refund(accountId, id, { ...hand, amountCents: asked.amount ?? null });
        return this.announcements.announce(accountId, []);
      case 'resend':
        return this.resend(accountId, id, hand);
      default:
        return unreachable(asked);
    }
  }

  /** One change in one transaction: the judgement, then the break, are held for it. */
  private async change(
    accountId: number,
    id: string,
    work: (tx: Tx, found: queries.LockedBreak) => Promise<void>,
  ): Promise<void> {
    await this.database.transaction(async (tx) => {
      await lockReconciliation(tx, accountId);
      await work(tx, await lock(tx, accountId, id));
    });
    await this.announcements.announce(accountId, []);
  }

  private async link(
    accountId: number,
    id: string,
    asked: ActionOf<'link'>,
    hand: Hand,
  ): Promise<void> {
    const operationIds = await this.database.transaction(async (tx) => {
      await lockReconciliation(tx, accountId);
      const found = assertOpen(await lock(tx, accountId, id));
      const link = linkOf(found, asked);
      await assertNoRefundUnderWay(tx, accountId, { breakId: id });
      // First of all: what the match settles by itself would otherwise be taken for evidence.
      await this.resolve(tx, accountId, id, 'link', hand);
      const linked = await this.hands.link(tx, accountId, link, hand);
      const { matchIds } = linked;
      const detail = { nsu: link.nsu.toString(), matchIds };
      await queries.writeEntry(tx, accountId, id, 'link', hand, detail);
      return linked.operationIds;
    });
    await this.announcements.announce(accountId, operationIds);
  }

  private async accept(
    tx: Tx,
    accountId: number,
    found: queries.LockedBreak,
    hand: Hand,
  ): Promise<void> {
    const { id, nsu } = assertOpen(found);
    await assertNoRefundUnderWay(tx, accountId, { breakId: id });
    const isOfLine = nsu !== null && isOfItsLine(found);
    if (isOfLine && !(await queries.isMatched(tx, accountId, nsu)))
      await queries.classifyAccepted(tx, accountId, nsu, hand);
    await this.refunds.giveUp(tx, accountId, found);
    await this.resolve(tx, accountId, id, 'accept', hand);
    if (isOfLine) await touchRules(tx, accountId);
  }

  private async reopen(
    tx: Tx,
    accountId: number,
    found: queries.LockedBreak,
    hand: Hand,
  ): Promise<void> {
    const { id, state, resolution } = found;
    const nsu = isOfItsLine(found) ? found.nsu : null;
    if (state === 'open') throw conflict('already_open', 'The break is open.');
    if (resolution === 'automatic')
      throw conflict('settled_itself', 'What settled the break was evidence, not a person.');
    if (resolution === 'accept' && nsu !== null) await queries.deleteAccepted(tx, accountId, nsu);
    if (resolution === 'accept') await this.refunds.waitAgain(tx, accountId, found);
    if (resolution === 'refund') await deleteRefundClassifications(tx, accountId, [id]);
    if (resolution === 'link') await this.unlink(tx, accountId, found, hand);
    const reopened = await queries.reopenBreak(tx, accountId, id, hand);
    await this.breaks.reportOpened(tx, accountId, reopened);
  }

  private async unlink(
    tx: Tx,
    accountId: number,
    { id, kind, nsu: nsuOfBreak }: queries.LockedBreak,
    hand: Hand,
  ): Promise<void> {
    const link = await queries.findLastLink(tx, accountId, id);
    const [matchId] = link ? await queries.liveOf(tx, accountId, link.matchIds) : [];
    if (!link || !matchId) return;
    const { nsu, isCredit } = link;
    // A line that nothing explained stands in its break that is opened again: judged anew, it might be given a second.
    // One whose payment was in question is to be that payment's again.
    const wasUnexplained = isLineKind(kind) && !(kind === 'duplicate_payment' && isCredit);
    const isReconsidered = nsu !== nsuOfBreak || !wasUnexplained;
    await this.hands.unlink(tx, accountId, { nsu, matchId, isReconsidered }, hand);
  }

  private async note(
    tx: Tx,
    accountId: number,
    { id }: queries.LockedBreak,
    hand: Hand,
  ): Promise<void> {
    await queries.writeEntry(tx, accountId, id, 'note', hand);
  }

  private async resend(accountId: number, id: string, hand: Hand): Promise<void> {
    const operationId = await this.database.transaction(async (tx) => {
      const { kind, subject } = assertOpen(await lock(tx, accountId, id));
      const named = /^operation:(.+)$/.exec(subject)?.[1];
      if (kind !== 'unknown_outcome' || named === undefined)
        throw conflict(
          'not_safe_to_resend',
          'Only an operation of which nobody knows the outcome can be sent again.',
        );
      await this.resending.reopen(tx, accountId, named);
      await queries.writeEntry(tx, accountId, id, 'resend', hand, { operationId: named });
      return named;
    });
    await this.resending.send(accountId, operationId);
    await this.announcements.announce(accountId, []);
  }

  private async resolve(
    tx: Tx,
    accountId: number,
    id: string,
    resolution: string,
    hand: Hand,
  ): Promise<void> {
    const resolved = await queries.resolveBreak(tx, accountId, id, resolution, hand);
    await this.breaks.reportResolved(tx, accountId, resolved);
  }
}

async function lock(tx: Tx, accountId: number, id: string): Promise<queries.LockedBreak> {
  const found = await queries.lockBreak(tx, accountId, id);
  if (!found) throw new AppError('not_found');
  return found;
}

function assertOpen(found: queries.LockedBreak): queries.LockedBreak {
  if (found.state !== 'open') throw conflict('already_resolved', 'The break is resolved.');
  return found;
}

/** Whether the line of the break is what it is about: what else is told of a line leaves its explanation alone. */
function isOfItsLine({ kind, subject, nsu }: queries.LockedBreak): boolean {
  return nsu !== null && subject === subjectOfLine(nsu) && isLineKind(kind);
}

function isLineKind(kind: string): boolean {
  return (lineBreakKinds as readonly string[]).includes(kind);
}

/** Which line pays what: the break is of one of the two, and the action names the other. */
function linkOf(
  { nsu, subject, expectedPaymentId }: queries.LockedBreak,
  asked: ActionOf<'link'>,
): Link {
  if (nsu !== null && subject === subjectOfLine(nsu)) {
    if (asked.nsu !== undefined && asked.nsu !== nsu) throw invalid('Is not the break’s line.');
    if ((asked.expectedPaymentId === undefined) === (asked.allocations === undefined))
      throw invalid('Either expectedPaymentId or allocations says what the line pays.');
    const whole = asked.expectedPaymentId;
    if (whole !== undefined)
      return { nsu, allocations: [{ expectedPaymentId: whole, amountCents: null }] };
    const allocations = asked.allocations ?? [];
    return {
      nsu,
      allocations: allocations.map(({ expectedPaymentId: id, amount }) => ({
        expectedPaymentId: id,
        amountCents: amount,
      })),
    };
  }
  if (expectedPaymentId === null || subject !== subjectOfExpected(expectedPaymentId))
    throw new AppError('rule_broken', {
      public: 'The break is about neither a line nor an expected payment: nothing can be linked.',
      reason: 'not_linkable',
    });
  if (asked.nsu === undefined) throw invalid('The nsu of the line that pays it is required.');
  return { nsu: asked.nsu, allocations: [{ expectedPaymentId, amountCents: null }] };
}

function invalid(message: string): AppError {
  return new AppError('validation_failed', { errors: { '$.action': [message] } });
}

function conflict(reason: string, text: string): AppError {
  return new AppError('conflict', { public: text, reason });
}
