// Sends an operation under a claim that no other process holds, outside any transaction, and says what the answer
// is worth: a yes, the bank's own no, or unknown.
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { AccountsService } from '../accounts/accounts.service.js';
import type { BankAnswer } from '../bank/answer.js';
import { BankService } from '../bank/bank.service.js';
import type { Route, RouteInput } from '../contract/route.js';
import { Database } from '../database.service.js';
import { isJsonObject, parseJson } from '../platform/exact-json.js';
import type { Operation, OperationKind } from './operation.js';
import * as queries from './operations.queries.js';
import { OperationOutcomes, type OperationOutcome } from './operation-outcomes.service.js';
import { pauseAfterAnswerMs } from './recovery.js';

const callDeadlineMs = 10_000;
/** To begin the call. It may wait for a connection, so that its bytes leave until its deadline. */
const sendWithinMs = 5_000;
/** Longer than an attempt can last: past it, the process that made the attempt is gone. */
const leaseMs = sendWithinMs + callDeadlineMs + 5_000;

@Injectable()
export class OperationSender {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly outcomes: OperationOutcomes,
  ) {}

  /**
   * Makes one attempt, unless another process is making it or has made it. What holds secrets is sent from the
   * memory of the process that was given them, and by no other; the bank's exact answer to it is given back once, and
   * kept without what it repeats of them.
   */
  async send(
    operation: Operation,
    from: queries.ClaimableState,
    secretBody: string | null = null,
  ): Promise<string | null> {
    const kind = this.outcomes.kindOf(operation);
    if (kind.repeat === 'never' && (secretBody === null || from === 'unknown')) return null;
    const account = await this.accounts.get(operation.accountId);
    const exactBody = secretBody ?? operation.requestBody;
    const input = decodeStored(kind.route, operation, exactBody);
    // Taken before the claim by this process's clock: it cannot lie after the claim's own limit.
    const sendBy = new Date(Date.now() + sendWithinMs);
    const claim = await queries.claimAttempt(this.database.prisma, operation, from, {
      leftWithinMs: sendWithinMs + callDeadlineMs,
      leaseMs,
    });
    if (!claim) return null;
    const exact = await this.bank.call(kind.route, account, input, {
      deadlineMs: callDeadlineMs,
      sendBy,
      exactBody,
      echoes: (value) => kind.echoes(input, value),
    });
    const answer = withoutSecrets(kind, input, refusalOf(kind, exact));
    const outcome = outcomeOf(kind, operation, from, answer);
    const { attempt: number } = claim;
    const isGiven = await this.outcomes.give(
      operation,
      outcome,
      (now) => isOwed(now, number, outcome),
      {
        number,
        status: answer.status,
        reason: outcome.reason,
      },
    );
    return isGiven && outcome.response !== null ? (exact.text ?? null) : null;
  }

  /** An attempt whose process is gone may have been sent: its operation becomes unknown. */
  async giveUpInterrupted(key: queries.Key): Promise<void> {
    if (!(await queries.isInterrupted(this.database.prisma, key))) return;
    const operation = await this.database.prisma.operation.findUniqueOrThrow({
      where: { accountId_id: key },
    });
    const { attempts: number } = operation;
    await this.outcomes.give(
      key,
      { ...unfinished('unknown', 'interrupted'), pauseMs: 0 },
      (now, tx) => now.attempts === number && queries.isInterrupted(tx, key),
      { number, status: null, reason: 'interrupted' },
    );
  }
}

/** The answer as it may be kept. */
function withoutSecrets(
  kind: OperationKind,
  input: RouteInput<Route>,
  answer: BankAnswer<unknown>,
): BankAnswer<unknown> {
  if (kind.repeat !== 'never' || answer.text === undefined) return answer;
  return {
    ...answer,
    text: kind.redactAnswer?.(input, answer.text) ?? '{}',
  } as BankAnswer<unknown>;
}

