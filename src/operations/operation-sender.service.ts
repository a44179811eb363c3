// Brings an operation to its end: sends it under a claim that no other process holds, says what the answer is
// worth, and finds out what became of those whose answer never came.
import { Injectable } from '@nestjs/common';
import { AccountsService, type BankAccount } from '../accounts/accounts.service.js';
import type { BankAnswer } from '../bank/answer.js';
import { BankService } from '../bank/bank.service.js';
import type { Route, RouteInput } from '../contract/route.js';
import { Database } from '../database.service.js';
import { ExpectedPaymentsService } from '../expected-payments/expected-payments.service.js';
import { invariant, unreachable } from '../platform/errors.js';
import { parseJson } from '../platform/exact-json.js';
import { WakeUps } from '../platform/wake-ups.js';
import { z } from 'zod';
import type { Operation, OperationKind } from './operation.js';
import * as queries from './operations.queries.js';
import { decideRecovery, pauseAfterMs } from './recovery.js';

const callDeadlineMs = 10_000;
const sendWithinMs = 5_000;
/** Longer than an attempt can last: past it, the process that made the attempt is gone. */
const leaseMs = sendWithinMs + callDeadlineMs + 5_000;

@Injectable()
export class OperationSender {
  private readonly kinds = new Map<string, OperationKind>();

  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly expectedPayments: ExpectedPaymentsService,
    private readonly wakeUps: WakeUps,
  ) {}

  register<R extends Route>(declared: OperationKind<R>): void {
    // What a kind is given was decoded by its own route.
    const kind = declared as unknown as OperationKind;
    invariant(!this.kinds.has(kind.name), `operation kind ${kind.name} is registered twice`);
    this.kinds.set(kind.name, kind);
  }

  /** Looks at an unfinished operation: sends it if it never left, recovers it if its outcome is unknown. */
  async advance(accountId: number, id: string): Promise<void> {
    await queries.expireInterrupted(this.database.prisma, { accountId, id });
    const operation = await queries.findDue(this.database.prisma, { accountId, id });
    if (!operation) return;
    // Its secrets were with the process that accepted it: nobody else can send it.
    if (this.kind(operation).repeat === 'never') return this.giveUp(operation);
    const account = await this.accounts.get(accountId);
    if (operation.state === 'received') await this.send(account, operation, 'received');
    if (operation.state === 'unknown') await this.recover(account, operation);
  }

  /** Wakes every unfinished operation whose time has come. */
  async wakeDue(): Promise<void> {
    for (const { accountId, id } of await queries.listDue(this.database.prisma, 500))
      await this.wakeUps.wake('advanceOperation', { accountId, operationId: id });
  }

  /** Makes one attempt, unless another process is making it or has made it. */
  async send(
    account: BankAccount,
    operation: Operation,
    from: queries.ClaimableState,
    secretBody: string | null = null,
  ): Promise<void> {
    const kind = this.kind(operation);
    const exactBody = secretBody ?? operation.requestBody;
    const input = decodeStored(kind.route, { ...operation, requestBody: exactBody });
    // Taken before the claim by this process's clock: it cannot lie after the claim's own limit.
    const sendBy = new Date(Date.now() + sendWithinMs);
    const claim = await queries.claimAttempt(this.database.prisma, operation, from, {
      sendWithinMs,
      leaseMs,
    });
    if (!claim) return;
    const answer = await this.bank.call(kind.route, account, input, {
      deadlineMs: callDeadlineMs,
      sendBy,
      exactBody,
      echoes: (value) => kind.echoes(input, value),
    });
    await this.conclude(kind, operation, claim, answer);
  }

  private async giveUp(operation: Operation): Promise<void> {
    if (operation.state === 'unknown')
      await queries.endUnknown(
        this.database.prisma,
        operation,
        'needs_operator',
        operation.reason ?? 'no_answer',
      );
  }

  private async conclude(
    kind: OperationKind,
    operation: Operation,
    { attempt, from }: queries.Claim,
    answer: BankAnswer<unknown>,
  ): Promise<void> {
    const conclusion = concludeFrom(refusalOf(kind, answer), from, attempt);
    await this.database.transaction(async (tx) => {
      const isOurs = await queries.concludeAttempt(tx, operation, attempt, conclusion);
      if (isOurs && answer.outcome === 'success')
        await kind.onSucceeded?.(tx, operation, { answer: answer.value });
      if (!isOurs || conclusion.state !== 'rejected') return;
      const { accountId, id: operationId } = operation;
      await this.expectedPayments.withdraw(tx, { accountId, operationId });
      await queries.freeNaturalIdentity(tx, operation);
      await kind.onRejected(tx, operation);
    });
  }

  private async recover(account: BankAccount, operation: Operation): Promise<void> {
    const db = this.database.prisma;
    const decision = decideRecovery(
      {
        ageMs: Date.now() - operation.createdAt.getTime(),
        isSeenOnStatement: await queries.isSeenOnStatement(db, operation),
      },
      this.bank.profile.isRepeatSafe,
    );
    switch (decision.step) {
      case 'resend':
        return this.send(account, operation, 'unknown');
      case 'wait':
        return queries.postpone(db, operation, decision.delayMs);
      case 'succeed':
        return queries.endUnknown(db, operation, 'succeeded', 'seen_on_statement');
      case 'ask_operator':
        return queries.endUnknown(db, operation, 'needs_operator', operation.reason ?? 'no_answer');
      default:
        return unreachable(decision);
    }
  }

  private kind(operation: Operation): OperationKind {
    const kind = this.kinds.get(operation.kind);
    invariant(kind, `operation kind ${operation.kind} is not registered`);
    return kind;
  }
}

/** The answer, as a rejection where its kind knows it for one. */
function refusalOf(kind: OperationKind, answer: BankAnswer<unknown>): BankAnswer<unknown> {
  if (answer.outcome !== 'unknown' || answer.status === null || answer.text === undefined)
    return answer;
  const { status, text } = answer;
  return kind.isRefusal?.({ status, text }) ? { outcome: 'rejection', status, text } : answer;
}

/** What an answer makes of an operation. Only the first request that left can be rejected. */
function concludeFrom(
  answer: BankAnswer<unknown>,
  from: queries.ClaimableState,
  attempt: number,
): queries.Conclusion {
  if (answer.outcome === 'success') return final('succeeded', answer.status, answer.text);
  if (answer.outcome === 'rejection' && from === 'received')
    return final('rejected', answer.status, answer.text);
  const reason = answer.outcome === 'unknown' ? answer.reason : 'refused_a_repeat';
  const hasLeft = reason !== 'not_sent' || from === 'unknown';
  return {
    state: hasLeft ? 'unknown' : 'received',
    status: null,
    body: null,
    reason,
    nextActionMs: pauseAfterMs(attempt),
  };
}

function final(state: 'succeeded' | 'rejected', status: number, body: string): queries.Conclusion {
  return { state, status, body, reason: null, nextActionMs: null };
}

function decodeStored(
  route: Route,
  { id, requestParams, requestQuery, requestBody }: Operation,
): RouteInput<Route> {
  const body = requestBody === null ? undefined : parseJson(requestBody);
  return {
    params: z.decode(route.params, parseJson(requestParams) as never),
    query: z.decode(route.query, parseJson(requestQuery) as never),
    body: z.decode(route.body, body as never),
    idempotencyKey: id,
  };
}
