// Replacing CREDENTIALS_KEY as docs/how-to/deploying.md describes, with processes of different
// settings on one database. The application is started again in this process for each step.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AccountsService } from '../../../src/access/accounts/accounts.service.js';
import { listKeyIds } from '../../../src/access/secrets/encrypted-column.queries.js';
import { encryptedColumns } from '../../../src/app/encrypted-columns.js';
import { ownerOfEndpointSecret } from '../../../src/events/endpoint-secrets.queries.js';
import { KeyRing, SecretBox } from '../../../src/platform/secret-box.js';
import { openSecretBox, reencrypt } from '../../../src/access/secrets/credentials-keys.service.js';
import { sandboxUnderTest } from '../../contract/bank-under-test.js';
import { slip } from '../../contract/samples.js';
import { testDatabase, type TestDatabase } from '../../support/postgres.js';
import {
  adminKey,
  serviceProcess,
  type ServiceProcess,
} from '../../support/service-application.js';

const oldKey = 'the-old-credentials-key-of-the-test';
const newKey = 'the-new-credentials-key-of-the-test';
const onlyOld = { CREDENTIALS_KEY: oldKey };
const newIsReadable = { CREDENTIALS_KEY: oldKey, CREDENTIALS_OTHER_KEYS: newKey };
const newIsCurrent = { CREDENTIALS_KEY: newKey, CREDENTIALS_OTHER_KEYS: oldKey };
const onlyNew = { CREDENTIALS_KEY: newKey };
const idOf = (credentialsKey: string) =>
  new KeyRing({ credentialsKey, otherCredentialsKeys: [] }).currentId;
const keysOf = (environment: { CREDENTIALS_KEY: string; CREDENTIALS_OTHER_KEYS?: string }) => ({
  credentialsKey: environment.CREDENTIALS_KEY,
  otherCredentialsKeys: environment.CREDENTIALS_OTHER_KEYS?.split(',') ?? [],
});

