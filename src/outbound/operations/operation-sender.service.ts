// Sends an operation under a claim that no other process holds, outside any transaction, and
// classifies the response: succeeded, rejected by the bank itself, or unknown.
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { AccountsService, type BankAccount } from '../../access/accounts/accounts.service.js';
import type { BankResponse } from '../../bank/response-classification.js';
import { BankService } from '../../bank/bank.service.js';
import type { Route, RouteInput } from '../../bank-contract/route.js';
import { Database } from '../../platform/postgres/database.service.js';
import { Countdown } from '../../platform/countdown.js';
import { isJsonObject, parseJson } from '../../platform/json/exact-json.js';
import type { Operation, OperationKind } from './operation.js';
import * as queries from './operations.queries.js';
import {
  OperationOutcomes,
  withoutResponse,
  type OperationOutcome,
} from './operation-outcomes.service.js';
import { recoveryDelayAfterResponseMs, refusedRepeat } from './recovery.js';

const callDeadlineMs = 10_000;
/** How long the call may take to begin. It may wait for a connection until its own deadline. */
export const startWithinMs = 5_000;

export const attemptLimits: queries.AttemptLimits = {
  sentWithinMs: startWithinMs + callDeadlineMs,
  // Longer than any attempt: after it, the process that made the attempt has died.
  leaseMs: startWithinMs + callDeadlineMs + 5_000,
};

/** The bank's exact response, once it is recorded. */
export interface SentResponse {
  status: number;
  text: string;
}

interface Attempt extends queries.Claim {
  kind: OperationKind;
  operation: queries.OperationRef;
  account: BankAccount;
  /** Whether an earlier attempt may have had its effect. */
  from: queries.ClaimableState;
  input: RouteInput<Route>;
  exactBody: string | null;
  sendWithin: Countdown;
}

@Injectable()
export class OperationSender {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly outcomes: OperationOutcomes,
  ) {}

  /**
   * Makes one attempt, unless another process is making or has made the attempt. A request that
   * holds secrets is sent only by the process that received them, from memory. Returns the bank's
   * response if it was recorded, null otherwise: the stored body of a request with secrets is
   * redacted.
   */
  async send(
    operation: Operation,
    from: queries.ClaimableState,
    secretBody: string | null = null,
  ): Promise<SentResponse | null> {
    const kind = this.outcomes.kindOf(operation);
    if (kind.repeat === 'never' && (secretBody === null || from === 'unknown')) return null;
    const account = await this.accounts.get(operation.accountId);
    const exactBody = secretBody ?? operation.requestBody;
    const input = decodeStoredInput(kind.route, operation, exactBody);
    // It begins before the claim, so it ends before the claim's limit.
    const sendWithin = new Countdown(startWithinMs);
    const { prisma } = this.database;
    const claim = await queries.claimAttempt(prisma, operation, from, attemptLimits);
    if (!claim) return null;
    return this.attempt({ kind, operation, from, input, exactBody, account, sendWithin, ...claim });
  }

  /**
   * Makes the first attempt of an operation that was claimed when it was stored, with the input of
   * its committed body. Returns like `send`.
   */
  sendClaimed(
    operation: queries.NewOperation,
    input: RouteInput<Route>,
    { account, sendWithin }: Pick<Attempt, 'account' | 'sendWithin'>,
  ): Promise<SentResponse | null> {
    return this.attempt({
      kind: this.outcomes.kindOf(operation),
      operation,
      from: 'received',
      account,
      sendWithin,
      input: { ...input, idempotencyKey: operation.id },
      exactBody: operation.requestBody,
      attempt: 1,
      ageMs: 0,
    });
  }

  private async attempt(claimed: Attempt): Promise<SentResponse | null> {
    const { kind, operation, from, input, exactBody, sendWithin, attempt: number } = claimed;
    const { account } = claimed;
    const exactResponse = await this.bank.call(kind.route, account, input, {
      deadlineMs: callDeadlineMs,
      sendWithin,
      exactBody,
      echoes: (value) => kind.echoes(input, value),
    });
    const response = redactSecrets(kind, input, applyRejection(kind, exactResponse));
    const outcome = outcomeOf(kind, from, response, claimed.ageMs);
    const result = { number, status: response.status, reason: outcome.reason };
    const isRecorded =
      (from === 'received' &&
        (await this.outcomes.recordAnswer(operation, kind, outcome, number))) ||
      (await this.outcomes.record(
        operation,
        outcome,
        (current) => isStillApplicable(current, number, outcome),
        result,
      ));
    const { status, text } = exactResponse;
    if (!isRecorded || outcome.response === null || status === null || text === undefined)
      return null;
    return { status, text };
  }

  /** The attempt of a process that has died may have been sent: its operation becomes unknown. */
  async recordInterrupted(ref: queries.OperationRef): Promise<void> {
    if (!(await queries.isDue(this.database.prisma, ref, 'sending'))) return;
    const operation = await this.database.prisma.operation.findUniqueOrThrow({
      where: { accountId_id: ref },
    });
    const { attempts: number } = operation;
    await this.outcomes.record(
      ref,
      withoutResponse('unknown', 'interrupted', 0),
      (current, tx) => current.attempts === number && queries.isDue(tx, ref, 'sending'),
      { number, status: null, reason: 'interrupted' },
    );
  }
}

