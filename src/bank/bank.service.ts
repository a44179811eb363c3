// The only client of the bank. A call is made outside any transaction, within the account's limits
// and a total deadline; its result is an outcome, never an exception.
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { isAllowedIn } from '../access/accounts/account-mode.js';
import { AccountsService, type BankAccount } from '../access/accounts/accounts.service.js';
import type { BankCredentials } from '../access/accounts/credentials.js';
import { Settings } from '../platform/settings/config.js';
import {
  idempotencyKeyHeader,
  type Route,
  type RouteInput,
  type RouteOutput,
} from '../bank-contract/route.js';
import { assertOutsideTransaction } from '../platform/postgres/database.service.js';
import type { Countdown } from '../platform/countdown.js';
import { Reply } from '../platform/http/contract-route.js';
import { AppError } from '../platform/errors.js';
import { waitOutsideSlot } from '../platform/limits/request-slots.service.js';
import { inSpan } from '../platform/trace.js';
import { describeError, Log } from '../platform/log.js';
import {
  classifyResponse,
  type BankResponse,
  type UnknownOutcome,
} from './response-classification.js';
import { BankConnections } from './bank-connections.service.js';
import { recordBankCall } from './bank-metrics.service.js';
import { BankLimits } from './bank-limits.service.js';
import { endpointClassOf } from './endpoint-class.js';
import { faultOfRejection } from './rejection.js';
import { bankProfileOf, type BankProfile } from './profiles.js';
import { encodeBody, encodePathAndQuery } from './request-encoding.js';

export interface BankCallOptions<R extends Route> {
  /** The total time of the call: waiting for the rate limit, connecting, sending and reading. */
  deadlineMs?: number;
  /**
   * No byte is written after its end, which is checked last, because the process may have been
   * suspended.
   */
  sendWithin?: Countdown;
  /**
   * The exact body, if it was committed before the call. Otherwise the body is encoded from the
   * input.
   */
  exactBody?: string | null;
  /** Whether the response carries the amount and the ids of the request. */
  echoes?: (value: RouteOutput<R>) => boolean;
}

const defaultDeadlineMs = 10_000;

@Injectable()
export class BankService {
  readonly profile: BankProfile;
  /** The rate limit of each account when it was called last. */
  private readonly rates = new Map<number, number | null>();

  constructor(
    settings: Settings,
    private readonly accounts: AccountsService,
    private readonly connections: BankConnections,
    private readonly limits: BankLimits,
    private readonly log: Log,
  ) {
    this.profile = bankProfileOf(settings.bank);
  }

  /** Never throws for a failure of the bank or of the network. */
  async call<R extends Route>(
    route: R,
    account: BankAccount,
    input: Partial<RouteInput<R>>,
    options: BankCallOptions<R> = {},
  ): Promise<BankResponse<RouteOutput<R>>> {
    assertOutsideTransaction('a call to the bank');
    const startedAt = performance.now();
    // A bank that hangs occupies no slot, not even at the first call of each account.
    const response = await inSpan(`bank ${route.name}`, 'CLIENT', async (span) => {
      const answer = await waitOutsideSlot(() => this.attempt(route, account, input, options));
      span?.set({ 'concilia.account': account.slug, 'concilia.outcome': answer.outcome });
      if (answer.status !== null) span?.set({ 'http.response.status_code': answer.status });
      return answer;
    });
    const durationMs = performance.now() - startedAt;
    recordBankCall(route, response, durationMs);
    this.logResponse(route, account, response, durationMs);
    return response;
  }

  /**
   * Calls the bank for a caller and passes its response on verbatim, for requests that the service
   * does not store. Throws like `callOrThrow`.
   */
  async relay<R extends Route>(
    route: R,
    account: BankAccount,
    input: RouteInput<R>,
  ): Promise<Reply> {
    // What the bank answers is for the caller to read.
    const json = z.unknown();
    const response = route.response instanceof z.ZodArray ? z.array(json) : json;
    const { status, text } = await this.callOrThrow({ ...route, response }, account, input);
    return new Reply(status, text);
  }

