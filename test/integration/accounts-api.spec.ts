import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AccountsService } from '../../src/accounts/accounts.service.js';
import { slip } from '../contract/samples.js';
import {
  adminKey,
  apiKey,
  partnerKey,
  serviceApplication,
} from '../support/service-application.js';
import { operatorOf } from '../support/operator.js';
import type { ServiceApplication } from '../support/service-application.js';
import { authority, clientOne, clientTwo } from '../support/tls-material.js';

describe('bank accounts, by API', () => {
  let service: ServiceApplication;

  beforeAll(async () => {
    service = await serviceApplication();
  });
  afterAll(() => service.stop());

  const { asOperator, add, makeKey, statusWith } = operatorOf(() => service);
  const credentialsOf = async (slug: string) => {
    const accounts = service.application.get(AccountsService);
    return accounts.credentials(await accounts.getBySlug(slug));
  };

  describe('an operator', () => {
    it.each(['x-service-api-key', 'x-service-admin-key'])(
      'is known by the key in %s',
      async (name) => {
        const headers = { [name]: adminKey };
        const answer = await service.call('GET', '/v1/accounts', { headers, apiKey: null });
        expect(answer.status).toBe(200);
        expect(answer.body.data.at(-1)).toMatchObject({ slug: 'main', origin: 'settings' });
      },
    );

    it('is nobody else: without a key or with a wrong one 401, with a business system’s 403', async () => {
      const get = (headers: Record<string, string>) =>
        service.call('GET', '/v1/accounts', { headers, apiKey: null });
      const statuses = await Promise.all([
        get({}),
        get({ 'x-service-api-key': `${adminKey}x` }),
        get({ 'x-service-admin-key': '' }),
        get({ 'x-service-api-key': apiKey }),
        get({ 'x-service-partner-key': partnerKey }),
      ]);
      expect(statuses.map(({ status }) => status)).toEqual([401, 401, 401, 403, 403]);
    });

    it('does no business: 403 on a business system’s route', async () => {
      expect(await statusWith(adminKey)).toBe(403);
      const headers = { 'x-service-admin-key': adminKey };
      const answer = await service.call('GET', '/v1/operations', { headers, apiKey: null });
      expect(answer.status).toBe(403);
    });
  });

  describe('an account', () => {
    it('that is added asks the bank as itself, and its credentials are never told', async () => {
      const { slug, answer } = await add({
        apiKey: 'sandbox-dev-key-2',
        webhookSecret: 'w'.repeat(16),
        rateLimitPerSecond: 50,
      });
      expect(answer.status).toBe(201);
      expect(answer.body).toMatchObject({
        slug,
        origin: 'api',
        credentialsSet: ['apiKey', 'rateLimitPerSecond', 'webhookSecret'],
      });
      const { key } = await makeKey(slug);
      const atBank = { apiKey: 'sandbox-dev-key-2' };
      const body = slip({ correlationId: 'of-the-second' });
      await service.sandbox.call('POST', '/baas/v1/charges', { ...atBank, body });
      await service.sandbox.call('POST', '/baas/v1/charges/of-the-second/pay', atBank);
      const range = 'startDate=2020-01-01&endDate=2100-01-01';
      const path = `/baas/api/v2/transactions?${range}`;
      const theirs = await service.sandbox.call('GET', path, atBank);
      const ours = await service.call('GET', path, { apiKey: key });
      expect([ours.status, ours.text]).toEqual([200, theirs.text]);
      expect(theirs.body.length).toBeGreaterThan(0);
      const told = await asOperator('GET', `/v1/accounts/${slug}`);
      const { rows } = await service.database.pool.query('SELECT * FROM bank_account');
      for (const text of [answer.text, told.text, JSON.stringify(rows)])
        expect(text).not.toMatch(/sandbox-dev-key-2|wwww/);
    });

    it('is one for each slug, and slugs fit into addresses', async () => {
      const { slug } = await add();
      const again = (one: string) =>
        asOperator('POST', '/v1/accounts', { slug: one, credentials: { apiKey: 'x' } });
      expect((await again(slug)).status).toBe(409);
      for (const wrong of ['', 'UPPER', 'a/b', '-a', 'a-', 'a b', 'a'.repeat(61)])
        expect((await again(wrong)).body.errors).toHaveProperty(['$.slug']);
    });

    it('is the only one with its key at the bank, and has another key at the operator’s word alone', async () => {
      const { slug } = await add({ apiKey: 'the-only-one' });
      expect((await add({ apiKey: 'the-only-one' })).answer.status).toBe(409);
      expect((await add({ apiKey: 'sandbox-dev-key' })).answer.status).toBe(409);
      const change = (path: string, body: object) =>
        asOperator('PATCH', `/v1/accounts/${path}`, body);
      const credentials = { apiKey: 'of-whom' };
      const asked = await change(slug, { credentials });
      expect([asked.status, asked.body.code]).toEqual([409, 'bank_account_may_differ']);
      expect(await credentialsOf(slug)).toMatchObject({ apiKey: 'the-only-one' });
      expect((await change(slug, { credentials, isSameBankAccount: true })).status).toBe(200);
      const { slug: other } = await add();
      expect((await change(other, { credentials, isSameBankAccount: true })).status).toBe(409);
    });

    it.each(['host', 'Content-Length', 'IdempotencyKey'])(
      'shows no key in the header %s, which requests have of their own',
      async (name) => {
        const { answer } = await add({ accountHeader: { name, value: '7' } });
        expect(answer.body.errors).toHaveProperty(['$.credentials.accountHeader.name']);
      },
    );

    it('is changed field by field: what is left out stays, null takes away', async () => {
      const { slug } = await add({
        ...{ clientCertificate: clientOne.certificate },
        clientKey: clientOne.key,
        ca: authority,
      });
      const path = `/v1/accounts/${slug}`;
      const changed = await asOperator('PATCH', path, {
        name: 'Second',
        isSameBankAccount: true,
        credentials: {
          apiKey: 'another',
          ca: null,
          accountHeader: { name: 'X-Account', value: '7' },
        },
      });
      expect(changed.body).toMatchObject({
        name: 'Second',
        credentialsSet: ['apiKey', 'accountHeader', 'clientCertificate', 'clientKey'],
      });
      expect(await credentialsOf(slug)).toMatchObject({
        apiKey: 'another',
        partnerKey: null,
        apiKeyHeader: 'x-service-api-key',
        accountHeader: { name: 'x-account', value: '7' },
        tls: { ...clientOne, ca: null },
      });
    });

    it('takes no certificate without its key, or with another’s, or one that cannot be read', async () => {
      const rejected = async (credentials: Record<string, unknown>) => {
        const { answer } = await add(credentials);
        expect(answer.status).toBe(400);
        return Object.keys(answer.body.errors as object);
      };
      const { certificate: clientCertificate, key: clientKey } = clientOne;
      expect(await rejected({ clientCertificate })).toEqual(['$.credentials.clientKey']);
      expect(await rejected({ clientKey })).toEqual(['$.credentials.clientCertificate']);
      expect(await rejected({ clientCertificate, clientKey: clientTwo.key })).toEqual([
        '$.credentials.clientKey',
      ]);
      expect(await rejected({ ca: 'no certificate' })).toEqual(['$.credentials.ca']);
      expect(await rejected({ ca: `${authority}${authority.replace('MII', 'XXX')}` })).toEqual([
        '$.credentials.ca',
      ]);
      expect(await rejected({ clientCertificate, clientKey: 'no key' })).toEqual([
        '$.credentials.clientKey',
      ]);
      expect(await rejected({ apiKey: 'with space' })).toEqual(['$.credentials.apiKey']);
      expect(await rejected({ rateLimitPerSecond: 0 })).toEqual([
        '$.credentials.rateLimitPerSecond',
      ]);
    });

    it('of the settings keeps its credentials there', async () => {
      const change = (body: unknown) => asOperator('PATCH', '/v1/accounts/main', body);
      expect((await change({ credentials: { apiKey: 'mine' } })).status).toBe(409);
      expect((await change({ name: 'First' })).body).toMatchObject({ name: 'First' });
    });

    it('that does not exist is 404, and so is all below it', async () => {
      const id = '01900000-0000-7000-8000-000000000000';
      for (const [method, path, body] of [
        ['GET', '/v1/accounts/none', undefined],
        ['PATCH', '/v1/accounts/none', { name: 'x' }],
        ['GET', '/v1/accounts/none/keys', undefined],
        ['POST', '/v1/accounts/none/keys', { name: 'x', scopes: ['read'] }],
        ['POST', `/v1/accounts/none/keys/${id}/rotate`, {}],
        ['DELETE', `/v1/accounts/main/keys/${id}`, undefined],
        ['DELETE', '/v1/accounts/main/keys/no-uuid', undefined],
      ] as const)
        expect([path, (await asOperator(method, path, body)).status]).toEqual([path, 404]);
    });

    it('is added once under one key, and the repeat is told what the first was', async () => {
      const body = { slug: 'repeated', credentials: { apiKey: 'x' } };
      const headers = { IdempotencyKey: 'add-1' };
      const first = await asOperator('POST', '/v1/accounts', body, headers);
      const again = await asOperator('POST', '/v1/accounts', body, headers);
      expect([again.status, again.text]).toEqual([201, first.text]);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      const other = await asOperator('POST', '/v1/accounts', { ...body, name: 'x' }, headers);
      expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused']);
    });
  });
});
