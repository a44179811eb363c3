// The real door to the bank, before a bank of the test's own and accounts that need no database.
import type { BankAccount } from '../../src/accounts/accounts.service.js';
import type { BankCredentials } from '../../src/accounts/credentials.js';
import { BankConnections } from '../../src/bank/bank-connections.service.js';
import { BankLimits } from '../../src/bank/bank-limits.service.js';
import { BankService } from '../../src/bank/bank.service.js';
import type { Settings } from '../../src/config.js';
import type { Addresses } from '../../src/platform/addresses.js';
import type { Log } from '../../src/platform/log.js';

export const plainCredentials: BankCredentials = {
  apiKey: 'the-api-key-canary',
  partnerKey: 'the-partner-key-canary',
  apiKeyHeader: 'x-bank-key',
  partnerKeyHeader: 'x-bank-partner',
  accountHeader: null,
  tls: { certificate: null, key: null, ca: null },
  rateLimitPerSecond: null,
};

export interface Logged {
  level: string;
  fields: Record<string, unknown>;
  message: string;
}

export function fakeBank(bankUrl: string, whitelabelUrl = bankUrl) {
  const logged: Logged[] = [];
  const write = (level: string) => (fields: Record<string, unknown>, message: string) => {
    logged.push({ level, fields, message });
  };
  const log = Object.fromEntries(
    ['debug', 'info', 'warn', 'error'].map((level) => [level, write(level)]),
  ) as unknown as Log;
  const credentials = new Map<number, BankCredentials>();
  const addresses: Addresses = {
    bankBaseUrl: bankUrl,
    bankWhitelabelUrl: whitelabelUrl,
    publicUrl: '',
  };
  const connections = new BankConnections(addresses);
  let accounts = 0;
  const bank = new BankService(
    { bank: { profile: 'sandbox' } } as Settings,
    {
      credentials: ({ id }: BankAccount) => Promise.resolve(credentials.get(id)),
    } as never,
    connections,
    new BankLimits(),
    log,
  );
  return {
    bank,
    logged,
    /** An account that was never seen before: nothing is held back of it. */
    account: (over: Partial<BankCredentials> = {}): BankAccount => {
      accounts += 1;
      credentials.set(accounts, { ...plainCredentials, ...over });
      return { id: accounts, slug: `account-${accounts}`, goLiveAt: new Date(0) };
    },
    changeCredentials: ({ id }: BankAccount, over: Partial<BankCredentials>) =>
      credentials.set(id, { ...plainCredentials, ...over }),
    close: () => connections.onApplicationShutdown(),
  };
}