  /**
   * Calls the bank for a waiting caller, and returns a successful response. Throws the bank's
   * rejection as a fault with its messages; `rate_limited`, `bank_timeout` or `bank_unreachable`
   * where the outcome is unknown.
   */
  async callOrThrow<R extends Route>(
    route: R,
    account: BankAccount,
    input: RouteInput<R>,
  ): Promise<Extract<BankResponse<RouteOutput<R>>, { outcome: 'success' }>> {
    const response = await this.call(route, account, input);
    if (response.outcome === 'success') return response;
    if (response.outcome === 'rejection') throw new AppError(...faultOfRejection(response));
    if (response.status === 409)
      throw new AppError(...faultOfRejection({ status: 409, text: response.text ?? '{}' }));
    if (response.withheldIn) throw await this.accounts.faultOfMode(account.id, response.withheldIn);
    const headers = retryAfterHeader(response);
    if (response.isLimited) throw new AppError('rate_limited', { headers });
    throw new AppError(response.reason === 'too_late' ? 'bank_timeout' : 'bank_unreachable', {
      internal: `${route.name}: ${response.reason}`,
      headers,
    });
  }

  /** Waits for the account's rate limit, sends, and classifies the response. */
  private async attempt<R extends Route>(
    route: R,
    account: BankAccount,
    input: Partial<RouteInput<R>>,
    options: BankCallOptions<R>,
  ): Promise<BankResponse<RouteOutput<R>>> {
    const startedAt = performance.now();
    const { deadlineMs = defaultDeadlineMs, sendWithin } = options;
    // After a change, one more call has the earlier limit: reading it for each call would double
    // the look-ups.
    if (!this.rates.has(account.id)) await this.findCallSettings(account, route, true);
    const ratePerSecond = this.rates.get(account.id);
    if (ratePerSecond === undefined) return notSent;
    const admission = await this.limits.admit({
      accountId: account.id,
      endpointClass: endpointClassOf(route),
      ratePerSecond,
      // After waiting for the rate limit, the call still needs time for the response.
      maxWaitMs: Math.min(deadlineMs / 2, sendWithin?.remainingMs ?? deadlineMs),
    });
    if (!admission.isAdmitted) {
      const { retryAfterMs, isLimited } = admission;
      return { ...notSent, retryAfterMs: Math.ceil(retryAfterMs), isLimited };
    }
    let response: BankResponse<RouteOutput<R>> | null = null;
    try {
      // Last, when the wait for the rate limit is over: the mode may have changed meanwhile.
      const settings = await this.findCallSettings(account, route, !admission.hasWaited);
      if (!settings) return notSent;
      const withheld = withheldBy(settings, route);
      if (withheld) return withheld;
      const remainingMs = Math.max(1, Math.ceil(deadlineMs - (performance.now() - startedAt)));
      const sendOptions = { ...options, deadlineMs: remainingMs };
      response = await this.send(route, account, input, sendOptions, settings.credentials);
    } finally {
      admission.finish(response);
    }
    return response ?? notSent;
  }