/** The answer, as a rejection where its kind knows it for one. */
function refusalOf(kind: OperationKind, answer: BankAnswer<unknown>): BankAnswer<unknown> {
  if (answer.outcome !== 'unknown' || answer.status === null || answer.text === undefined)
    return answer;
  const { status, text } = answer;
  return kind.isRefusal?.({ status, text }) ? { outcome: 'rejection', status, text } : answer;
}

/** What an answer makes of an operation. Only the first request that left can be rejected. */
function outcomeOf(
  kind: OperationKind,
  operation: Operation,
  from: queries.ClaimableState,
  answer: BankAnswer<unknown>,
): OperationOutcome {
  if (answer.outcome === 'success')
    return {
      ...final('succeeded', answer),
      bankReference: idIn(answer.text),
      answer: answer.value,
    };
  if (answer.outcome === 'rejection' && from === 'received') return final('rejected', answer);
  const reason = reasonOf(answer, from);
  const hasLeft = reason !== 'not_sent' || from === 'unknown';
  // Nobody can send it again: what did not leave never will, and of what did only a person can tell.
  if (kind.repeat === 'never')
    return {
      ...unfinished(hasLeft ? 'needs_operator' : 'not_executed', hasLeft ? reason : 'never_sent'),
      bankReference: signOfLife(answer),
      pauseMs: null,
    };
  const ageMs = Date.now() - operation.createdAt.getTime();
  const retryAfterMs = answer.outcome === 'unknown' ? answer.retryAfterMs : 0;
  return {
    ...unfinished(hasLeft ? 'unknown' : 'received', reason),
    bankReference: signOfLife(answer),
    pauseMs: pauseAfterAnswerMs(ageMs, retryAfterMs),
  };
}

/** A repeat that the bank will not take is no word on the first. */
function reasonOf(
  answer: Exclude<BankAnswer<unknown>, { outcome: 'success' }>,
  from: queries.ClaimableState,
): string {
  const isRefusal = answer.outcome === 'rejection' || answer.status === 409;
  if (from === 'unknown' && isRefusal) return 'refused_a_repeat';
  return answer.outcome === 'unknown' ? answer.reason : 'refused_for_now';
}

/**
 * Whether a verdict of an attempt is still waited for. A yes is believed whenever it comes and whichever attempt it
 * answers; all else counts only while its attempt is the last, and under way.
 */
function isOwed(now: Operation, attempt: number, { state }: OperationOutcome): boolean {
  if (now.state === 'sending' && now.attempts === attempt) return true;
  if (state !== 'succeeded') return false;
  if (now.state === 'succeeded') return now.responseStatus === null;
  return now.state !== 'rejected';
}

/** An answer that says yes and cannot be believed shows that the bank knows of it: by its id, or by its status. */
function signOfLife(answer: BankAnswer<unknown>): string | null {
  const { status } = answer;
  if (status === null || status < 200 || status > 299) return null;
  return (answer.text === undefined ? null : idIn(answer.text)) ?? `status ${status}`;
}

function idIn(text: string): string | null {
  try {
    const read = parseJson(text);
    const id = isJsonObject(read) ? read.id : undefined;
    return typeof id === 'string' && id !== '' && id.length <= 100 ? id : null;
  } catch {
    // What cannot be read tells no id.
    return null;
  }
}

function final(
  state: 'succeeded' | 'rejected',
  { status, text }: { status: number; text: string },
): OperationOutcome {
  return { state, reason: null, response: { status, text }, bankReference: null, pauseMs: null };
}

function unfinished(state: Operation['state'], reason: string) {
  return { state, reason, response: null, bankReference: null };
}

function decodeStored(
  route: Route,
  { id, requestParams, requestQuery }: Operation,
  exactBody: string | null,
): RouteInput<Route> {
  const body = exactBody === null ? undefined : parseJson(exactBody);
  return {
    params: z.decode(route.params, parseJson(requestParams) as never),
    query: z.decode(route.query, parseJson(requestQuery) as never),
    body: z.decode(route.body, body as never),
    idempotencyKey: id,
  };
}
