// Checks the rules of docs/ARCHITECTURE.md: imports, table owners, purity, wiring, names, words.
// Each rule also reads a small tree that breaks it, to prove that the rule can fail.
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { AccountsService, BankAccount } from '../src/access/accounts/accounts.service.js';
import { BankConnections } from '../src/bank/bank-connections.service.js';
import { BankLimits } from '../src/bank/bank-limits.service.js';
import { BankService } from '../src/bank/bank.service.js';
import type { Settings } from '../src/platform/settings/config.js';
import { getCharge } from '../src/bank-contract/charges.js';
import { assertOutsideTransaction, Database } from '../src/platform/postgres/database.service.js';
import type { Addresses } from '../src/platform/http/http.js';
import type { Log } from '../src/platform/log.js';
import * as content from './architecture/content-proofs.js';
import { importRules } from './architecture/import-proofs.js';
import { readTree, treeOf, type ProvenRule } from './architecture/project-file.js';
import { sqlExceptionsAreNeeded } from './architecture/tables.js';
import { documentRules, wiringRules } from './architecture/wiring-proofs.js';

const project = readTree(join(import.meta.dirname, '..'));

/** Expects no violation in the project, and the listed violations in each rule's small tree. */
function expectRules(rules: ProvenRule[]): void {
  for (const { name, rule, tree, found } of rules)
    describe(name, () => {
      it('holds in the project', () => expect(rule(project)).toEqual([]));
      it('reports the violations of a tree that breaks it', () =>
        expect(rule(treeOf(tree))).toEqual(found));
    });
}

it('reads the project', () => {
  const paths = project.map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining(['src/platform/settings/config.ts', 'prisma/service/accounts.prisma']),
  );
});

describe('imports', () => expectRules(importRules));
describe('a file without a role in its name', () => expectRules(content.purityRules));
describe('the clock', () => expectRules(content.clockRules));
describe('tables', () => expectRules(content.tableRules));
describe('names', () => expectRules(content.nameRules));
describe('words', () => expectRules(content.wordRules));
describe('a source file', () => expectRules(content.smallFileRules));
describe('sources', () => expectRules(content.sourceRules));
describe('the wiring', () => expectRules(wiringRules));
describe('documents', () => expectRules(documentRules));

it('reports exceptions for SQL outside of queries that are no longer needed', () => {
  expect(sqlExceptionsAreNeeded(project)).toEqual([]);
  const withoutQueue = project.filter(
    ({ path }) => path !== 'src/platform/queue/queue-connection.ts',
  );
  expect(sqlExceptionsAreNeeded(withoutQueue)).toEqual([
    'src/platform/queue/queue-connection.ts has no SQL: remove the exception',
  ]);
});

describe('a call to the bank', () => {
  /** The real Database over a Prisma client that opens no connection. */
  const prisma = { $transaction: (work: (tx: object) => Promise<unknown>) => work({}) };
  const database = Object.create(Database.prototype, { prisma: { value: prisma } }) as Database;
  const key = { apiKey: 'key', apiKeyHeader: 'x-key', tls: {}, rateLimitPerSecond: null };
  const silent = () => undefined;
  const bank = new BankService(
    { bank: { profile: 'sandbox' } } as Settings,
    { getCallSettings: () => Promise.resolve({ credentials: key }) } as unknown as AccountsService,
    // Nothing listens on port 1.
    new BankConnections({ bankBaseUrl: 'http://127.0.0.1:1' } as Addresses),
    new BankLimits(),
    { debug: silent, info: silent, warn: silent } as unknown as Log,
  );
  const callBank = () =>
    bank.call(getCharge, { slug: 'main' } as BankAccount, { params: { correlationId: 'a' } });

  it('throws inside a transaction', async () => {
    const message = /a call to the bank inside a database transaction/;
    await expect(database.transaction(callBank)).rejects.toThrow(message);
    await expect(
      database.transaction(async () => {
        await Promise.resolve();
        return [1].map(() => assertOutsideTransaction('a call to the bank'));
      }),
    ).rejects.toThrow(message);
  });

  it('is made before and after a transaction', async () => {
    await expect(database.transaction(() => Promise.resolve('committed'))).resolves.toBe(
      'committed',
    );
    await expect(callBank()).resolves.toMatchObject({ outcome: 'unknown', reason: 'not_sent' });
  });
});
