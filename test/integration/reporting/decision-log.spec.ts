// The log of decisions, approvals, rights and policies, whose root certificates state.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { verifyChain } from '../../../packages/verifier/src/index.js';
import { readCertificate } from '../../../src/reporting/day-closes/certificate.js';
import { extendLog } from '../../../src/reporting/day-closes/decision-log.queries.js';
import { withLease } from '../../../src/platform/postgres/leases/leases.service.js';
import { ClosedDays, type TestLine } from '../../support/closed-days.js';
import { operatorOf } from '../../support/operator.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

const slug = 'logged';
const scopes = ['read', 'personal-data'];
const migration = readFileSync(
  'prisma/service/migrations/20261130150001_decisions_are_logged/migration.sql',
  'utf8',
);
const lines: TestLine[] = [
  { nsu: 1, at: '2026-02-02T12:00:00.000Z', cents: 1_000 },
  { nsu: 2, at: '2026-02-03T12:00:00.000Z', cents: 500 },
  { nsu: 3, at: '2026-02-04T12:00:00.000Z', cents: -200 },
];
let service: ServiceApplication;
let account: { id: number; goLiveAt: Date };
let apiKey: string;
const closedDays = new ClosedDays(() => ({
  ...{ database: service.database, accountId: 0 },
  drop: () => Promise.resolve(),
}));
const decide = `INSERT INTO line_decision (account_id, nsu, action, allocations, actor, reason)
                VALUES ($1, $2, 'link', '[]', 'key-1', 'Paid by João')`;
const exported = async (subject: string) =>
  (await service.call('GET', `/v1/exports/${subject}`, { apiKey })).text
    .split('\n')
    .filter((one) => one !== '');
const stated = async () =>
  (await closedDays.chain(account.id)).map(
    ({ certificate }) => readCertificate(certificate).decisions,
  );
const findings = async (decisions?: string[]) => {
  const given = decisions ? { decisions } : {};
  const verified = await verifyChain(await exported('certificates'), given);
  return verified.findings.map(({ code, where }) => `${code} ${where}`);
};
const closeUntil = async (day: string) => {
  await closedDays.closedUntil(account.id, day);
  await closedDays.close(account);
};

beforeAll(async () => {
  service = await serviceApplication();
  account = await closedDays.account(slug, new Date('2026-02-02T03:00:00Z'));
  apiKey = (await operatorOf(() => service).createKey(slug, { scopes })).key;
  await closedDays.arrive(account.id, lines);
  await closedDays.decide(account.id);
});
afterAll(() => service.stop());

it('is a prefix of the log of a later day, also where a fact commits late', async () => {
  const late = await service.database.pool.connect();
  try {
    await late.query('BEGIN');
    await late.query(decide, [account.id, 1]);
    await closedDays.run(decide, account.id, 2);
    await closeUntil('2026-02-03');
    await late.query('COMMIT');
  } finally {
    late.release();
  }
  const before = await exported('decisions');
  await closeUntil('2026-02-04');
  const after = await exported('decisions');
  expect(after.slice(0, before.length)).toEqual(before);
  expect(after.slice(before.length).map((text) => JSON.parse(text).fact.nsu)).toEqual(['1']);
  expect((await stated()).map((log) => log?.count)).toEqual([before.length, after.length]);
  expect(await findings(after)).toEqual([]);
});

