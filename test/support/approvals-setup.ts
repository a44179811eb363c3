// The service in front of a sandbox bank that records what reaches it, with keys of several
// holders: the maker's of the settings, and two approvers'.
import { expect } from '@jest/globals';
import type pg from 'pg';
import { OperationRecovery } from '../../src/outbound/operations/operation-recovery.service.js';
import { sandboxUnderTest } from '../contract/bank-under-test.js';
import { newKeyHeader } from '../contract/samples.js';
import { internalTransfer } from '../contract/transfer-samples.js';
import { deleteAllRows, withoutTriggers } from './parent-rows.js';
import { testDatabase } from './postgres.js';
import { recordingBank } from './recording-bank.js';
import { adminKey, serviceProcess, type ServiceProcess } from './service-application.js';

export const transfers = '/baas/api/v2/transfers';
export const transferCall = `POST ${transfers}`;

interface Key {
  id: string;
  key: string;
}

/** Two processes of the service on one database. */
async function twoProcesses() {
  const sandbox = await sandboxUnderTest();
  const bank = await recordingBank(await sandbox.application.getUrl());
  const test = await testDatabase('service');
  const one = await serviceProcess(test, bank.url);
  const other = await serviceProcess(test, bank.url);
  const { id: accountId } = await one.database.prisma.bankAccount.findFirstOrThrow();
  return {
    ...{ sandbox, bank, test, one, other, accountId },
    reset: async () => {
      bank.takeChanges();
      const except = ['bank_account', 'api_key', 'service_secret'];
      await deleteAllRows(test.pool, { except });
      await test.pool.query(`UPDATE bank_account SET mode = 'live', registers_webhooks = true`);
    },
    stop: async () => {
      await one.stop();
      await other.stop();
      await test.drop();
      bank.close();
      await sandbox.stop();
    },
  };
}

/** Moves the end of the time in which the operations can be approved into the past. */
const passExpiry = (pool: pg.Pool) =>
  withoutTriggers(pool, async (client) => {
    await client.query(
      `UPDATE operation_approval_request SET expires_at = now() - interval '1 second'`,
    );
    await client.query(
      `UPDATE operation SET next_action_at = now() - interval '1 second'
       WHERE state = 'awaiting_approval'`,
    );
  });

export async function approvalsSetup() {
  const processes = await twoProcesses();
  const { one, accountId } = processes;
  const asOperator = (method: string, path: string, body?: object) =>
    one.call(method, path, { body, apiKey: adminKey });
  const createKey = async (scopes: string[], slug = 'main'): Promise<Key> => {
    const fields = { name: 'a person', kind: 'api', scopes };
    const { body } = await asOperator('POST', `/v1/accounts/${slug}/keys`, fields);
    return body as Key;
  };
  const ana = await createKey(['read', 'approve', 'transfer', 'refund', 'reconcile', 'pay']);
  const bia = await createKey(['read', 'approve']);
  const setPolicy = async (policy: object, apiKey?: string) =>
    one.call('PUT', '/v1/approval-policy', {
      body: { aboveAmount: 0, kinds: [], approvals: 1, ...policy },
      ...(apiKey ? { apiKey } : {}),
    });
  const send = (body: object = internalTransfer(), headers = newKeyHeader()) =>
    one.call('POST', transfers, { body, headers });
  const decide = (
    id: string,
    { key: apiKey }: Pick<Key, 'key'>,
    body: object = {},
    through: ServiceProcess = one,
  ) =>
    through.call('POST', `/v1/operations/${id}/approvals`, {
      body: { decision: 'approve', reason: 'invoice seen', ...body },
      apiKey,
    });
  const operation = async (id: string) => (await one.call('GET', `/v1/operations/${id}`)).body;
  const advance = async (id: string, through = one) =>
    through.application
      .get(OperationRecovery, { strict: false })
      .advance({ accountId, operationId: id });
  return {
    ...processes,
    ...{ asOperator, createKey, ana, bia },
    ...{ setPolicy, send, decide, operation, advance },
    /** A transfer that awaits approval; its id. */
    sendWaiting: async (body?: object, headers?: ReturnType<typeof newKeyHeader>) => {
      const response = await send(body, headers);
      expect([response.status, response.body.state]).toEqual([202, 'awaiting_approval']);
      return response.body.id as string;
    },
    passExpiry: () => passExpiry(processes.test.pool),
    events: async (id: string): Promise<string[]> => {
      const { data } = (await one.call('GET', '/v1/events?after=0&limit=100')).body;
      const ofOperation = (data as { type: string; resource: { id: string } }[]).filter(
        ({ resource }) => resource.id === id,
      );
      return ofOperation.map(({ type }) => type);
    },
  };
}

export type ApprovalsSetup = Awaited<ReturnType<typeof approvalsSetup>>;
