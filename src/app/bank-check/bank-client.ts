// Asks the bank under check: only routes of the contract, with the key, paced below the bank's
// limit.
import { setTimeout as sleep } from 'node:timers/promises';
import { BankConnections } from '../../bank/bank-connections.service.js';
import { encodeBody, encodePathAndQuery } from '../../bank/request-encoding.js';
import { idempotencyKeyHeader, type Route, type RouteInput } from '../../bank-contract/route.js';
import { Addresses } from '../../platform/http/http.js';
import { decodeUtf8, parseJson, tolerantJson } from '../../platform/json/exact-json.js';
import type { loadBankCheckSettings } from '../../platform/settings/bank-check-settings.js';
import type { CheckAnswer } from './observations.js';

const deadlineMs = 15_000;
/** How often a reading is asked that the bank refuses for its rate, or does not answer. */
const mostTries = 5;
/** Of the bank's limit, so that other clients of the account have a part of it. */
const shareOfRate = 0.7;

export class BankClient {
  /** The bank's time at its last response. */
  bankTime: Date | null = null;
  private pauseMs = 0;
  private nextAtMs = 0;
  private readonly connections: BankConnections;

  constructor(private readonly settings: ReturnType<typeof loadBankCheckSettings>) {
    const addresses = new Addresses();
    addresses.bankBaseUrl = settings.baseUrl;
    this.connections = new BankConnections(addresses);
  }

  /** Later requests stay below the rate. */
  keepBelow(ratePerSecond: number): void {
    this.pauseMs = 1_000 / (shareOfRate * ratePerSecond);
  }

  close(): void {
    this.connections.onApplicationShutdown();
  }

  /** A request with an effect is sent once. A reading is repeated while the bank fails. */
  async ask<R extends Route>(route: R, input: Partial<RouteInput<R>>): Promise<CheckAnswer> {
    for (let tries = 1; ; tries += 1) {
      await this.waitForTurn();
      const { answer, retryAfterMs } = await this.send(route, input);
      const hasFailed = answer.status === null || answer.status === 429 || answer.status >= 500;
      if (!hasFailed || !route.isReading || tries === mostTries) return answer;
      await sleep(Math.max(retryAfterMs, 1_000));
    }
  }

  /** Without a turn and without a repeat, to find out the limit. */
  async askAtOnce<R extends Route>(route: R, input: Partial<RouteInput<R>>): Promise<CheckAnswer> {
    return (await this.send(route, input)).answer;
  }

  private async waitForTurn(): Promise<void> {
    const atMs = Math.max(this.nextAtMs, performance.now());
    this.nextAtMs = atMs + this.pauseMs;
    const waitMs = atMs - performance.now();
    if (waitMs > 0) await sleep(waitMs);
  }

  private async send<R extends Route>(
    route: R,
    input: Partial<RouteInput<R>>,
  ): Promise<{ answer: CheckAnswer; retryAfterMs: number }> {
    const body = encodeBody(route, input);
    const startedAtMs = performance.now();
    const result = await this.connections.exchange({
      accountId: 0,
      tls: this.settings.tls,
      isWhitelabel: false,
      method: route.method,
      pathAndQuery: encodePathAndQuery(route, input),
      headers: {
        accept: 'application/json',
        ...this.settings.headers,
        ...(input.idempotencyKey ? { [idempotencyKeyHeader]: input.idempotencyKey } : {}),
        ...(body === null ? {} : { 'content-type': 'application/json' }),
      },
      body,
      deadlineMs,
      sendWithin: null,
    });
    if (!result.hasResponse)
      return { answer: { status: null, json: undefined, startedAtMs }, retryAfterMs: 0 };
    const { status, body: bytes, date, retryAfterMs = 0 } = result.response;
    this.bankTime = date ?? this.bankTime;
    return { answer: { status, json: readJson(bytes), startedAtMs }, retryAfterMs };
  }
}

function readJson(bytes: Buffer): unknown {
  try {
    return parseJson(decodeUtf8(bytes), tolerantJson);
  } catch {
    // Text, or nothing: some answers of the contract are.
    return undefined;
  }
}
