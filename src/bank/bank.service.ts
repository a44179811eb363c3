// The only door to the bank. One call, outside any transaction, within the account's limits and a total
// deadline; what it brings back is an outcome, never an exception.
import { Injectable } from '@nestjs/common';
import { AccountsService, type BankAccount } from '../accounts/accounts.service.js';
import type { BankCredentials } from '../accounts/credentials.js';
import { Settings } from '../config.js';
import { idempotencyKeyHeader } from '../contract/authentication.js';
import type { Route, RouteInput, RouteOutput } from '../contract/route.js';
import { assertOutsideTransaction } from '../database.service.js';
import { Reply } from '../platform/contract-route.js';
import { AppError } from '../platform/errors.js';

import { describeError, Log } from '../platform/log.js';
import { classifyResponse, type BankAnswer, type UnknownAnswer } from './answer.js';
import { BankConnections } from './bank-connections.service.js';
import { BankLimits } from './bank-limits.service.js';
import { endpointClassOf } from './endpoint-class.js';
import { refusal } from './refusal.js';
import { profileOf, type BankProfile } from './profiles.js';
import { encodeBody, encodeTarget } from './request.js';

export interface CallOptions<R extends Route> {
  /** The total time for the call, in milliseconds: waiting for its turn, connecting, sending and reading. */
  deadlineMs?: number;
  /** No byte is written after this instant: checked last, for a process that slept. */
  sendBy?: Date;
  /** The exact body, where it was committed beforehand; encoded from the input otherwise. */
  exactBody?: string | null;
  /** Whether the answer speaks of what was asked (our amount, our ids). */
  echoes?: (value: RouteOutput<R>) => boolean;
}

const defaultDeadlineMs = 10_000;

@Injectable()
export class BankService {
  readonly profile: BankProfile;

  constructor(
    settings: Settings,
    private readonly accounts: AccountsService,
    private readonly connections: BankConnections,
    private readonly limits: BankLimits,
    private readonly log: Log,
  ) {
    this.profile = profileOf(settings.bank);
  }

  /** Asks the bank. Never throws for what the bank or the network does. */
  async call<R extends Route>(
    route: R,
    account: BankAccount,
    input: Partial<RouteInput<R>>,
    options: CallOptions<R> = {},
  ): Promise<BankAnswer<RouteOutput<R>>> {
    assertOutsideTransaction('a call to the bank');
    const startedAt = performance.now();
    const answer = await this.attempt(route, account, input, options);
    this.tell(route, account, answer, performance.now() - startedAt);
    return answer;
  }

  /**
   * Asks the bank on a caller's behalf and hands its answer on to the letter, for what the service keeps no
   * record of. Throws where there is no answer worth handing on.
   */
  async relay<R extends Route>(
    route: R,
    account: BankAccount,
    input: RouteInput<R>,
  ): Promise<Reply> {
    const { status, text } = await this.ask(route, account, input);
    return new Reply(status, text);
  }

  /** The bank's success, for a caller who waits. Throws its refusal, and where there is no answer. */
  async ask<R extends Route>(
    route: R,
    account: BankAccount,
    input: RouteInput<R>,
  ): Promise<Extract<BankAnswer<RouteOutput<R>>, { outcome: 'success' }>> {
    const answer = await this.call(route, account, input);
    if (answer.outcome === 'success') return answer;
    if (answer.outcome === 'rejection') throw new AppError(...refusal(answer));
    if (answer.status === 409)
      throw new AppError(...refusal({ status: 409, text: answer.text ?? '{}' }));
    const headers = retryAfterHeader(answer);
    if (answer.isLimited) throw new AppError('rate_limited', { headers });
    throw new AppError(answer.reason === 'too_late' ? 'bank_timeout' : 'bank_unreachable', {
      internal: `${route.name}: ${answer.reason}`,
      headers,
    });
  }