describe('replacing CREDENTIALS_KEY', () => {
  let sandbox: Awaited<ReturnType<typeof sandboxUnderTest>>;
  let test: TestDatabase;
  let running: ServiceProcess[];

  beforeEach(async () => {
    [sandbox, test, running] = [await sandboxUnderTest(), await testDatabase('service'), []];
  });
  afterEach(async () => {
    for (const process of running) await process.stop();
    await test.drop();
    await sandbox.stop();
  });

  const start = async (environment: Record<string, string>) => {
    const url = await sandbox.application.getUrl();
    const started = await serviceProcess(test, url, environment);
    running.push(started);
    return started;
  };

  const asOperator = async (
    { call }: ServiceProcess,
    method: 'POST' | 'GET',
    path: string,
    body?: object,
    key = path,
  ) => {
    const headers = { 'x-service-admin-key': adminKey, IdempotencyKey: key };
    const response = await call(method, path, { headers, apiKey: null, ...(body ? { body } : {}) });
    expect(response.status).toBeLessThan(300);
    return response;
  };

  /** Everything of the service that is encrypted, or compared by a keyed hash. */
  const use = async (service: ServiceProcess, account: string) => {
    const { call, application } = service;
    const added = await asOperator(
      service,
      'POST',
      '/v1/accounts',
      {
        slug: account,
        credentials: { apiKey: `bank key of ${account}`.replaceAll(' ', '-') },
      },
      account,
    );
    const path = `/v1/accounts/${account}/keys`;
    const created = await asOperator(service, 'POST', path, { name: 'x', scopes: ['read'] });
    const url = 'https://receiver.example/events';
    const endpoint = await call('POST', '/v1/webhook-endpoints', {
      headers: { IdempotencyKey: `endpoint-of-${account}` },
      body: { url },
    });
    const charge = await call('POST', '/baas/v1/charges', {
      headers: { IdempotencyKey: `charge-of-${account}` },
      body: slip({ correlationId: `order-of-${account}`, yourNumber: '1' }),
    });
    const withKey = await call('GET', '/v1/summary', { apiKey: created.body.key });
    const accounts = application.get(AccountsService);
    const row = await accounts.getBySlug(account);
    const { id, secret } = endpoint.body as Record<'id' | 'secret', string>;
    const rotated = await call('POST', `/v1/webhook-endpoints/${id}/rotate-secret`, {
      headers: { IdempotencyKey: `rotation-of-${account}` },
    });
    const stored = await service.database.prisma.webhookEndpoint.findFirstOrThrow({
      where: { id },
    });
    const signingSecrets = [stored.secret, stored.previousSecret].map((encrypted) =>
      application.get(SecretBox).decrypt(encrypted ?? '', ownerOfEndpointSecret(stored)),
    );
    expect(signingSecrets).toEqual([rotated.body.secret, secret]);
    return {
      responses: [added, created, endpoint, rotated, charge].map(({ text }) => text),
      statuses: [added, created, endpoint, charge, withKey].map(({ status }) => status),
      credentials: (await accounts.getCredentials(row)).apiKey,
      webhookSecret: await accounts.getWebhookSecret(row),
    };
  };

  const keyIdsIn = async ({ database }: ServiceProcess) => {
    const ids = await Promise.all(
      encryptedColumns.map((column) => listKeyIds(database.prisma, column)),
    );
    return [...new Set(ids.flat())].sort();
  };

  it('keeps credentials, API keys, replays and derived webhook secrets valid at each step', async () => {
    const before = await start(onlyOld);
    const first = await use(before, 'first');
    expect(first.statuses).toEqual([201, 201, 201, 200, 200]);
    expect(await use(before, 'first')).toEqual(first);

    const readable = await start(newIsReadable);
    expect(await use(readable, 'first')).toEqual(first);
    await use(readable, 'of-step-one');
    // The first process has only the old key, and nothing is encrypted with the new one.
    expect(await keyIdsIn(before)).toEqual([idOf(oldKey)]);
    await before.stop();
    running.splice(running.indexOf(before), 1);

    const current = await start(newIsCurrent);
    expect(await use(current, 'first')).toEqual(first);
    const second = await use(current, 'of-step-two');
    // A process that has not been restarted since step one reads what the new one has stored.
    expect(await use(readable, 'of-step-two')).toEqual(second);
    expect(await keyIdsIn(current)).toEqual([idOf(oldKey), idOf(newKey)].sort());

    const { others, unreadable } = await reencrypt(
      current.database,
      keysOf(newIsCurrent),
      encryptedColumns,
    );
    expect([others, unreadable]).toEqual([[{ keyId: idOf(oldKey), values: 0 }], []]);
    const after = await start(onlyNew);
    expect(await use(after, 'first')).toEqual(first);
    expect(await use(after, 'of-step-two')).toEqual(second);
  });

  it('is refused at the start of a process that lacks a key, which the message names by its id', async () => {
    await use(await start(onlyOld), 'first');
    const starting = start(onlyNew);
    await expect(starting).rejects.toThrow(
      new RegExp(`lacks the key ${idOf(oldKey)}.* bank_account.credentials`),
    );
    await expect(starting).rejects.not.toThrow(oldKey);
    await expect(starting).rejects.not.toThrow(newKey);
  });

  it('stops and continues, shows its progress, and reports values that were copied to another row', async () => {
    const { database } = await start(onlyOld);
    const box = await openSecretBox(database, keysOf(newIsCurrent), encryptedColumns);
    const old = await openSecretBox(database, keysOf(onlyOld), encryptedColumns);
    const keys = Array.from({ length: 250 }, (_, index) => `key ${index}`);
    const ownerOf = (key: string) => ['idempotency_record.body', '0', 'route', key];
    await database.prisma.idempotencyRecord.createMany({
      data: keys.map((key) => ({
        ...{ accountId: 0, route: 'route', key, requestHash: '', status: 200 },
        body: old.encrypt(key, ownerOf(key === 'key 7' ? 'key 8' : key)),
        claim: '00000000-0000-4000-8000-000000000000',
        leasedUntil: new Date(0),
      })),
    });
    const progress: string[] = [];
    const run = (isStopped: () => boolean) =>
      reencrypt(
        database,
        keysOf(newIsCurrent),
        encryptedColumns,
        ({ column, done, total }) => progress.push(`${column} ${done}/${total}`),
        isStopped,
      );
    const stopped = await run(() =>
      progress.some((line) => line.startsWith('idempotency_record.body')),
    );
    // The copied value may be in the first batch.
    expect(stopped.others[0]?.values).toBeGreaterThanOrEqual(150);
    expect(stopped.others[0]?.values).toBeLessThan(250);

    const finished = await run(() => false);
    expect(progress).toContain('service_secret.value 1/1');
    expect(finished.others).toEqual([{ keyId: idOf(oldKey), values: 1 }]);
    expect(finished.unreadable).toEqual([
      { column: 'idempotency_record.body', owner: ownerOf('key 7').join(' ') },
    ]);
    const rows = await database.prisma.idempotencyRecord.findMany();
    for (const { key, body } of rows.filter((row) => row.key !== 'key 7'))
      expect(box.decrypt(body ?? '', ownerOf(key))).toBe(key);
  });
});
