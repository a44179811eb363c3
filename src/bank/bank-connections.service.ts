// Owns the HTTP connections to the bank. Each account has its own: hanging calls of one account
// cannot exhaust the connections of another, and a client certificate is used for its account only.
// One exchange has a total deadline, follows no redirect and reads a response of limited length.
import {
  Agent as HttpAgent,
  request as requestHttp,
  type ClientRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps, type RequestOptions } from 'node:https';
import { isDeepStrictEqual } from 'node:util';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import axios, { AxiosHeaders } from 'axios';
import type { ClientTls } from '../access/accounts/credentials.js';
import type { Countdown } from '../platform/countdown.js';
import { CallDeadline, keptConnections } from '../platform/http/outgoing-calls.js';
import { Addresses } from '../platform/http/http.js';
import { readRetryAfter } from '../platform/http/retry-after.js';
import type { RawResponse, UnknownReason } from './response-classification.js';

export interface HttpRequest {
  accountId: number;
  tls: ClientTls;
  /** Whether the request goes to the bank's address for partners. */
  isWhitelabel: boolean;
  method: string;
  pathAndQuery: string;
  headers: Record<string, string>;
  body: string | null;
  deadlineMs: number;
  /** No byte is written after its end, even if a connection becomes free only then. */
  sendWithin: Countdown | null;
}

export type ExchangeResult =
  | { hasResponse: true; response: RawResponse }
  | { hasResponse: false; reason: UnknownReason; error: unknown };

interface Agents {
  tls: ClientTls;
  httpAgent: HttpAgent;
  httpsAgent: HttpsAgent;
}

/**
 * Measured after decompression. A statement page of 1000 lines with their proofs is far smaller.
 */
const maxResponseBytes = 16 * 1_048_576;
const maxRetryAfterMs = 300_000;

/**
 * What axios sends requests with. We call it directly: the defaults, interceptors and
 * transformations of an instance would have nothing to do, and take a third of a call.
 */
const sendOverHttp = axios.getAdapter('http');
const sendOptions = {
  maxRedirects: 0,
  maxContentLength: maxResponseBytes,
  responseType: 'arraybuffer',
  validateStatus: () => true,
  proxy: false,
} as const;

@Injectable()
export class BankConnections implements OnApplicationShutdown {
  private readonly agents = new Map<number, Agents>();

  constructor(private readonly addresses: Addresses) {}

  /** Never throws for a failure of the bank or of the network. */
  async exchange(request: HttpRequest): Promise<ExchangeResult> {
    const deadline = new CallDeadline(request.deadlineMs);
    try {
      const { bankBaseUrl, bankWhitelabelUrl } = this.addresses;
      const { httpAgent, httpsAgent } = this.agentsOf(request);
      const response = await sendOverHttp({
        method: request.method,
        url: (request.isWhitelabel ? bankWhitelabelUrl : bankBaseUrl) + request.pathAndQuery,
        data: request.body ?? undefined,
        headers: new AxiosHeaders(request.headers),
        signal: deadline,
        httpAgent,
        httpsAgent,
        transport: transportWithin(request.sendWithin),
        ...sendOptions,
      });
      const dateHeader = new Date(String(response.headers['date']));
      const date = Number.isNaN(dateHeader.getTime()) ? null : dateHeader;
      const seconds = readRetryAfter(response.headers['retry-after'], date);
      return {
        hasResponse: true,
        response: {
          status: response.status,
          body: response.data as Buffer,
          date,
          ...(seconds === null ? {} : { retryAfterMs: Math.min(seconds * 1_000, maxRetryAfterMs) }),
        },
      };
    } catch (error) {
      return { hasResponse: false, reason: unknownReasonOf(error, deadline.aborted), error };
    } finally {
      deadline.clear();
    }
  }

  onApplicationShutdown(): void {
    for (const { httpAgent, httpsAgent } of this.agents.values()) {
      httpAgent.destroy();
      httpsAgent.destroy();
    }
  }

  private agentsOf({ accountId, tls }: HttpRequest): Agents {
    const current = this.agents.get(accountId);
    if (current && isDeepStrictEqual(current.tls, tls)) return current;
    if (current) retire(current.httpsAgent);
    const pool = { ...keptConnections, maxSockets: 64 };
    const { certificate, key, ca } = tls;
    const agents = {
      tls,
      httpAgent: current?.httpAgent ?? new HttpAgent(pool),
      httpsAgent: new HttpsAgent({
        ...pool,
        ...(certificate && key ? { cert: certificate, key } : {}),
        ...(ca ? { ca } : {}),
      }),
    };
    this.agents.set(accountId, agents);
    return agents;
  }
}

/** Calls in progress finish as usual; no connection of the agent is used again. */
function retire(agent: HttpsAgent): void {
  agent.maxFreeSockets = 0;
  for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
}

const tooLateToSend = 'ERR_TOO_LATE_TO_SEND';

/**
 * Node's transport, except that a request which gets its connection after the end of `sendWithin`
 * is never written.
 */
function transportWithin(sendWithin: Countdown | null) {
  const request = (options: RequestOptions, onResponse: (response: IncomingMessage) => void) => {
    const begin = options.protocol === 'https:' ? requestHttps : requestHttp;
    const pending: ClientRequest = begin(options, onResponse);
    if (sendWithin)
      pending.once('socket', () => {
        if (sendWithin.hasEnded)
          pending.destroy(Object.assign(new Error('too late to send'), { code: tooLateToSend }));
      });
    return pending;
  };
  return { request };
}

/** There was no connection, or the server is not the bank: no byte of the request was sent. */
const neverConnected = new Set([
  tooLateToSend,
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'],
  ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'CERT_HAS_EXPIRED'],
  ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
  ...['UNABLE_TO_GET_ISSUER_CERT', 'CERT_NOT_YET_VALID', 'ERR_TLS_CERT_ALTNAME_INVALID'],
]);
/**
 * No byte was sent if these codes occur while connecting. An open connection can also break with
 * these codes.
 */
const maybeConnected = new Set(['EHOSTUNREACH', 'ENETUNREACH']);
/** A response began, but it is too long, incomplete, or cannot be decompressed. */
const unreadableResponse = /^(ERR_BAD_RESPONSE|Z_\w+|ERR__ERROR_FORMAT\w*|ERR_BROTLI\w*)$/;

/**
 * Why a request failed, and so whether it may have been sent. `isPastDeadline` is true if the
 * service aborted the request at its deadline.
 */
export function unknownReasonOf(error: unknown, isPastDeadline: boolean): UnknownReason {
  const code = axios.isAxiosError(error) ? (error.code ?? '') : '';
  if (neverConnected.has(code)) return 'not_sent';
  if (maybeConnected.has(code) && wasConnecting((error as Error).cause)) return 'not_sent';
  if (isPastDeadline) return 'too_late';
  return unreadableResponse.test(code) ? 'unreadable_response' : 'no_response';
}

/** If several addresses were tried, the connection must have failed at each address. */
function wasConnecting(cause: unknown): boolean {
  if (cause instanceof AggregateError) return cause.errors.every(wasConnecting);
  return (cause as NodeJS.ErrnoException | undefined)?.syscall === 'connect';
}