  /** Null where nothing was sent: `sendWithin` has ended, or there is no key for the route. */
  private async send<R extends Route>(
    route: R,
    account: BankAccount,
    input: Partial<RouteInput<R>>,
    { deadlineMs, sendWithin, exactBody, echoes }: BankCallOptions<R> & { deadlineMs: number },
    credentials: BankCredentials,
  ): Promise<BankResponse<RouteOutput<R>> | null> {
    const body = exactBody ?? encodeBody(route, input);
    const headers = headersOf(route, credentials, input.idempotencyKey ?? null, body !== null);
    const pathAndQuery = encodePathAndQuery(route, input);
    if (!headers || sendWithin?.hasEnded) return null;
    const result = await this.connections.exchange({
      accountId: account.id,
      tls: credentials.tls,
      isWhitelabel: route.authentication === 'partner-key',
      method: route.method,
      pathAndQuery,
      headers,
      body,
      deadlineMs,
      sendWithin: sendWithin ?? null,
    });
    if (result.hasResponse) return classifyResponse(route, result.response, echoes ?? (() => true));
    const { reason, error } = result;
    // The error of axios holds the whole request with its key and body: log a description only.
    const fields = { err: describeError(error), route: route.name, account: account.slug };
    if (reason !== 'too_late') this.log.warn(fields, 'bank request got no response');
    return { outcome: 'unknown', reason, status: null };
  }

  /**
   * Null where they cannot be read. The outcome is then `not_sent`, which does not change the
   * outcome of earlier attempts.
   */
  private async findCallSettings(
    account: BankAccount,
    { isReading }: Route,
    isAtOnce: boolean,
  ): Promise<CallSettings | null> {
    try {
      const settings = await this.accounts.getCallSettings(account, { isReading, isAtOnce });
      this.rates.set(account.id, settings.credentials.rateLimitPerSecond);
      return settings;
    } catch (error) {
      this.log.error({ err: error, account: account.slug }, 'bank credentials unreadable');
      return null;
    }
  }

  /**
   * Logs one line for each call. The line has no content and no URL, because both may hold personal
   * data.
   */
  private logResponse(
    route: Route,
    account: BankAccount,
    response: BankResponse<unknown>,
    durationMs: number,
  ): void {
    const fields = {
      route: route.name,
      account: account.slug,
      outcome: response.outcome,
      status: response.status,
      ...(response.outcome === 'unknown' ? { reason: response.reason } : {}),
      durationMs: Math.round(durationMs),
    };
    if (response.outcome === 'success') this.log.debug(fields, 'bank request succeeded');
    else if (response.status === 401 || response.status === 403)
      this.log.error(fields, 'bank rejected the key; further calls of this class are paused');
    else this.log.info(fields, 'bank request failed');
  }
}

type CallSettings = Awaited<ReturnType<AccountsService['getCallSettings']>>;

const notSent: UnknownOutcome = { outcome: 'unknown', reason: 'not_sent', status: null };

/**
 * The outcome of a request that the mode of the account does not allow; null if it is allowed. Who
 * changes the mode counts the attempts after its commit. An attempt that is allowed here was
 * recorded before that commit, and so it is counted.
 */
function withheldBy(settings: CallSettings, route: Route): UnknownOutcome | null {
  if (isAllowedIn(settings, route)) return null;
  return { ...notSent, withheldIn: settings.mode };
}

/** Null where the account has no key of the kind that the route requires. */
export function headersOf(
  route: Route,
  { apiKey, partnerKey, apiKeyHeader, partnerKeyHeader, accountHeader }: BankCredentials,
  idempotencyKey: string | null,
  hasBody: boolean,
): Record<string, string> | null {
  const usesPartnerKey = route.authentication === 'partner-key';
  const key = usesPartnerKey ? partnerKey : apiKey;
  if (!key) return null;
  return {
    accept: 'application/json',
    [usesPartnerKey ? partnerKeyHeader : apiKeyHeader]: key,
    ...(accountHeader && !usesPartnerKey ? { [accountHeader.name]: accountHeader.value } : {}),
    ...(idempotencyKey ? { [idempotencyKeyHeader]: idempotencyKey } : {}),
    ...(hasBody ? { 'content-type': 'application/json' } : {}),
  };
}

/** In whole seconds, rounded up: an earlier repeat would fail again. */
function retryAfterHeader({ retryAfterMs, isLimited }: UnknownOutcome): Record<string, string> {
  const waitMs = retryAfterMs ?? (isLimited ? 1_000 : null);
  return waitMs === null ? {} : { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1_000))) };
}
