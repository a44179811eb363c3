// The real BankService in front of a bank that a test serves, with accounts that need no database,
// and throwaway TLS certificates: an authority, a bank on loopback, and two clients.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BankAccount } from '../../src/access/accounts/accounts.service.js';
import type { BankCredentials } from '../../src/access/accounts/credentials.js';
import { BankConnections } from '../../src/bank/bank-connections.service.js';
import { BankLimits } from '../../src/bank/bank-limits.service.js';
import { BankService } from '../../src/bank/bank.service.js';
import type { Settings } from '../../src/platform/settings/config.js';
import { Addresses } from '../../src/platform/http/http.js';
import type { Log } from '../../src/platform/log.js';

export const fakeBankCredentials: BankCredentials = {
  apiKey: 'the-api-key-canary',
  partnerKey: 'the-partner-key-canary',
  apiKeyHeader: 'x-bank-key',
  partnerKeyHeader: 'x-bank-partner',
  accountHeader: null,
  tls: { certificate: null, key: null, ca: null },
  rateLimitPerSecond: null,
};

interface LogEntry {
  level: string;
  fields: Record<string, unknown>;
  message: string;
}

export function fakeBank(bankUrl: string, whitelabelUrl = bankUrl) {
  const logged: LogEntry[] = [];
  const write = (level: string) => (fields: Record<string, unknown>, message: string) => {
    logged.push({ level, fields, message });
  };
  const log = Object.fromEntries(
    ['debug', 'info', 'warn', 'error'].map((level) => [level, write(level)]),
  ) as unknown as Log;
  const credentials = new Map<number, BankCredentials>();
  const addresses = Object.assign(new Addresses(), {
    bankBaseUrl: bankUrl,
    bankWhitelabelUrl: whitelabelUrl,
  });
  const connections = new BankConnections(addresses);
  let accountCount = 0;
  const bank = new BankService(
    { bank: { profile: 'sandbox' } } as Settings,
    {
      getCallSettings: ({ id }: BankAccount) =>
        Promise.resolve({
          ...{ mode: 'live', registersWebhooks: true },
          credentials: credentials.get(id),
        }),
    } as never,
    connections,
    new BankLimits(),
    log,
  );
  return {
    bank,
    logged,
    /** A new account: neither a rate limit nor a circuit breaker holds its calls back. */
    addAccount: (over: Partial<BankCredentials> = {}): BankAccount => {
      accountCount += 1;
      credentials.set(accountCount, { ...fakeBankCredentials, ...over });
      return { id: accountCount, slug: `account-${accountCount}`, goLiveAt: new Date(0) };
    },
    changeCredentials: ({ id }: BankAccount, over: Partial<BankCredentials>) =>
      credentials.set(id, { ...fakeBankCredentials, ...over }),
    close: () => connections.onApplicationShutdown(),
  };
}

const readTlsFile = (name: string) => readFileSync(join(import.meta.dirname, 'tls', name), 'utf8');

export const tlsAuthority = readTlsFile('ca.crt');
export const bankTlsPair = { cert: readTlsFile('bank.crt'), key: readTlsFile('bank.key') };
export const clientOneTls = {
  certificate: readTlsFile('client-one.crt'),
  key: readTlsFile('client-one.key'),
};
export const clientTwoTls = {
  certificate: readTlsFile('client-two.crt'),
  key: readTlsFile('client-two.key'),
};
