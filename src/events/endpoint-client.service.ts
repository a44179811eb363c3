// Sends signed requests to webhook endpoints, per Standard Webhooks. Each address that a host name
// resolves to is checked before a connection to it. No redirect is followed. Only the status and
// the headers of the response are used.
import { Agent as HttpAgent, type ClientRequest } from 'node:http';
import { Agent as HttpsAgent, type RequestOptions } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import { Injectable, type OnApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import axios from 'axios';
import { BankService } from '../bank/bank.service.js';
import { Addresses } from '../platform/http/http.js';
import { Log } from '../platform/log.js';
import { keptConnections } from '../platform/http/outgoing-calls.js';
import { readRetryAfter } from '../platform/http/retry-after.js';
import { SecretBox } from '../platform/secret-box.js';
import { inSpan } from '../platform/trace.js';
import {
  checkEndpointUrl,
  isAddressAllowed,
  type AddressRules,
  type UrlCheck,
} from './address-guard.js';
import { endpointTimeoutMs } from './delivery-schedule.js';
import { ownerOfEndpointSecret } from './endpoint-secrets.queries.js';
import type { WebhookEndpoint } from '../generated/service/client.js';
import { NameResolver, type ResolvedAddress } from './name-resolver.service.js';
import { signedHeaders, type EventMessage } from './signed-headers.js';

/** A longer response ends its connection, and so does one that takes longer after its headers. */
const maxDiscardedBytes = 64 * 1_024;
const maxDiscardingMs = 2_000;

export interface EndpointResponse {
  /** Null without a response. */
  status: number | null;
  /** Null for a status of 2xx. */
  error: string | null;
  retryAfterSeconds: number | null;
}

export interface UnsignedRequest {
  headers: Record<string, string>;
  body: string | Buffer;
  /** PostgreSQL's time of this attempt. */
  sentAt: Date;
}

const addressRefused: EndpointResponse = {
  ...{ status: null, retryAfterSeconds: null },
  error: 'address_refused',
};

@Injectable()
export class EndpointClient implements OnModuleDestroy, OnApplicationShutdown {
  private readonly stopping = new AbortController();
  private readonly rules: AddressRules;
  private readonly agents: { httpAgent: HttpAgent; httpsAgent: HttpsAgent };
  private readonly client = axios.create({
    maxRedirects: 0,
    transformRequest: [(body: unknown) => body],
    // Only status and headers are used.
    responseType: 'stream',
    decompress: false,
    validateStatus: () => true,
    proxy: false,
  });

  constructor(
    private readonly names: NameResolver,
    private readonly secretBox: SecretBox,
    private readonly log: Log,
    bank: BankService,
    { ownPorts }: Addresses,
  ) {
    this.rules = { isLoopbackAllowed: bank.profile.allowsLoopback, ownPorts };
    this.agents = guardedAgents((port) => this.guardedLookup(port));
  }

  checkUrl(url: string): UrlCheck {
    return checkEndpointUrl(url, this.rules);
  }

  /** Sends a signed event. Never throws for a failure of the endpoint or of the network. */
  async post(endpoint: WebhookEndpoint, message: EventMessage): Promise<EndpointResponse> {
    const { sentAt, body } = message;
    if (!this.checkUrl(endpoint.url).ok) return addressRefused;
    const headers = signedHeaders(message, this.secretsOf(endpoint, sentAt));
    return this.send(endpoint, { sentAt, body, headers });
  }

  /**
   * Sends a JSON body with these headers to an address that is checked as that of an endpoint.
   * `id` is for the log. Never throws for a failure of the endpoint or of the network.
   */
  async send(
    endpoint: { id: string; url: string },
    request: UnsignedRequest,
  ): Promise<EndpointResponse> {
    if (!this.checkUrl(endpoint.url).ok) return addressRefused;
    const timeout = AbortSignal.timeout(endpointTimeoutMs);
    return inSpan('delivery', 'CLIENT', async (span) => {
      const response = await this.attempt(endpoint, request, { timeout, mayRepeat: true });
      const { status, error } = response;
      span?.set({ 'concilia.endpoint_id': endpoint.id, 'concilia.result': error ?? 'delivered' });
      if (status !== null) span?.set({ 'http.response.status_code': status });
      return response;
    });
  }

  /** The repeat of a request that was not seen has what is left of the time. There is one. */
  private async attempt(
    endpoint: { id: string; url: string },
    request: UnsignedRequest,
    { timeout, mayRepeat }: { timeout: AbortSignal; mayRepeat: boolean },
  ): Promise<EndpointResponse> {
    const { body, sentAt, headers } = request;
    const noResponse = { status: null, retryAfterSeconds: null };
    try {
      const response = await this.client.post<Readable>(endpoint.url, body, {
        ...this.agents,
        headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'concilia' },
        signal: AbortSignal.any([timeout, this.stopping.signal]),
      });
      discard(response.data);
      const { status } = response;
      const retryAfterSeconds = readRetryAfter(response.headers['retry-after'], sentAt);
      const error = status >= 200 && status < 300 ? null : `status_${status}`;
      return { status, error, retryAfterSeconds };
    } catch (error) {
      if (mayRepeat && isClosedBeforeUse(error))
        return this.attempt(endpoint, request, { timeout, mayRepeat: false });
      this.log.info({ err: error, endpointId: endpoint.id }, 'event delivery failed');
      if (timeout.aborted) return { ...noResponse, error: 'timeout' };
      const code = axios.isAxiosError(error) ? error.code : undefined;
      return { ...noResponse, error: (code ?? 'no_response').toLowerCase() };
    }
  }

  /** Whether a request that got no response was aborted by the shutdown of this process. */
  get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  onModuleDestroy(): void {
    this.stopping.abort();
  }

  onApplicationShutdown(): void {
    this.agents.httpAgent.destroy();
    this.agents.httpsAgent.destroy();
  }

  /** The secrets that are valid at this time. */
  private secretsOf(endpoint: WebhookEndpoint, at: Date): string[] {
    const { secret, previousSecret, previousSecretUntil } = endpoint;
    const isOverlap = previousSecretUntil !== null && at < previousSecretUntil;
    const owner = ownerOfEndpointSecret(endpoint);
    return [secret, isOverlap ? previousSecret : null]
      .filter((encrypted) => encrypted !== null)
      .map((encrypted) => this.secretBox.decrypt(encrypted, owner));
  }

  /**
   * Resolves names for connections to this port, and leaves out addresses that are refused. It runs
   * for each connection, and the connection is to one of its addresses: a name that resolves to
   * another address after the check of its URL gains nothing.
   */
  private guardedLookup(port: number): LookupFunction {
    return (hostname, options, callback) => {
      const answer = (allowed: ResolvedAddress[]) => {
        const [first] = allowed;
        if (!first) {
          const refusal = Object.assign(new Error('address refused'), { code: 'ADDRESS_REFUSED' });
          callback(refusal, '', 0);
        } else if (options.all) callback(null, allowed);
        else callback(null, first.address, first.family);
      };
      this.names
        .resolve(hostname)
        .then((addresses) =>
          addresses.filter(({ address }) => isAddressAllowed(address, port, this.rules)),
        )
        .then(answer, (error: NodeJS.ErrnoException) => callback(error, '', 0));
    };
  }
}

