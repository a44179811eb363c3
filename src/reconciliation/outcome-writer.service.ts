// Writes verdicts and the events that tell of them in the transaction that the lines were judged in, and wakes
// whoever is to act on them.
import { Injectable } from '@nestjs/common';
import type { Tx } from '../database.service.js';
import { EventsService, type NewEvent } from '../events/events.service.js';
import { ExpectedPaymentsService } from '../expected-payments/expected-payments.service.js';
import { JobQueue } from '../platform/job-queue.js';
import { subjectOfExpected, subjectOfLine } from './break-subjects.js';
import * as breaks from './breaks.queries.js';
import { Breaks } from './breaks.service.js';
import {
  displaces,
  type Broken,
  type Classified,
  type Deferred,
  type Matched,
  type LineOutcome,
} from './line-outcome.js';
import { chargeEvent, unexpectedEvent } from './line-events.js';
import { movementEvent, type BankTransfer } from './movement-events.js';
import { listPaidAgain } from './paid-again.queries.js';
import { deferOtherLegs } from './own-transfers.queries.js';
import type { Applied } from './rules/declared-rules.service.js';
import { classifySettled } from './refunded-breaks.queries.js';
import { SettlementReview } from './settlement-review.service.js';
import { settlementNetOfRefunds } from './net-settlement.js';
import { unlinkDisplaced, unlinkReturnsSince, unlinkSurplusReturns } from './unlinking.queries.js';
import * as queries from './outcomes.queries.js';

/** States of an operation of which nobody knows that it was done: its payment on the statement says so. */
const undecidedStates: readonly (string | null)[] = ['unknown', 'needs_operator', 'not_executed'];

export interface Written {
  /** Operations that are to hear of it, once it is committed. */
  operationIds: string[];
  /** Matches gave way: their lines are to be judged anew. */
  hasUnlinked: boolean;
  /** Accounts, this one or others, some of whose credits these lines explain: those are to be judged again. */
  waiting: number[];
}

@Injectable()
export class OutcomeWriter {
  constructor(
    private readonly events: EventsService,
    private readonly expectedPayments: ExpectedPaymentsService,
    private readonly breaks: Breaks,
    private readonly review: SettlementReview,
    private readonly jobQueue: JobQueue,
  ) {}

  /** `heard`: the lines that the judge has just heard, ids and all, so that they need not wait for that any more. */
  async write(
    tx: Tx,
    accountId: number,
    { lines, outcomes: decided, released }: Applied,
    heard: bigint[],
  ): Promise<Written> {
    const open = new Set(lines.filter(({ cameAs }) => cameAs === 'open').map(({ nsu }) => nsu));
    // A line in a break stays there until it is matched; that break was told.
    const outcomes = decided.filter(
      (outcome) => !open.has(outcome.nsu) || isMatched(outcome) || isClassified(outcome),
    );
    const matches = outcomes.filter(isMatched);
    const transfers = await this.transfersOf(tx, accountId, matches);
    const late = matches.filter(isLate);
    const displaced = await this.unlink(tx, accountId, outcomes);
    await queries.insertMatches(tx, accountId, matches);
    const returned = matches.filter(({ role }) => role === 'reversal').map(toExpected);
    const refundedCredits = [...displaced.map(toExpected), ...released, ...returned];
    const surplus = await unlinkSurplusReturns(tx, accountId, refundedCredits);
    const unlinked = [...displaced, ...surplus];
    await queries.insertClassifications(tx, accountId, outcomes.filter(isClassified));
    await this.breaks.open(tx, accountId, [
      ...outcomes.filter(isBroken).map(toBreak),
      ...late.map((match) => toLateLine(match, transfers.get(match.expectedPaymentId))),
    ]);
    const unexplained = outcomes.filter(isBroken).map(({ nsu }) => nsu);
    await classifySettled(tx, accountId, unexplained);
    await queries.recordDeferred(tx, accountId, heard, [
      ...outcomes.filter(isDeferred).map(toNsu),
      ...unlinked.map(toNsu),
    ]);
    const explained = outcomes.map(({ nsu }) => nsu).filter((nsu) => open.has(nsu));
    await this.breaks.reportResolved(tx, accountId, [
      ...(await breaks.resolveExplained(tx, accountId, explained)),
      ...(await breaks.resolveReturned(tx, accountId, returned)),
    ]);
    const come = matches.map(({ expectedPaymentId }) => subjectOfExpected(expectedPaymentId));
    await this.breaks.resolve(tx, accountId, 'missing', come);
    const touched = [...[...matches, ...unlinked].map(toExpected), ...released];
    await this.review.review(tx, accountId, touched);
    const notDone = late.filter(isOfNotExecuted);
    await this.expectedPayments.reinstate(tx, accountId, notDone.map(toOperation));
    await this.expectedPayments.reinstateEach(tx, accountId, late.map(toExpected));
    const told = await this.describe(tx, accountId, lines, outcomes, transfers);
    await this.events.record(tx, accountId, told);
    const undecided = matches.filter(({ operation }) =>
      undecidedStates.includes(operation.operationState),
    );
    const operationIds = [...new Set(undecided.map(toOperation))];
    const debits = lines.filter(({ isCredit }) => !isCredit).map(toNsu);
    const waiting = await deferOtherLegs(tx, accountId, debits);
    return { operationIds, hasUnlinked: unlinked.length > 0, waiting };
  }

