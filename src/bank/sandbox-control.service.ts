// Calls what only the sandbox bank offers: the payer's side of a payment, its clock, its modes and
// its faults. Another bank is never called: the settings must name the sandbox bank, and it must be
// in this process, on this machine or in its network of containers.
import { Injectable } from '@nestjs/common';
import type { BankAccount } from '../access/accounts/accounts.service.js';
import { AccountsService } from '../access/accounts/accounts.service.js';
import { Settings } from '../platform/settings/config.js';
import type { HttpMethod } from '../bank-contract/route.js';
import { AppError, invariant } from '../platform/errors.js';
import { parseJson, stringifyJson } from '../platform/json/exact-json.js';
import { BankConnections } from './bank-connections.service.js';
import { faultOfRejection } from './rejection.js';

export interface ControlRequest {
  method: HttpMethod;
  /** With its query, each part of it encoded. */
  path: string;
  /** Nothing is sent where it is left out. */
  body?: unknown;
}

/** The sandbox bank generates a month of lines in one call, which a busy machine does slowly. */
const deadlineMs = 60_000;
/** The control plane, and the simulated payment and expiry of a charge. */
const controlPath = /^\/(sandbox\/|baas\/v1\/charges\/[^/?]+\/(pay|expire)$)/;

@Injectable()
export class SandboxControl {
  /** Whether the bank of this service is a sandbox bank that may be controlled. */
  readonly isOffered: boolean;

  constructor(
    settings: Settings,
    private readonly accounts: AccountsService,
    private readonly connections: BankConnections,
  ) {
    const { profile, baseUrl } = settings.bank;
    this.isOffered = profile === 'sandbox' && (baseUrl === null || isLocal(baseUrl));
  }

  /**
   * The response as JSON, by the key of the account. Throws `not_found` where the bank is no such
   * sandbox, the fault of a refusal, and `bank_unreachable` without a response.
   */
  async call(account: Pick<BankAccount, 'id'>, request: ControlRequest): Promise<unknown> {
    if (!this.isOffered) throw new AppError('not_found');
    const { method, path, body } = request;
    invariant(controlPath.test(path), 'the path is one of the sandbox bank alone');
    const { apiKey, apiKeyHeader, accountHeader, tls } =
      await this.accounts.getCredentials(account);
    const result = await this.connections.exchange({
      accountId: account.id,
      tls,
      isWhitelabel: false,
      method,
      pathAndQuery: path,
      headers: {
        accept: 'application/json',
        [apiKeyHeader]: apiKey,
        ...(accountHeader ? { [accountHeader.name]: accountHeader.value } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : stringifyJson(body),
      deadlineMs,
      sendWithin: null,
    });
    if (!result.hasResponse)
      throw new AppError('bank_unreachable', { internal: `sandbox control: ${result.reason}` });
    const { status } = result.response;
    const text = result.response.body.toString('utf8') || 'null';
    if (status >= 200 && status < 300) return parseJson(text);
    if (status >= 400 && status < 500) throw new AppError(...faultOfRejection({ status, text }));
    throw new AppError('bank_unreachable', { internal: `sandbox control: status ${status}` });
  }
}

/** Loopback, or a name of one label: no bank of the Internet has one. */
function isLocal(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  return /^(127\.\d+\.\d+\.\d+|\[::1\]|[a-z][a-z0-9-]*)$/i.test(hostname);
}
