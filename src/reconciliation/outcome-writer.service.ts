// Writes outcomes and their events in the transaction that decided the lines, and enqueues the jobs
// that act on them.
import { Injectable } from '@nestjs/common';
import type { Tx } from '../database.service.js';
import type { NewEvent } from '../events/event.js';
import { EventsService } from '../events/events.service.js';
import { ExpectedPaymentsService } from '../expected-payments/expected-payments.service.js';
import { JobQueue } from '../platform/job-queue.js';
import {
  subjectOfExpected,
  subjectOfLine,
  isDisplacing,
  type InBreak,
  type Classified,
  type Pending,
  type Matched,
  type LineOutcome,
} from './line-outcome.js';
import * as breaks from './breaks.queries.js';
import { Breaks } from './breaks.service.js';
import { chargeEvent, unexpectedEvent } from './line-events.js';
import { movementEvent, type BankTransfer } from './movement-events.js';
import { listRepeatedPayments } from './repeated-payments.queries.js';
import { deferOwnTransferCredits } from './own-transfers.queries.js';
import type { RuleOutcomes } from './rules/declared-rules.service.js';
import { classifyLinesOfSettledBreaks } from './refunded-breaks.queries.js';
import { SettlementReview } from './settlement-review.service.js';
import { settlementNetOfRefunds } from './net-settlement.js';
import {
  unlinkDisplaced,
  unlinkReversalsSince,
  unlinkSurplusReversals,
} from './unlinking.queries.js';
import * as queries from './outcomes.queries.js';

/**
 * States of an operation that is not known to have succeeded. A matched payment proves that it
 * succeeded.
 */
const unresolvedStates: readonly (string | null)[] = ['unknown', 'needs_operator', 'not_executed'];

export interface WriteResult {
  /** Operations to advance after the commit. */
  operationIds: string[];
  /** Matches were unlinked: their lines must be decided again. */
  hasUnlinked: boolean;
  /**
   * Accounts, this one included, with credits that these lines explain and that are now pending.
   */
  pendingAccountIds: number[];
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

  /** `decidedNsus`: the lines that this batch decided, so that they are no longer pending. */
  async write(
    tx: Tx,
    accountId: number,
    { lines, outcomes: decided, released }: RuleOutcomes,
    decidedNsus: bigint[],
  ): Promise<WriteResult> {
    const inBreak = new Set(lines.filter(({ source }) => source === 'open').map(({ nsu }) => nsu));
    // A line in a break stays there until it is matched or classified; the break was reported
    // before.
    const outcomes = decided.filter(
      (outcome) => !inBreak.has(outcome.nsu) || isMatched(outcome) || isClassified(outcome),
    );
    const matches = outcomes.filter(isMatched);
    const transfers = await this.transfersOf(tx, accountId, matches);
    const late = matches.filter(isLate);
    const displaced = await this.unlink(tx, accountId, outcomes);
    await queries.insertMatches(tx, accountId, matches);
    const reversed = matches.filter(({ role }) => role === 'reversal').map(toExpected);
    const changed = [...displaced.map(toExpected), ...released, ...reversed];
    const surplus = await unlinkSurplusReversals(tx, accountId, changed);
    const unlinked = [...displaced, ...surplus];
    await queries.insertClassifications(tx, accountId, outcomes.filter(isClassified));
    await this.breaks.open(tx, accountId, [
      ...outcomes.filter(isInBreak).map(toBreak),
      ...late.map((match) => toLateLine(match, transfers.get(match.expectedPaymentId))),
    ]);
    const unexplained = outcomes.filter(isInBreak).map(({ nsu }) => nsu);
    await classifyLinesOfSettledBreaks(tx, accountId, unexplained);
    await queries.recordPendingLines(tx, accountId, decidedNsus, [
      ...outcomes.filter(isPending).map(toNsu),
      ...unlinked.map(toNsu),
    ]);
    const explained = outcomes.map(({ nsu }) => nsu).filter((nsu) => inBreak.has(nsu));
    await this.breaks.reportResolved(tx, accountId, [
      ...(await breaks.resolveExplained(tx, accountId, explained)),
      ...(await breaks.resolveReversed(tx, accountId, reversed)),
    ]);
    const found = matches.map(({ expectedPaymentId }) => subjectOfExpected(expectedPaymentId));
    await this.breaks.resolve(tx, accountId, 'missing', found);
    const touched = [...[...matches, ...unlinked].map(toExpected), ...released];
    await this.review.review(tx, accountId, touched);
    const notExecuted = late.filter(isOfNotExecuted);
    await this.expectedPayments.reinstate(tx, accountId, notExecuted.map(toOperation));
    await this.expectedPayments.reinstatePayments(tx, accountId, late.map(toExpected));
    const events = await this.eventsOf(tx, accountId, lines, outcomes, transfers);
    await this.events.record(tx, accountId, events);
    const unresolved = matches.filter(({ operation }) =>
      unresolvedStates.includes(operation.operationState),
    );
    const operationIds = [...new Set(unresolved.map(toOperation))];
    const debits = lines.filter(({ isCredit }) => !isCredit).map(toNsu);
    const pendingAccountIds = await deferOwnTransferCredits(tx, accountId, debits);
    return { operationIds, hasUnlinked: unlinked.length > 0, pendingAccountIds };
  }