/**
 * Whether the endpoint had closed a connection that it kept after an earlier request: it may not
 * have seen this one.
 */
function isClosedBeforeUse(error: unknown): boolean {
  if (!axios.isAxiosError(error) || !['ECONNRESET', 'EPIPE'].includes(error.code ?? ''))
    return false;
  return (error.request as ClientRequest | undefined)?.reusedSocket === true;
}

/** Reads the body to its end, so that the connection can be used again. */
function discard(body: Readable): void {
  let bytes = 0;
  const limit = setTimeout(() => body.destroy(), maxDiscardingMs).unref();
  body.once('close', () => clearTimeout(limit));
  body.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxDiscardedBytes) body.destroy();
  });
  // What matters is known already.
  body.on('error', () => undefined);
}

/** Agents whose connections resolve names by `lookupFor` their port, whatever a request says. */
function guardedAgents(lookupFor: (port: number) => LookupFunction) {
  const httpAgent = new HttpAgent(keptConnections);
  const httpsAgent = new HttpsAgent(keptConnections);
  for (const agent of [httpAgent, httpsAgent]) {
    const connect = agent.createConnection.bind(agent);
    agent.createConnection = (options: RequestOptions, callback) =>
      connect({ ...options, lookup: lookupFor(Number(options.port)) }, callback);
  }
  return { httpAgent, httpsAgent };
}
