// Writes verdicts and the events that tell of them in the transaction that the lines were judged in, and wakes
// whoever is to act on them.
import { Injectable } from '@nestjs/common';
import type { Tx } from '../database.service.js';
import { EventsService, type NewEvent } from '../events/events.service.js';
import { ExpectedPaymentsService } from '../expected-payments/expected-payments.service.js';
import { WakeUps } from '../platform/wake-ups.js';
import { subjectOfExpected, subjectOfLine } from './break-subjects.js';
import * as breaks from './breaks.queries.js';
import { Breaks } from './breaks.service.js';
import {
  displaces,
  type Broken,
  type Classified,
  type Deferred,
  type Matched,
  type Verdict,
} from './judged.js';
import { chargeEvent, unexpectedEvent } from './line-events.js';
import { movementEvent, type ToldTransfer } from './movement-events.js';
import { listPaidAgain } from './kept-payments.queries.js';
import { deferOtherLegs } from './own-transfers.queries.js';
import type { Applied } from './rules/declared-rules.service.js';
import { classifySettled } from './refunded-breaks.queries.js';
import { SettlementReview } from './settlement-review.service.js';
import { settlementTold } from './told-settlement.js';
import { unlinkDisplaced, unlinkReturnsSince, unlinkSurplusReturns } from './unlinking.queries.js';
import * as queries from './verdicts.queries.js';

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
export class VerdictWriter {
  constructor(
    private readonly events: EventsService,
    private readonly expectedPayments: ExpectedPaymentsService,
    private readonly breaks: Breaks,
    private readonly review: SettlementReview,
    private readonly wakeUps: WakeUps,
  ) {}

  /** `heard`: the lines that the judge has just heard, ids and all, so that they need not wait for that any more. */
  async write(
    tx: Tx,
    accountId: number,
    { lines, verdicts: judged, released }: Applied,
    heard: bigint[],
  ): Promise<Written> {
    const open = new Set(lines.filter(({ cameAs }) => cameAs === 'open').map(({ nsu }) => nsu));
    // A line in a break stays there until it is matched; that break was told.
    const verdicts = judged.filter(
      (verdict) => !open.has(verdict.nsu) || isMatched(verdict) || isClassified(verdict),
    );
    const matches = verdicts.filter(isMatched);
    const transfers = await this.transfersOf(tx, accountId, matches);
    const late = matches.filter(isLate);
    const displaced = await this.unlink(tx, accountId, verdicts);
    await queries.insertMatches(tx, accountId, matches);
    const returned = matches.filter(({ role }) => role === 'return').map(toExpected);
    const givenBack = [...displaced.map(toExpected), ...released, ...returned];
    const surplus = await unlinkSurplusReturns(tx, accountId, givenBack);
    const unlinked = [...displaced, ...surplus];
    await queries.insertClassifications(tx, accountId, verdicts.filter(isClassified));
    await this.breaks.open(tx, accountId, [
      ...verdicts.filter(isBroken).map(toBreak),
      ...late.map((match) => toLateLine(match, transfers.get(match.expectedPaymentId))),
    ]);
    const unexplained = verdicts.filter(isBroken).map(({ nsu }) => nsu);
    await classifySettled(tx, accountId, unexplained);
    await queries.recordDeferred(tx, accountId, heard, [
      ...verdicts.filter(isDeferred).map(toNsu),
      ...unlinked.map(toNsu),
    ]);
    const explained = verdicts.map(({ nsu }) => nsu).filter((nsu) => open.has(nsu));
    await this.breaks.tellResolved(tx, accountId, [
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
    const told = await this.describe(tx, accountId, lines, verdicts, transfers);
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
  private async unlink(tx: Tx, accountId: number, verdicts: Verdict[]) {
    const displacing = verdicts.filter(displaces).map(toExpected);
    const again = verdicts.filter(isBroken).flatMap(({ kind, nsu, expectedPaymentId }) => {
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
      await this.wakeUps.wake('advanceOperation', { accountId, operationId });
  }

  private async transfersOf(
    tx: Tx,
    accountId: number,
    matches: Matched[],
  ): Promise<Map<string, ToldTransfer>> {
    return byExpected(await queries.listTransfersOf(tx, accountId, matches.map(toExpected)));
  }

  private async describe(
    tx: Tx,
    accountId: number,
    lines: queries.ArrivedLine[],
    verdicts: Verdict[],
    transfers: Map<string, ToldTransfer>,
  ): Promise<NewEvent[]> {
    const matched = verdicts.filter(isMatched).map(toExpected);
    const charges = byExpected(await queries.listChargesOf(tx, accountId, matched));
    const paidAgain = await listPaidAgain(tx, accountId, [...charges.keys()]);
    const byNsu = new Map(lines.map((line) => [line.nsu, line]));
    const place = new Map(verdicts.map(({ nsu }, index) => [nsu, index]));
    return verdicts.flatMap((verdict, index) => {
      const line = byNsu.get(verdict.nsu);
      if (!line || verdict.verdict === 'classified' || verdict.verdict === 'deferred') return [];
      if (verdict.verdict === 'break') return [unexpectedEvent(line, verdict.kind)];
      const { expectedPaymentId } = verdict;
      const charge = charges.get(expectedPaymentId);
      if (charge) {
        const known = paidAgain.filter(({ nsu }) => (place.get(nsu) ?? index) <= index);
        const isPayment = verdict.role === 'payment';
        const settlement = isPayment ? settlementTold(verdict, known) : verdict.settlement;
        return [chargeEvent(line, charge, settlement)];
      }
      return movementEvent(line, verdict, transfers.get(expectedPaymentId)) ?? [];
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
function toLateLine(match: Matched, transfer: ToldTransfer | undefined): breaks.NewBreak {
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
function toFailedThoughDebited(match: Matched, { id }: ToldTransfer): breaks.NewBreak {
  const { nsu, amountCents, expectedPaymentId, operation, evidence } = match;
  return {
    kind: 'failed_though_debited',
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

const isMatched = (verdict: Verdict): verdict is Matched => verdict.verdict === 'matched';
const isClassified = (verdict: Verdict): verdict is Classified => verdict.verdict === 'classified';
const isBroken = (verdict: Verdict): verdict is Broken => verdict.verdict === 'break';
const isDeferred = (verdict: Verdict): verdict is Deferred => verdict.verdict === 'deferred';