  /** Unlinks the matches that these outcomes displace; their lines are decided again. */
  private async unlink(tx: Tx, accountId: number, outcomes: LineOutcome[]) {
    const displacing = outcomes.filter(isDisplacing).map(toExpected);
    const secondDebits = outcomes.filter(isInBreak).flatMap(({ kind, nsu, expectedPaymentId }) => {
      const isSecond = kind === 'duplicate_payment' && expectedPaymentId !== null;
      return isSecond ? [{ nsu, expectedPaymentId }] : [];
    });
    return [
      ...(await unlinkDisplaced(tx, accountId, displacing)),
      ...(await unlinkReversalsSince(tx, accountId, secondDebits)),
    ];
  }

  /** Enqueues deliveries and operations; call it after the commit. */
  async announce(accountId: number, operationIds: string[]): Promise<void> {
    await this.events.enqueueDeliveries(accountId);
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

  private async eventsOf(
    tx: Tx,
    accountId: number,
    lines: queries.ArrivedLine[],
    outcomes: LineOutcome[],
    transfers: Map<string, BankTransfer>,
  ): Promise<NewEvent[]> {
    const matched = outcomes.filter(isMatched).map(toExpected);
    const charges = byExpected(await queries.listChargesOf(tx, accountId, matched));
    const repeated = await listRepeatedPayments(tx, accountId, [...charges.keys()]);
    const byNsu = new Map(lines.map((line) => [line.nsu, line]));
    const positions = new Map(outcomes.map(({ nsu }, index) => [nsu, index]));
    return outcomes.flatMap((outcome, index) => {
      const line = byNsu.get(outcome.nsu);
      if (!line || outcome.outcome === 'classified' || outcome.outcome === 'pending') return [];
      if (outcome.outcome === 'break') return [unexpectedEvent(line, outcome.kind)];
      const { expectedPaymentId } = outcome;
      const charge = charges.get(expectedPaymentId);
      if (charge) {
        const known = repeated.filter(({ nsu }) => (positions.get(nsu) ?? index) <= index);
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

function toBreak({ candidates, originalNsu, ...broken }: InBreak): breaks.NewBreak {
  const { kind, nsu, amountCents, expectedPaymentId } = broken;
  const subject = subjectOfLine(nsu);
  const original = originalNsu === undefined ? {} : { originalNsu: originalNsu.toString() };
  const evidence = { candidates, ...original };
  return { kind, subject, nsu, amountCents, expectedPaymentId, evidence };
}

/**
 * The bank executed an operation that was proven not executed, or that it had reported as failed.
 */
function toLateLine(match: Matched, transfer: BankTransfer | undefined): breaks.NewBreak {
  if (transfer?.state === 'failed') return toFailedButDebited(match, transfer);
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

/** The break is resolved when the money is reversed. */
function toFailedButDebited(match: Matched, { id }: BankTransfer): breaks.NewBreak {
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
const isClassified = (outcome: LineOutcome): outcome is Classified =>
  outcome.outcome === 'classified';
const isInBreak = (outcome: LineOutcome): outcome is InBreak => outcome.outcome === 'break';
const isPending = (outcome: LineOutcome): outcome is Pending => outcome.outcome === 'pending';
