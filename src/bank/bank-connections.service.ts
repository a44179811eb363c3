// The connections to the bank, each account's its own: one whose calls hang takes no place of another's, and its
// certificate is shown for it alone. One exchange has a total deadline, follows no redirect and reads no more
// than an answer can be.
import {
  Agent as HttpAgent,
  request as requestHttp,
  type ClientRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps, type RequestOptions } from 'node:https';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import axios from 'axios';
import type { ClientTls } from '../accounts/credentials.js';
import { Addresses } from '../platform/addresses.js';
import { readRetryAfter } from '../platform/retry-after.js';
import type { RawAnswer, UnknownReason } from './answer.js';

export interface Exchange {
  accountId: number;
  tls: ClientTls;
  /** Whether it goes to the bank's address for partners. */
  isWhitelabel: boolean;
  method: string;
  /** Path and query. */
  target: string;
  headers: Record<string, string>;
  body: string | null;
  deadlineMs: number;
  /** Nothing is written once this has passed, though a connection be free for it only then. */
  sendBy: Date | null;
}

export type Exchanged =
  | { isAnswered: true; answer: RawAnswer }
  | { isAnswered: false; reason: UnknownReason; error: unknown };

interface Agents {
  tls: ClientTls;
  httpAgent: HttpAgent;
  httpsAgent: HttpsAgent;
}

/** A statement page of a thousand lines with their proofs stays well below; measured unpacked. */
const maxAnswerBytes = 16 * 1_048_576;
const maxRetryAfterMs = 300_000;

@Injectable()
export class BankConnections implements OnApplicationShutdown {
  private readonly agents = new Map<number, Agents>();
  private readonly client = axios.create({
    maxRedirects: 0,
    maxContentLength: maxAnswerBytes,
    responseType: 'arraybuffer',
    transformRequest: [(body: unknown) => body],
    validateStatus: () => true,
    proxy: false,
  });

  constructor(private readonly addresses: Addresses) {}

  /** Never throws for what the bank or the network does. */
  async exchange(asked: Exchange): Promise<Exchanged> {
    const deadline = AbortSignal.timeout(asked.deadlineMs);
    try {
      const { bankBaseUrl, bankWhitelabelUrl } = this.addresses;
      const { httpAgent, httpsAgent } = this.agentsOf(asked);
      const response = await this.client.request<Buffer>({
        method: asked.method,
        url: (asked.isWhitelabel ? bankWhitelabelUrl : bankBaseUrl) + asked.target,
        data: asked.body ?? undefined,
        headers: asked.headers,
        signal: deadline,
        httpAgent,
        httpsAgent,
        transport: transportUntil(asked.sendBy),
      });
      const told = new Date(String(response.headers['date']));
      const date = Number.isNaN(told.getTime()) ? null : told;
      const seconds = readRetryAfter(response.headers['retry-after'], date ?? new Date());
      return {
        isAnswered: true,
        answer: {
          status: response.status,
          body: Buffer.from(response.data),
          date,
          ...(seconds === null ? {} : { retryAfterMs: Math.min(seconds * 1_000, maxRetryAfterMs) }),
        },
      };
    } catch (error) {
      return { isAnswered: false, reason: reasonOf(error, deadline.aborted), error };
    }
  }

  onApplicationShutdown(): void {
    for (const { httpAgent, httpsAgent } of this.agents.values()) {
      httpAgent.destroy();
      httpsAgent.destroy();
    }
  }

  private agentsOf({ accountId, tls }: Exchange): Agents {
    const known = this.agents.get(accountId);
    if (known && isSame(known.tls, tls)) return known;
    if (known) retire(known.httpsAgent);
    const pool = { keepAlive: true, maxSockets: 64 };
    const { certificate, key, ca } = tls;
    const agents = {
      tls,
      httpAgent: known?.httpAgent ?? new HttpAgent(pool),
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

function isSame(one: ClientTls, other: ClientTls): boolean {
  return one.certificate === other.certificate && one.key === other.key && one.ca === other.ca;
}

/** Calls under way end as they would; nothing of it is used again. */
function retire(agent: HttpsAgent): void {
  agent.maxFreeSockets = 0;
  for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
}

const tooLateToSend = 'ERR_TOO_LATE_TO_SEND';

/** Node's own, but that a request whose turn at a connection comes too late is dropped before it is written. */
function transportUntil(sendBy: Date | null) {
  const request = (options: RequestOptions, answered: (answer: IncomingMessage) => void) => {
    const begin = options.protocol === 'https:' ? requestHttps : requestHttp;
    const asked: ClientRequest = begin(options, answered);
    if (sendBy)
      asked.once('socket', () => {
        if (Date.now() > sendBy.getTime())
          asked.destroy(Object.assign(new Error('too late to send'), { code: tooLateToSend }));
      });
    return asked;
  };
  return { request };
}

/** The connection was never made, or the other end is not the bank: no byte of the request left. */
const neverConnected = new Set([
  tooLateToSend,
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'],
  ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'CERT_HAS_EXPIRED'],
  ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
  ...['UNABLE_TO_GET_ISSUER_CERT', 'CERT_NOT_YET_VALID', 'ERR_TLS_CERT_ALTNAME_INVALID'],
]);
/** The same, where connecting came to it; a connection that was made can break off by them too. */
const perhapsConnected = new Set(['EHOSTUNREACH', 'ENETUNREACH']);
/** An answer began, and is too long, breaks off, or cannot be unpacked. */
const unreadable = /^(ERR_BAD_RESPONSE|Z_\w+|ERR__ERROR_FORMAT\w*|ERR_BROTLI\w*)$/;

/** What the client's error says of how far the request came; `isPastDeadline`: it was broken off by us. */
export function reasonOf(error: unknown, isPastDeadline: boolean): UnknownReason {
  const code = axios.isAxiosError(error) ? (error.code ?? '') : '';
  if (neverConnected.has(code)) return 'not_sent';
  if (perhapsConnected.has(code) && wasConnecting((error as Error).cause)) return 'not_sent';
  if (isPastDeadline) return 'too_late';
  return unreadable.test(code) ? 'unreadable_answer' : 'no_answer';
}

/** Of several addresses that were tried, none may have been reached. */
function wasConnecting(cause: unknown): boolean {
  if (cause instanceof AggregateError) return cause.errors.every(wasConnecting);
  return (cause as NodeJS.ErrnoException | undefined)?.syscall === 'connect';
}
