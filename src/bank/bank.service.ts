// The only door to the bank. One call, outside any transaction, under a total deadline, following no redirect
// and reading no more than an answer can be; what it brings back is an outcome, never an exception.
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import axios, { type AxiosInstance } from 'axios';
import { z } from 'zod';
import { AccountsService, type BankAccount } from '../accounts/accounts.service.js';
import { Settings } from '../config.js';
import { idempotencyKeyHeader } from '../contract/authentication.js';
import { errorBody } from '../contract/errors.js';
import type { Route, RouteInput, RouteOutput } from '../contract/route.js';
import { assertOutsideTransaction } from '../database.service.js';
import { Addresses } from '../platform/addresses.js';
import { Reply } from '../platform/contract-route.js';
import { AppError, type FaultCode, type FaultDetails } from '../platform/errors.js';
import { parseJson, stringifyJson } from '../platform/exact-json.js';
import { Log } from '../platform/log.js';
import { judgeAnswer, type BankAnswer, type RawAnswer, type UnknownReason } from './answer.js';
import { profileOf, type BankProfile } from './profiles.js';

export interface CallOptions<R extends Route> {
  /** The total time for the call, in milliseconds: connecting, sending and reading. */
  deadlineMs?: number;
  /** No byte is written after this instant: checked last, for a process that slept. */
  sendBy?: Date;
  /** The exact body, where it was committed beforehand; encoded from the input otherwise. */
  exactBody?: string | null;
  /** Whether the answer speaks of what was asked (our amount, our ids). */
  echoes?: (value: RouteOutput<R>) => boolean;
}

const defaultDeadlineMs = 10_000;
/** A statement page of a thousand lines with their proofs stays well below. */
const maxAnswerBytes = 16 * 1_048_576;

@Injectable()
export class BankService implements OnApplicationShutdown {
  readonly profile: BankProfile;
  private readonly client: AxiosInstance;
  private readonly agents = {
    httpAgent: new HttpAgent({ keepAlive: true, maxSockets: 64 }),
    httpsAgent: new HttpsAgent({ keepAlive: true, maxSockets: 64 }),
  };

  constructor(
    private readonly settings: Settings,
    private readonly addresses: Addresses,
    private readonly accounts: AccountsService,
    private readonly log: Log,
  ) {
    this.profile = profileOf(settings.bank);
    this.client = axios.create({
      ...this.agents,
      maxRedirects: 0,
      maxContentLength: maxAnswerBytes,
      responseType: 'arraybuffer',
      transformRequest: [(body: unknown) => body],
      validateStatus: () => true,
      proxy: false,
    });
  }

  /** Asks the bank. Never throws for what the bank or the network does. */
  async call<R extends Route>(
    route: R,
    account: BankAccount,
    input: Partial<RouteInput<R>>,
    options: CallOptions<R> = {},
  ): Promise<BankAnswer<RouteOutput<R>>> {
    assertOutsideTransaction('a call to the bank');
    const raw = await this.send(route, account, input, options);
    if ('outcome' in raw) return raw;
    const answer = judgeAnswer(route, raw, options.echoes ?? (() => true));
    if (answer.outcome !== 'success')
      this.log.info(
        { route: route.name, account: account.slug, outcome: answer.outcome, status: raw.status },
        'the bank did not say yes',
      );
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
    if (answer.status === 409) throw new AppError('conflict');
    if (answer.status === 429)
      throw new AppError('rate_limited', { headers: { 'Retry-After': '1' } });
    throw new AppError(answer.reason === 'too_late' ? 'bank_timeout' : 'bank_unreachable', {
      internal: `${route.name}: ${answer.reason}`,
    });
  }

  onApplicationShutdown(): void {
    this.agents.httpAgent.destroy();
    this.agents.httpsAgent.destroy();
  }

  private async send<R extends Route>(
    route: R,
    account: BankAccount,
    input: Partial<RouteInput<R>>,
    { deadlineMs = defaultDeadlineMs, sendBy, exactBody }: CallOptions<R>,
  ): Promise<RawAnswer | Extract<BankAnswer<never>, { outcome: 'unknown' }>> {
    const body = exactBody ?? encodeBody(route, input);
    const url = this.addresses.bankBaseUrl + fillPath(route, input) + queryText(route, input);
    const headers = this.headers(route, account, input.idempotencyKey ?? null, body !== null);
    if (sendBy && Date.now() > sendBy.getTime())
      return { outcome: 'unknown', reason: 'not_sent', status: null };
    const deadline = AbortSignal.timeout(deadlineMs);
    try {
      const response = await this.client.request<Buffer>({
        method: route.method,
        url,
        data: body ?? undefined,
        headers,
        signal: deadline,
      });
      const date = new Date(String(response.headers['date']));
      return {
        status: response.status,
        body: Buffer.from(response.data),
        date: Number.isNaN(date.getTime()) ? null : date,
      };
    } catch (error) {
      this.log.warn(
        { err: error, route: route.name, account: account.slug },
        'no answer from the bank',
      );
      return { outcome: 'unknown', reason: reasonOf(error, deadline), status: null };
    }
  }

  private headers(
    route: Route,
    account: BankAccount,
    idempotencyKey: string | null,
    hasBody: boolean,
  ): Record<string, string> {
    const { apiKey, partnerKey } = this.accounts.credentials(account);
    const { apiKeyHeader, partnerKeyHeader } = this.settings.bank;
    return {
      accept: 'application/json',
      ...(route.authentication === 'partner-key'
        ? { [partnerKeyHeader]: partnerKey }
        : { [apiKeyHeader]: apiKey }),
      ...(idempotencyKey ? { [idempotencyKeyHeader]: idempotencyKey } : {}),
      ...(hasBody ? { 'content-type': 'application/json' } : {}),
    };
  }
}

/** The bank's refusal in our own words, so that its body tells the trace id of the request at hand. */
function refusal({ status, text }: { status: number; text: string }): [FaultCode, FaultDetails] {
  const { title, errors, code } = z.decode(errorBody.partial(), parseJson(text) as never);
  const details = {
    ...(title && status !== 404 ? { public: title } : {}),
    ...(errors ? { errors } : {}),
    ...(code ? { reason: code } : {}),
  };
  if (status === 404) return ['not_found', details];
  return [status === 400 ? 'validation_failed' : 'rule_broken', details];
}

// The connection was never made: no byte of the request left.
const neverConnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);

function reasonOf(error: unknown, deadline: AbortSignal): UnknownReason {
  if (axios.isAxiosError(error) && neverConnected.has(error.code ?? '')) return 'not_sent';
  return deadline.aborted ? 'too_late' : 'no_answer';
}

/** The body that a route's input is sent as; null for a route without one. */
export function encodeBody(route: Route, input: { body?: unknown }): string | null {
  return route.body instanceof z.ZodUndefined
    ? null
    : stringifyJson(z.encode(route.body, input.body as never));
}

function fillPath(route: Route, input: { params?: unknown }): string {
  const params = (input.params ? z.encode(route.params, input.params as never) : {}) as Record<
    string,
    string
  >;
  return route.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(params[name])),
  );
}

function queryText(route: Route, input: { query?: unknown }): string {
  const query = (input.query ? z.encode(route.query, input.query as never) : {}) as Record<
    string,
    string | string[] | undefined
  >;
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  );
  return pairs.length > 0 ? `?${new URLSearchParams(pairs).toString()}` : '';
}
