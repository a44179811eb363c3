// Tests the check of row types (test/support/row-types.ts): each query here declares a type, and
// most declare one that the rows do not have.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { listAccountsWithDueBillPayments } from '../../../src/outbound/bill-payments/bill-payments.queries.js';
import * as chargeStatus from '../../../src/outbound/charges/charge-status.queries.js';
import {
  findRepeatedDebit,
  listLostDebits,
} from '../../../src/outbound/operations/restores.queries.js';
import { recordRestore } from '../../../src/outbound/operations/restores.service.js';
import * as secondServices from '../../../src/outbound/operations/second-services.queries.js';
import { newId } from '../../../src/platform/ids.js';
import { Prisma, type PrismaClient } from '../../../src/generated/service/client.js';
import {
  hasRefundPolicies,
  listAccountsToRefund,
} from '../../../src/reconciliation/breaks/refund-policies.queries.js';
import { listDueEndpoints } from '../../../src/events/events.queries.js';
import { listUnfinishedUploads } from '../../../src/outbound/bulk/bulk.queries.js';
import { listDueOperations } from '../../../src/outbound/operations/operations.queries.js';
import { listDueSchedules, listRunning } from '../../../src/reconciliation/runs/runs.queries.js';
import { listDueRules } from '../../../src/reporting/alerts/evaluation.queries.js';
import { listDueChannels } from '../../../src/reporting/alerts/notifications.queries.js';
import { listAccountsWithDaysToClose } from '../../../src/reporting/day-closes/day-closes.queries.js';
import { listAccountsWithDisputes } from '../../../src/statement/disputes/disputes.queries.js';
import { listAccountsWithDueSubjects } from '../../../src/statement/reconciliation-tasks/reconciliation-tasks.queries.js';
import { listAccountsWithNotices } from '../../../src/webhooks/processing/notices.queries.js';
import { listAccountsWithOverdueWebhooks } from '../../../src/webhooks/processing/webhook-processing.queries.js';
import { listDueRelays } from '../../../src/webhooks/relays/relays.queries.js';
import { listAccountsToClose } from '../../../src/statement/lines/closing.queries.js';
import {
  listOverdueAccounts,
  listDueSyncs,
} from '../../../src/statement/lines/statement.queries.js';
import { listAccountsWithDueTransfers } from '../../../src/outbound/transfers/transfers.queries.js';
import { violations } from '../../support/row-types.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

let service: ServiceDatabase;
let db: PrismaClient;

beforeAll(async () => {
  service = await serviceDatabase();
  db = service.database.prisma;
  await db.$executeRaw`CREATE TYPE light AS ENUM ('red', 'green')`;
});
afterAll(() => service.drop());

it('accepts the queries that other tests run in another process only', async () => {
  const { accountId } = service;
  expect(await listAccountsWithDueBillPayments(db, 1)).toEqual([]);
  expect(await chargeStatus.listDueCharges(db, accountId, new Date(), 1)).toEqual([]);
  expect(await chargeStatus.listAccountsWithDueCharges(db)).toEqual([]);
  const check = { correlationId: 'none', checkedAt: new Date(), knownDueDate: null };
  const unread = { bankStatus: null, bankDueDate: null };
  const unchanged = { ...check, ...unread, nextCheckAt: null, end: null };
  expect(
    await service.database.transaction((tx) =>
      chargeStatus.recordChargeStatusCheck(tx, accountId, unchanged),
    ),
  ).toBe(false);
  expect(await listAccountsToRefund(db)).toEqual([]);
  expect(await listAccountsToClose(db, 1)).toEqual([]);
  expect(await listOverdueAccounts(db, 1, 1)).toEqual([{ accountId }]);
  expect(await listDueSyncs(db, 1_000, true)).toMatchObject([{ accountId }]);
  expect(await listAccountsWithDueTransfers(db)).toEqual([]);
});

it('accepts the queries of sweeps', async () => {
  const { accountId } = service;
  const none = [
    await listUnfinishedUploads(db, 1),
    await listDueOperations(db, 1),
    await listDueEndpoints(db, null),
    await listDueChannels(db),
    await listDueRules(db),
    await listAccountsWithDaysToClose(db),
    await listRunning(db),
    await listAccountsWithDisputes(db),
    await listAccountsWithDueSubjects(db),
    await listAccountsWithNotices(db),
    await listAccountsWithOverdueWebhooks(db, [1_000]),
    await listDueRelays(db),
  ];
  expect(none).toEqual(none.map(() => []));
  expect(await hasRefundPolicies(db)).toBe(false);
  expect(await listDueSchedules(db)).toMatchObject([{ accountId }]);
});

it('accepts the queries that only long tests run: of a database that was set back', async () => {
  const { accountId, database } = service;
  const id = newId();
  expect(await secondServices.listSuspectDebits(db)).toEqual([]);
  expect(await secondServices.isInJournal(db, [id])).toBe(false);
  expect(await secondServices.countUndetectable(db)).toBe(0);
  expect(await secondServices.readNameOfDatabase(db)).toMatch(/^[0-9a-f]{32}$/);
  expect(await recordRestore(database, 'row types')).toMatchObject([{ unfinished: 0 }]);
  const lost = { lostFrom: new Date(), lostUntil: null };
  expect(await listLostDebits(db, { accountId, ...lost }, 1)).toEqual([]);
  const operation = { accountId, id, isDistinguishable: false, effectiveFrom: null };
  const nothing = { nsu: null, isSame: false, isScheduled: false };
  expect(await findRepeatedDebit(db, operation, lost)).toEqual(nothing);
});

