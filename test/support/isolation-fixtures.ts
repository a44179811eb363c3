// One object of each kind for account A, for the test that no other account sees or changes it.
import { expect } from '@jest/globals';
import { z } from 'zod';
import type { Route } from '../../src/bank-contract/route.js';
import type { Database } from '../../src/platform/postgres/database.service.js';
import type { ServiceApplication } from './service-application.js';
import { addPayments } from './parent-rows.js';

/**
 * Inserts a break and a match; adds to `bodies`, by route name, the bodies of the routes that
 * change them.
 */
export async function insertBreakAndMatch(
  { pool }: Database,
  accountId: number,
  bodies: Record<string, unknown>,
): Promise<{ breakId: string; matchId: string }> {
  const breakId = '01900000-0000-7000-8000-00000000b0b0';
  const matchId = '01900000-0000-7000-8000-00000000b0b1';
  await pool.query(
    `INSERT INTO "break" (account_id, id, kind, state, subject, evidence)
     VALUES ($1, $2, 'balance_mismatch', 'open', 'isolation',
       '{"lastNsu":"1","lastBalanceCents":"1","liveBalanceCents":"2","since":null}')`,
    [accountId, breakId],
  );
  await pool.query(
    `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
       balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
     VALUES ($1, 8000001, 'x', true, 1000, 'CREDIT_PIX', 0, 0, now(), 'h', '{}')`,
    [accountId],
  );
  await addPayments(pool, accountId, [matchId]);
  await pool.query(
    `INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, rule, evidence)
     VALUES ($1, $2, 8000001, $2, 1000, 'reference', '{}')`,
    [accountId, matchId],
  );
  bodies.commentOnBreak = { text: 'canary' };
  bodies.assignBreaks = { ids: [breakId], assignee: null };
  bodies.snoozeBreaks = { ids: [breakId], until: null };
  bodies.actOnBreak = { action: 'note', reason: 'canary' };
  bodies.unlinkManually = { reason: 'canary' };
  return { breakId, matchId };
}

const ruleDefinition = {
  priority: 10,
  when: { isCredit: true },
  then: { classify: 'ignored', reason: 'isolation' },
  reason: 'isolation',
};

/** Creates a rule: its ids by path prefix, and valid bodies for the routes that change it. */
export async function createRuleOfA(service: ServiceApplication) {
  const body = { name: 'isolation', ...ruleDefinition };
  const { status, body: rule } = await service.call('POST', '/v1/rules', { body });
  expect(status).toBe(201);
  return {
    ids: [
      ['/v1/rules/', rule.id as string],
      ['/v1/rules/{id}/versions/', '1'],
    ] as const,
    bodies: {
      createRuleVersion: ruleDefinition,
      activateRuleVersion: { reason: 'isolation' },
      retireRuleVersion: { reason: 'isolation' },
    },
    canaries: [rule.id as string],
  };
}

const certificateHash = 'isolation-canary-certificate';
const noAmounts = { count: 0, credits: '0.00', debits: '0.00' };
const certificate = {
  format: 'concilia-day-close/2',
  ...{ accountId: 1, date: '2026-03-02', revision: 1, sequence: 1, reason: null },
  ...{ opening: '0.00', credits: '0.00', debits: '0.00', closing: '0.00', lines: 0 },
  ...{ matched: noAmounts, classified: {}, inBreak: {}, firstNsu: null, lastNsu: null },
  ...{
    balanceNsu: null,
    balance: '0.00',
    reconcilingItems: [],
    added: [],
    linesRoot: 'x',
    statementRoot: 'x',
    earlier: null,
    outcomeChanges: { count: 0, root: 'x', first: [] },
    ...{ lastArrival: '0', outcomeSequence: '0' },
  },
  ...{
    previousHash: 'x',
    key: { id: 'x', x: 'x', endorsement: null },
    closedUntil: null,
    madeAt: '2026-03-03T03:00:00.000Z',
  },
};

export async function insertDayCloseOf(database: Database, accountId: number) {
  const { date } = certificate;
  await database.prisma.dayClose.create({
    data: {
      ...{ accountId, sequence: 1, date, revision: 1, lineCount: 0 },
      ...{ openingCents: 0, creditCents: 0, debitCents: 0, closingCents: 0 },
      ...{
        certificate: JSON.stringify(certificate),
        ...{ linesRoot: 'x', lastArrival: 0, outcomeSequence: 0 },
        previousHash: 'x',
        hash: certificateHash,
      },
    },
  });
  return { date, hash: certificateHash };
}

/** Starts a reconciliation run; its id by path prefix. */
export async function startRunOfA(
  service: ServiceApplication,
): Promise<(readonly [string, string])[]> {
  const { body } = await service.call('POST', '/v1/reconciliations');
  return [['/v1/reconciliations/', body.id as string]];
}

export function routeHasBody(route: Route): boolean {
  return !(route.body instanceof z.ZodUndefined);
}

export function queryNamesOf({ query }: Route): string[] {
  return query instanceof z.ZodObject ? Object.keys(query.shape) : [];
}

/** A dispute of the account, and the path by which it is read. */
export async function insertDisputeOf(
  { pool }: Pick<Database, 'pool'>,
  accountId: number,
): Promise<[path: string, id: string]> {
  const id = '01a20000-0000-7000-8000-00000d15b07e';
  await pool.query(
    `INSERT INTO dispute (account_id, id, kind, reference, status, reported_at, deadline_at)
     VALUES ($1, $2, 'med', 'isolation-dispute', 'reported', now(), now())`,
    [accountId, id],
  );
  return ['/v1/disputes/', id];
}

/**
 * An alert of the account with its rule, its channel and a message: their ids by path prefix and by
 * query parameter. Adds to `bodies`, by route name, the bodies of the routes that change them.
 */
export async function createAlertOfA(
  service: ServiceApplication,
  accountId: number,
  bodies: Record<string, unknown>,
) {
  const create = async (path: string, body: object) => {
    const created = await service.call('POST', path, { body });
    expect([path, created.status]).toEqual([path, 201]);
    return created.body.id as string;
  };
  const url = 'http://127.0.0.1:4000/alerts';
  const channelId = await create('/v1/alert-channels', { kind: 'slack', name: 'isolation', url });
  const ruleId = await create('/v1/alert-rules', {
    ...{ name: 'isolation', condition: { kind: 'no_sync' }, channelIds: [channelId] },
  });
  const alertId = '01a20000-0000-7000-8000-00000a1e2700';
  const notificationId = '01a20000-0000-7000-8000-00000a1e2701';
  const { pool } = service.database;
  await pool.query(
    `INSERT INTO alert (account_id, id, rule_id, subject, state, severity, detail)
     VALUES ($1, $2, $3, 'sync', 'firing', 'high', '{}')`,
    [accountId, alertId, ruleId],
  );
  await pool.query(
    `WITH m AS (
       INSERT INTO alert_message
         (account_id, id, rule_id, kind, alert_count, without_amount, severities, items)
       VALUES ($1, $2, $3, 'fired', 1, 1, '{}', '[]') RETURNING id)
     INSERT INTO alert_notification (account_id, id, message_id, channel_id, state)
     SELECT $1, $2, m.id, $4, 'dead' FROM m`,
    [accountId, notificationId, ruleId, channelId],
  );
  bodies.acknowledgeAlert = { reason: 'isolation' };
  return {
    ids: [
      ['/v1/alerts/', alertId],
      ['/v1/alert-rules/', ruleId],
      ['/v1/alert-channels/', channelId],
      ['/v1/alert-notifications/', notificationId],
    ] as const,
    queryIds: { ruleId, channelId },
  };
}