  /** What gives way to these verdicts; its lines are judged again without it. */
  private async unlink(tx: Tx, accountId: number, outcomes: LineOutcome[]) {
    const displacing = outcomes.filter(displaces).map(toExpected);
    const again = outcomes.filter(isBroken).flatMap(({ kind, nsu, expectedPaymentId }) => {
      const isSecond = kind === 'duplicate_payment' && expectedPaymentId !== null;
      return isSecond ? [{ nsu, expectedPaymentId }] : [];
    });
    return [
      ...(await unlinkDisplaced(tx, accountId, displacing)),
      ...(await unlinkReturnsSince(tx, accountId, again)),
    ];
  }

  /** After the commit. */
  async announce(accountId: number, operationIds: string[]): Promise<void> {
    await this.events.announce(accountId);
    for (const operationId of operationIds)
      await this.jobQueue.enqueue('advanceOperation', { accountId, operationId });
  }

  private async transfersOf(
    tx: Tx,
    accountId: number,
    matches: Matched[],
  ): Promise<Map<string, BankTransfer>> {
    return byExpected(await queries.listTransfersOf(tx, accountId, matches.map(toExpected)));
  }

  private async describe(
    tx: Tx,
    accountId: number,
    lines: queries.ArrivedLine[],
    outcomes: LineOutcome[],
    transfers: Map<string, BankTransfer>,
  ): Promise<NewEvent[]> {
    const matched = outcomes.filter(isMatched).map(toExpected);
    const charges = byExpected(await queries.listChargesOf(tx, accountId, matched));
    const paidAgain = await listPaidAgain(tx, accountId, [...charges.keys()]);
    const byNsu = new Map(lines.map((line) => [line.nsu, line]));
    const place = new Map(outcomes.map(({ nsu }, index) => [nsu, index]));
    return outcomes.flatMap((outcome, index) => {
      const line = byNsu.get(outcome.nsu);
      if (!line || outcome.outcome === 'classified' || outcome.outcome === 'deferred') return [];
      if (outcome.outcome === 'break') return [unexpectedEvent(line, outcome.kind)];
      const { expectedPaymentId } = outcome;
      const charge = charges.get(expectedPaymentId);
      if (charge) {
        const known = paidAgain.filter(({ nsu }) => (place.get(nsu) ?? index) <= index);
        const isPayment = outcome.role === 'payment';
        const settlement = isPayment ? settlementNetOfRefunds(outcome, known) : outcome.settlement;
        return [chargeEvent(line, charge, settlement)];
      }
      return movementEvent(line, outcome, transfers.get(expectedPaymentId)) ?? [];
    });
  }
}

function byExpected<Row extends { expectedPaymentId: string }>(rows: Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.expectedPaymentId, row]));
}

function toBreak({ candidates, originalNsu, ...broken }: Broken): breaks.NewBreak {
  const { kind, nsu, amountCents, expectedPaymentId } = broken;
  const subject = subjectOfLine(nsu);
  const original = originalNsu === undefined ? {} : { originalNsu: originalNsu.toString() };
  const evidence = { candidates, ...original };
  return { kind, subject, nsu, amountCents, expectedPaymentId, evidence };
}

/** The bank did what was proven not done, or what it had said to have failed: whoever acted on that must know. */
function toLateLine(match: Matched, transfer: BankTransfer | undefined): breaks.NewBreak {
  if (transfer?.state === 'failed') return toFailedThoughDebited(match, transfer);
  const { nsu, amountCents, expectedPaymentId, operation, rule, evidence } = match;
  const { operationId, kind: operationKind } = operation;
  return {
    kind: 'late_line',
    subject: `operation:${operationId}`,
    nsu,
    amountCents,
    expectedPaymentId,
    evidence: { operationId, operationKind, rule, ...evidence },
  };
}

/** Resolved when the money has come back. */
function toFailedThoughDebited(match: Matched, { id }: BankTransfer): breaks.NewBreak {
  const { nsu, amountCents, expectedPaymentId, operation, evidence } = match;
  return {
    kind: 'failed_but_debited',
    subject: `transfer:${id}`,
    nsu: null,
    amountCents,
    expectedPaymentId,
    evidence: {
      transferId: id,
      operationId: operation.operationId,
      debitNsu: nsu.toString(),
      ...evidence,
    },
  };
}

const isOfNotExecuted = ({ operation }: Matched): boolean =>
  operation.operationState === 'not_executed';
const isLate = (match: Matched): boolean =>
  isOfNotExecuted(match) || (match.role === 'payment' && match.wasWithdrawn);

const toExpected = ({ expectedPaymentId }: { expectedPaymentId: string }): string =>
  expectedPaymentId;
const toNsu = ({ nsu }: { nsu: bigint }): bigint => nsu;
const toOperation = ({ operation }: Matched): string => operation.operationId;

const isMatched = (outcome: LineOutcome): outcome is Matched => outcome.outcome === 'matched';
const isClassified = (outcome: LineOutcome): outcome is Classified => outcome.outcome === 'classified';
const isBroken = (outcome: LineOutcome): outcome is Broken => outcome.outcome === 'break';
const isDeferred = (outcome: LineOutcome): outcome is Deferred => outcome.outcome === 'deferred';