/** The differences for which the query is rejected, without file and line. */
async function differencesIn(rows: Promise<unknown>): Promise<string[]> {
  await expect(rows).rejects.toThrow('rows without the type that the source declares');
  const [title, ...found] = violations.splice(0).join('\n').split('\n');
  expect(title).toBe('rows without the type that the source declares:');
  return found.map((line) =>
    line.replace(/^test\/integration\/platform\/row-types\.spec\.ts:\d+ /, ''),
  );
}

it('accepts rows that have the declared type', async () => {
  const rows = await db.$queryRaw<
    {
      id: number;
      slug: string;
      origin: 'settings' | 'api';
      goLiveAt: Date;
      name: string | null;
      count: bigint;
      light: 'red' | 'green';
      slugs: readonly string[];
      evidence: { origin: string; amount?: string }[];
      extra?: boolean;
    }[]
  >`
    SELECT id, slug, origin, go_live_at, name, count(*) OVER () AS count, 'red'::light AS light,
           ARRAY[slug] AS slugs, jsonb_build_array(jsonb_build_object('origin', origin)) AS evidence
    FROM bank_account WHERE id = ${service.accountId}`;
  expect(rows).toHaveLength(1);
});

it('reports a column of another type, also without rows', async () => {
  const query = db.$queryRaw<{ id: bigint; slug: Date; sum: bigint; at: string }[]>`
    SELECT id, slug, sum(id::bigint) AS sum, go_live_at AS at FROM bank_account
    WHERE slug = 'none' GROUP BY id`;
  expect(await differencesIn(query)).toEqual([
    'column id is number, the row type says bigint',
    'column slug is string, the row type says Date',
    'column sum is Decimal, the row type says bigint',
    'column at is Date, the row type says string',
  ]);
});

it('reports an array of another type, and an array of an enum, which the client reads as text', async () => {
  const query = db.$queryRaw<{ ids: bigint[]; lights: string[] }[]>`
    SELECT ARRAY[1, 2] AS ids, ARRAY['red'::light] AS lights`;
  expect(await differencesIn(query)).toEqual([
    'column ids is number[], the row type says (bigint)[]',
    'column lights is string, the row type says (string)[]',
  ]);
});

it('reports a property without a column, and a column without a property', async () => {
  const query = db.$queryRaw<{ id: number; slug: string; name?: string | null }[]>`
    SELECT id, go_live_at FROM bank_account`;
  expect(await differencesIn(query)).toEqual([
    'column go_live_at is not in the row type',
    'property slug has no column',
  ]);
});

it('reports null where the type does not admit it', async () => {
  const query = db.$queryRaw<{ slug: string; name: string }[]>`
    SELECT slug, name FROM bank_account`;
  expect(await differencesIn(query)).toEqual(['column name has null, the row type says string']);
});

it('reports a text outside the union', async () => {
  const query = db.$queryRaw<{ origin: 'api' | 'file'; slugs: 'other'[] }[]>`
    SELECT origin, ARRAY[slug] AS slugs FROM bank_account`;
  expect(await differencesIn(query)).toEqual([
    `column origin has settings, the row type says 'api' | 'file'`,
    `column slugs has main, the row type says ('other')[]`,
  ]);
});

it('reports JSON of another shape', async () => {
  const query = db.$queryRaw<{ a: { cents: bigint }; b: { id: string }[]; c: string[] }[]>`
    SELECT '{"cents": 1}'::jsonb AS a, '[{}]'::jsonb AS b, '["x"]'::jsonb AS c`;
  expect(await differencesIn(query)).toEqual([
    'column a has {"cents": 1}, the row type says { cents: bigint }',
    'column b has [{}], the row type says ({ id: string })[]',
  ]);
});

it('finds the query of a statement that fragments and transactions are part of', async () => {
  const columns = Prisma.sql`id, slug`;
  const query = service.database.transaction(
    (tx) => tx.$queryRaw<{ id: number }[]>`
      SELECT ${columns} FROM bank_account WHERE id = ${1} AND slug = ANY (${['main']})`,
  );
  expect(await differencesIn(query)).toEqual(['column slug is not in the row type']);
});

it('names file and line', async () => {
  const query = db.$queryRaw<{ one: bigint }[]>`SELECT 1 AS one`;
  await expect(query).rejects.toThrow(
    /test\/integration\/platform\/row-types\.spec\.ts:\d+ column one/,
  );
  violations.length = 0;
});

it('compares two queries of the same text with the type of either', async () => {
  const first = db.$queryRaw<{ two: number }[]>`SELECT 2 AS two`;
  const second = db.$queryRaw<{ two: bigint }[]>`SELECT 2 AS two`;
  expect(await Promise.all([first, second])).toEqual([[{ two: 2 }], [{ two: 2 }]]);
});