it('has what a right becomes, and shows no secret and nothing that a person wrote', async () => {
  await closedDays.run(
    "UPDATE api_key SET scopes = scopes || '{pay}' WHERE account_id = $1",
    account.id,
  );
  await closedDays.run('UPDATE api_key SET name = $2 WHERE account_id = $1', account.id, 'other');
  const role = '0196b6d0-0000-7000-8000-000000000001';
  await closedDays.run(
    `INSERT INTO operator (id, email, email_hash, role_everywhere) VALUES ($1, 'x', 'x', 'admin')`,
    role,
  );
  await closedDays.run(
    "UPDATE operator SET disabled_at = now(), role_everywhere = 'viewer' WHERE id = $1",
    role,
  );
  await closedDays.run(
    `INSERT INTO audit_entry (id, account_id, action, subject, shown)
     VALUES ($2, $1, 'act', 'João', '{"name":"João"}')`,
    ...[account.id, role],
  );
  await closeUntil('2026-02-05');
  const all = await exported('decisions');
  const added = all.slice((await stated()).at(-2)?.count).map((text) => JSON.parse(text));
  expect(added.map(({ kind, fact }) => [kind, fact.role ?? fact.scopes])).toEqual([
    ['api_key', [...scopes, 'pay']],
    ['operator', 'admin'],
    ['operator', 'viewer'],
    ['audit_entry', undefined],
  ]);
  expect(all.join('')).not.toMatch(/João|hash"/);
  expect(await findings(all)).toEqual([]);
  expect((await closedDays.verify(slug))?.difference).toBeNull();
});

it('is named by the verifier where it does not have the root', async () => {
  const all = await exported('decisions');
  const first = (await stated())[0]!.count;
  expect(await findings(all.slice(0, -1))).toEqual(['decisions --decisions']);
  const changed = all.map((text, at) => (at === first - 1 ? text.replace('link', 'unlink') : text));
  expect((await findings(changed))[0]).toBe(`decisions #1 2026-02-02 1–${first}`);
  expect(await findings()).toEqual([]);
});

it('keeps its root when what a person wrote is erased, which `concilia verify` reports', async () => {
  const [before, tables] = [await exported('decisions'), ['line_decision', 'decision_log_entry']];
  await closedDays.save(account.id, tables);
  const found = async (sql: string) => {
    await closedDays.tamper(`${sql} WHERE account_id = $1 AND nsu = 2`, account.id);
    const { field, found } = (await closedDays.verify(slug))!.difference!;
    return [field.split(' ')[0], found];
  };
  expect(await found("UPDATE line_decision SET reason = ''")).toEqual([
    ...['line_decision', 'erased or changed'],
  ]);
  expect(await exported('decisions')).toEqual(before);
  expect(await findings(before)).toEqual([]);
  expect(await found('DELETE FROM line_decision')).toEqual(['line_decision', 'gone']);
  await closedDays.restore(account.id, tables);
  expect((await closedDays.verify(slug))?.difference).toBeNull();
  await expect(closedDays.run('TRUNCATE decision_log_entry')).rejects.toThrow('is append-only');
});

it('has in a new account a role that changes at the same time', async () => {
  const { pool } = service.database;
  const added = await pool.connect();
  try {
    await added.query('BEGIN');
    await added.query("INSERT INTO bank_account (slug, go_live_at) VALUES ('new', now())");
    const change = pool.query("UPDATE operator SET role_everywhere = 'admin' WHERE email = 'x'");
    await Promise.race([change, sleep(300)]);
    await added.query('COMMIT');
    await change;
  } finally {
    added.release();
  }
  const { rows } = await pool.query(
    `SELECT detail->>'role' AS role FROM decision_log_entry
     JOIN bank_account b ON b.id = account_id WHERE b.slug = 'new' ORDER BY sequence`,
  );
  expect(rows).toEqual([{ role: 'viewer' }, { role: 'admin' }]);
});

it('lets who decides wait but a moment for the migration that adds it', async () => {
  const { pool } = service.database;
  const [writer, migrating] = [await pool.connect(), await pool.connect()];
  try {
    await writer.query('BEGIN');
    await writer.query(decide, [account.id, 1]);
    await migrating.query("SET lock_timeout = '60s'");
    const code = '55P03';
    await expect(migrating.query(migration)).rejects.toMatchObject({ code });
    await writer.query('ROLLBACK');
    await migrating.query(migration);
    const { rows } = await migrating.query('SHOW lock_timeout');
    expect(rows).toEqual([{ lock_timeout: '1min' }]);
  } finally {
    writer.release(true);
    migrating.release(true);
  }
}, 20_000);

it('stores of a long log what the next leaves need', async () => {
  await closedDays.run(
    `INSERT INTO line_decision (account_id, nsu, action, allocations, actor, reason)
     SELECT $1, 1, 'link', '[]', 'key-1', 'x' FROM generate_series(1, 2500)`,
    account.id,
  );
  await withLease(service.database, account.id, 'close_days', (lease) =>
    extendLog(service.database, lease),
  );
  const { decisionCount, decisionSubtrees } =
    await service.database.prisma.dayCloseState.findUniqueOrThrow({
      where: { accountId: account.id },
    });
  expect(decisionCount).toBeGreaterThan(2_500n);
  const ones = [...decisionCount.toString(2)].filter((digit) => digit === '1').length;
  expect(decisionSubtrees).toHaveLength(32 * ones);
  expect((await closedDays.verify(slug))?.difference).toBeNull();
});
