// Finds out what became of operations whose answer never came: believes the statement, asks the bank by an id, sends
// again where a repeat is the same, waits for a closed span that proves an absence, and asks a person last of all.
import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../accounts/accounts.service.js';
import { BankService } from '../bank/bank.service.js';
import { Database } from '../database.service.js';
import { OnJob } from '../platform/job-methods.js';
import { JobQueue } from '../platform/job-queue.js';
import type { JobPayload } from '../queues.js';
import * as evidence from './evidence.queries.js';
import { closableInMs, isClosedOver, spanOfEffect, startOf } from './execution.js';
import type { LookedUp, Operation, OperationKind } from './operation.js';
import { OperationSender } from './operation-sender.service.js';
import { OperationOutcomes, type OperationOutcome } from './operation-outcomes.service.js';
import * as queries from './operations.queries.js';
import { pauseAtMs, waysOf } from './recovery.js';

/** A payment that nobody could send is not made days later, by surprise. */
const patienceToSendMs = 60 * 60_000;
/** After one of several movements was seen late, the others have this long to be seen, or to be proven absent. */
const patienceForRestMs = 60 * 60_000;
/** A closing that was just asked for takes about as long. */
const closingPauseMs = 5_000;

@Injectable()
export class OperationRecovery {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly sender: OperationSender,
    private readonly outcomes: OperationOutcomes,
    private readonly jobQueue: JobQueue,
  ) {}

  /** Looks at an unfinished operation: sends it if it never left, recovers it if its outcome is unknown. */
  @OnJob('advanceOperation')
  async advance({ accountId, operationId }: JobPayload<'advanceOperation'>): Promise<void> {
    const key = { accountId, id: operationId };
    const db = this.database.prisma;
    await this.sender.giveUpInterrupted(key);
    if (await this.believeStatement(key)) return;
    const unsent = await queries.findUnsent(db, key);
    if (unsent) return this.sendOrGiveUp(unsent);
    const { createdAt } = await db.operation.findUniqueOrThrow({
      where: { accountId_id: key },
      select: { createdAt: true },
    });
    const ageMs = Date.now() - createdAt.getTime();
    const unknown = await queries.takeLook(db, key, pauseAtMs(ageMs));
    if (unknown) await this.recover(unknown, ageMs);
  }

  /** Wakes every unfinished operation whose time has come, and those whose verdict a line contradicts. */
  async enqueueDue(): Promise<void> {
    const db = this.database.prisma;
    const due = [
      ...(await queries.listDue(db, 200)),
      ...(await evidence.listContradicted(db, 500)),
    ];
    for (const { accountId, id } of due)
      await this.jobQueue.enqueue('advanceOperation', { accountId, operationId: id });
  }

  /**
   * A line that came is believed at once, and before any verdict that was given without it. One line of several shows
   * that the rest may have been done too: what had been proven absent is unknown again.
   */
  private async believeStatement(key: queries.Key): Promise<boolean> {
    const { seen, begun, unseen } = await evidence.readSightings(this.database.prisma, key);
    if (seen.length + begun.length === 0) return false;
    if (begun.length + unseen.length === 0)
      return this.outcomes.give(key, ended('succeeded', 'seen_on_statement'), ({ state }) =>
        ['unknown', 'needs_operator', 'not_executed'].includes(state),
      );
    return this.outcomes.give(
      key,
      { ...ended('unknown', 'seen_in_part'), pauseMs: 0 },
      ({ state }) => state === 'not_executed',
    );
  }

  /**
   * What holds secrets lives in the memory of the process that was given them: without it, it never leaves. Nor does
   * what could not be sent for so long that whoever asked for it no longer counts on it.
   */
  private async sendOrGiveUp(operation: Operation): Promise<void> {
    const ageMs = Date.now() - operation.createdAt.getTime();
    const isAskedFor = ageMs < patienceToSendMs;
    if (isAskedFor && this.outcomes.kindOf(operation).repeat !== 'never') {
      await this.sender.send(operation, 'received');
      return;
    }
    await this.outcomes.give(
      operation,
      ended('not_executed', 'never_sent'),
      async ({ state }, tx) =>
        state === 'received' && !(await queries.hasPerhapsLeft(tx, operation)),
    );
  }

  private async recover(operation: Operation, ageMs: number): Promise<void> {
    await evidence.noteClock(this.database.prisma, operation);
    const kind = this.outcomes.kindOf(operation);
    const { profile } = this.bank;
    const facts = {
      repeat: kind.repeat,
      hasLookUp: kind.lookUp !== undefined,
      isOutgoing: operation.counterparty !== null && operation.amountCents !== null,
      isKnownToBank: operation.bankReference !== null,
      hasRefusedRepeat: operation.reason === 'refused_a_repeat',
    };
    const { canLookUp } = waysOf(facts, profile);
    const lookedUp = canLookUp ? await this.lookUp(kind, operation) : null;
    if (lookedUp?.found === 'accepted') return this.believeBank(kind, operation, lookedUp);
    const hasLookUp = facts.hasLookUp && lookedUp?.found !== 'not_offered';
    const ways = waysOf({ ...facts, hasLookUp }, profile);
    const sightings = await evidence.readSightings(this.database.prisma, operation);
    const isPatient = ageMs < ways.patienceMs || isFresh(sightings);
    if (ways.canResend && isPatient) {
      await this.sender.send(operation, 'unknown');
      return;
    }
    // A bank that could be asked and did not answer may know it.
    if (ways.canProveAbsence && lookedUp?.found !== 'unknown')
      if (await this.proveAbsence(kind, operation, sightings, ageMs)) return;
    if (isPatient) return;
    const reason = operation.reason ?? 'no_answer';
    await this.outcomes.give(operation, ended('needs_operator', reason), stillUnknown(operation));
  }

  private async lookUp(kind: OperationKind, operation: Operation): Promise<LookedUp<unknown>> {
    const account = await this.accounts.get(operation.accountId);
    const sendings = await evidence.readSendings(this.database.prisma, operation);
    const since = startOf(sendings?.firstStartedAt ?? operation.createdAt);
    return (await kind.lookUp?.(account, operation, since)) ?? { found: 'not_offered' };
  }

  private async believeBank(
    { route }: OperationKind,
    operation: Operation,
    { text, answer, bankReference }: Extract<LookedUp<unknown>, { found: 'accepted' }>,
  ): Promise<void> {
    // A repeat is answered as its request is, not as the question was.
    const response = { status: route.successStatus, text };
    const outcome = { ...ended('succeeded', 'looked_up'), response, bankReference, answer };
    // Asked by its id, the bank is believed whatever else has been concluded meanwhile.
    await this.outcomes.give(operation, outcome, ({ state }) =>
      ['unknown', 'sending', 'needs_operator', 'not_executed'].includes(state),
    );
  }

  /**
   * True when what is not on the statement was proven not done: all of the operation, or what is missing of several
   * movements. Until it can be, the span is closed.
   */
  private async proveAbsence(
    kind: OperationKind,
    operation: Operation,
    sightings: evidence.Sightings,
    ageMs: number,
  ): Promise<boolean> {
    const boundMs = this.bank.profile.visibilityBoundMs;
    const sendings = await evidence.readSendings(this.database.prisma, operation);
    const { seen, begun, unseen } = sightings;
    if (boundMs === null || !sendings || begun.length > 0 || unseen.length === 0) return false;
    const span = spanOfEffect(kind, operation, sendings, boundMs);
    if (!isClosedOver(span, sendings)) {
      await this.awaitClosing(operation, closableInMs(span, sendings.bankTime, boundMs), ageMs);
      return false;
    }
    const outcome =
      seen.length === 0
        ? ended('not_executed', 'absent_from_statement')
        : { ...ended('succeeded', 'seen_in_part'), absent: unseen };
    return this.outcomes.give(
      operation,
      outcome,
      async (now, tx) =>
        stillUnknown(operation)(now) &&
        now.bankReference === null &&
        isDeepStrictEqual(await evidence.readSightings(tx, operation), sightings) &&
        (await evidence.isSpanFreeOf(tx, operation, span, unseen)),
    );
  }

  private async awaitClosing(
    { accountId, id }: Operation,
    closableMs: number,
    ageMs: number,
  ): Promise<void> {
    const pauseMs = pauseAtMs(ageMs);
    // Just when it can be closed; and then, while that is being done, a little more often.
    const nextMs = closableMs > 0 ? closableMs : closableMs > -60_000 ? closingPauseMs : pauseMs;
    await queries.postpone(this.database.prisma, { accountId, id }, Math.min(pauseMs, nextMs));
    if (closableMs <= 0) await this.jobQueue.enqueue('closeStatement', { accountId });
  }
}

/** Unknown, and not sent again since it was looked at. */
function stillUnknown({ attempts }: Operation): (now: Operation) => boolean {
  return (now) => now.state === 'unknown' && now.attempts === attempts;
}

/** What shows a part of itself shows that more may come, however old it is. */
function isFresh({ lastSeenAt }: evidence.Sightings): boolean {
  return lastSeenAt !== null && Date.now() - lastSeenAt.getTime() < patienceForRestMs;
}

function ended(
  state: 'succeeded' | 'not_executed' | 'needs_operator' | 'unknown',
  reason: string,
): OperationOutcome {
  return { state, reason, response: null, bankReference: null, pauseMs: null };
}