/** The response as it may be stored. */
function redactSecrets(
  kind: OperationKind,
  input: RouteInput<Route>,
  response: BankResponse<unknown>,
): BankResponse<unknown> {
  if (kind.repeat !== 'never' || response.text === undefined) return response;
  return {
    ...response,
    text: kind.redactResponse?.(input, response.text) ?? '{}',
  } as BankResponse<unknown>;
}

/** Turns the response into a rejection if the kind says that it is a rejection. */
function applyRejection(
  kind: OperationKind,
  response: BankResponse<unknown>,
): BankResponse<unknown> {
  if (response.outcome !== 'unknown' || response.status === null || response.text === undefined)
    return response;
  const { status, text } = response;
  return kind.isRejection?.({ status, text }) ? { outcome: 'rejection', status, text } : response;
}

/** The outcome that a response leads to. Only the first request that was sent can be rejected. */
function outcomeOf(
  kind: OperationKind,
  from: queries.ClaimableState,
  response: BankResponse<unknown>,
  ageMs: number,
): OperationOutcome {
  if (response.outcome === 'success')
    return {
      ...finalOutcome('succeeded', response),
      bankReference: idOf(response.value),
      decodedResponse: response.value,
    };
  if (response.outcome === 'rejection' && from === 'received')
    return finalOutcome('rejected', response);
  const reason = reasonOf(response, from);
  const hasLeft = reason !== 'not_sent' || from === 'unknown';
  // The secrets are no longer in memory, so the request cannot be resent. If it was not sent, it
  // ends as not executed. If it may have been sent, only an operator can find the outcome.
  if (kind.repeat === 'never')
    return {
      ...(hasLeft
        ? withoutResponse('needs_operator', reason, null)
        : withoutResponse('not_executed', 'never_sent', null)),
      bankReference: bankReferenceIn(response),
    };
  const retryAfterMs = response.outcome === 'unknown' ? response.retryAfterMs : 0;
  const delayMs = recoveryDelayAfterResponseMs(ageMs, retryAfterMs);
  return {
    ...withoutResponse(hasLeft ? 'unknown' : 'received', reason, delayMs),
    bankReference: bankReferenceIn(response),
  };
}

/**
 * The reason of an unknown outcome. When the bank refuses a repeat, the refusal shows nothing about
 * the first request.
 */
function reasonOf(
  response: Exclude<BankResponse<unknown>, { outcome: 'success' }>,
  from: queries.ClaimableState,
): string {
  const isRefused = response.outcome === 'rejection' || response.status === 409;
  if (from === 'unknown' && isRefused) return refusedRepeat;
  return response.outcome === 'unknown' ? response.reason : 'refused_for_now';
}

/**
 * Whether the outcome of an attempt still applies. A success always applies, whichever attempt it
 * responds to. Any other outcome applies only while its attempt is the last attempt and is in
 * progress.
 */
function isStillApplicable(
  current: Operation,
  attempt: number,
  { state }: OperationOutcome,
): boolean {
  if (current.state === 'sending' && current.attempts === attempt) return true;
  if (state !== 'succeeded') return false;
  if (current.state === 'succeeded') return current.responseStatus === null;
  return current.state !== 'rejected';
}

/**
 * A 2xx response that cannot be accepted as a success still shows that the bank knows the
 * operation: by the id in the response, or by the response status.
 */
function bankReferenceIn(response: BankResponse<unknown>): string | null {
  const { status } = response;
  if (status === null || status < 200 || status > 299) return null;
  return (response.text === undefined ? null : idIn(response.text)) ?? `status ${status}`;
}

function idIn(text: string): string | null {
  // A list has no id of its own, and reading the response to a batch takes long.
  if (text.trimStart().startsWith('[')) return null;
  try {
    return idOf(parseJson(text));
  } catch {
    // An unreadable body holds no id.
    return null;
  }
}

function idOf(response: unknown): string | null {
  const id = isJsonObject(response) ? response.id : undefined;
  return typeof id === 'string' && id !== '' && id.length <= 100 ? id : null;
}

function finalOutcome(
  state: 'succeeded' | 'rejected',
  { status, text }: { status: number; text: string },
): OperationOutcome {
  return { ...withoutResponse(state, null, null), response: { status, text } };
}

function decodeStoredInput(
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