  /** Waits for the account's turn, sends, and judges what comes. */
  private async attempt<R extends Route>(
    route: R,
    account: BankAccount,
    input: Partial<RouteInput<R>>,
    options: CallOptions<R>,
  ): Promise<BankAnswer<RouteOutput<R>>> {
    const startedAt = performance.now();
    const { deadlineMs = defaultDeadlineMs, sendBy } = options;
    const credentials = await this.credentials(account);
    if (!credentials) return notSent;
    const admission = await this.limits.admit({
      accountId: account.id,
      endpointClass: endpointClassOf(route),
      ratePerSecond: credentials.rateLimitPerSecond,
      // A call that has waited for its turn needs time for its answer.
      patienceMs: Math.min(deadlineMs / 2, sendBy ? sendBy.getTime() - Date.now() : deadlineMs),
    });
    if (!admission.isAdmitted) {
      const { retryAfterMs, isLimited } = admission;
      return { ...notSent, retryAfterMs: Math.ceil(retryAfterMs), isLimited };
    }
    let answer: BankAnswer<RouteOutput<R>> | null = null;
    try {
      const leftMs = Math.max(1, Math.ceil(deadlineMs - (performance.now() - startedAt)));
      const within = { ...options, deadlineMs: leftMs };
      answer = await this.send(route, account, input, within, credentials);
    } finally {
      admission.conclude(answer);
    }
    return answer ?? notSent;
  }

  /** Null where nothing was tried: it is too late, or there is no key to show. */
  private async send<R extends Route>(
    route: R,
    account: BankAccount,
    input: Partial<RouteInput<R>>,
    { deadlineMs, sendBy, exactBody, echoes }: CallOptions<R> & { deadlineMs: number },
    credentials: BankCredentials,
  ): Promise<BankAnswer<RouteOutput<R>> | null> {
    const body = exactBody ?? encodeBody(route, input);
    const headers = headersOf(route, credentials, input.idempotencyKey ?? null, body !== null);
    const target = encodeTarget(route, input);
    if (!headers || (sendBy && Date.now() > sendBy.getTime())) return null;
    const exchanged = await this.connections.exchange({
      accountId: account.id,
      tls: credentials.tls,
      isWhitelabel: route.authentication === 'partner-key',
      method: route.method,
      target,
      headers,
      body,
      deadlineMs,
      sendBy: sendBy ?? null,
    });
    if (exchanged.isAnswered) return classifyResponse(route, exchanged.answer, echoes ?? (() => true));
    const { reason, error } = exchanged;
    // The client's own error holds the whole request, with key and body.
    const about = { err: describeError(error), route: route.name, account: account.slug };
    this.log.warn(about, 'no answer from the bank');
    return { outcome: 'unknown', reason, status: null };
  }

  /** Null where they cannot be read: nothing can be sent then, which is no reason to doubt what was. */
  private async credentials(account: BankAccount): Promise<BankCredentials | null> {
    try {
      return await this.accounts.credentials(account);
    } catch (error) {
      this.log.error({ err: error, account: account.slug }, 'no credentials to show to the bank');
      return null;
    }
  }

  /** One line a call: neither its address, which names persons, nor anything that it carries. */
  private tell(
    route: Route,
    account: BankAccount,
    answer: BankAnswer<unknown>,
    durationMs: number,
  ): void {
    const told = {
      route: route.name,
      account: account.slug,
      outcome: answer.outcome,
      status: answer.status,
      ...(answer.outcome === 'unknown' ? { reason: answer.reason } : {}),
      durationMs: Math.round(durationMs),
    };
    if (answer.outcome === 'success') this.log.debug(told, 'the bank said yes');
    else if (answer.status === 401 || answer.status === 403)
      this.log.error(told, 'the bank refuses our key; calls of this kind are held back');
    else this.log.info(told, 'the bank did not say yes');
  }
}

const notSent: UnknownAnswer = { outcome: 'unknown', reason: 'not_sent', status: null };

/** Null where the account has no key of the kind that the route asks for. */
function headersOf(
  route: Route,
  { apiKey, partnerKey, apiKeyHeader, partnerKeyHeader, accountHeader }: BankCredentials,
  idempotencyKey: string | null,
  hasBody: boolean,
): Record<string, string> | null {
  const isPartners = route.authentication === 'partner-key';
  const key = isPartners ? partnerKey : apiKey;
  if (!key) return null;
  return {
    accept: 'application/json',
    [isPartners ? partnerKeyHeader : apiKeyHeader]: key,
    ...(accountHeader && !isPartners ? { [accountHeader.name]: accountHeader.value } : {}),
    ...(idempotencyKey ? { [idempotencyKeyHeader]: idempotencyKey } : {}),
    ...(hasBody ? { 'content-type': 'application/json' } : {}),
  };
}

/** In whole seconds, rounded up: who comes back earlier is sent away again. */
function retryAfterHeader({ retryAfterMs, isLimited }: UnknownAnswer): Record<string, string> {
  const waitMs = retryAfterMs ?? (isLimited ? 1_000 : null);
  return waitMs === null ? {} : { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1_000))) };
}
