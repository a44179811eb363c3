import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AccountsService } from '../../../src/access/accounts/accounts.service.js';
import { Addresses } from '../../../src/platform/http/http.js';
import { slip } from '../../contract/samples.js';
import {
  adminKey,
  apiKey,
  partnerKey,
  serviceApplication,
} from '../../support/service-application.js';
import { accountAtItau } from '../../support/exported-lines.js';
import { operatorOf } from '../../support/operator.js';
import type { ServiceApplication } from '../../support/service-application.js';
import { clientOneTls, clientTwoTls, tlsAuthority } from '../../support/fake-bank.js';

describe('the API of bank accounts', () => {
  let service: ServiceApplication;

  beforeAll(async () => {
    service = await serviceApplication();
  });
  afterAll(() => service.stop());

  const { asOperator, addAccount, createKey, statusWith } = operatorOf(() => service);
  const credentialsOf = async (slug: string) => {
    const accounts = service.application.get(AccountsService);
    return accounts.getCredentials(await accounts.getBySlug(slug));
  };

  describe('an operator', () => {
    it.each(['x-service-api-key', 'x-service-admin-key'])(
      'is authenticated by the admin key in %s',
      async (name) => {
        const headers = { [name]: adminKey };
        const response = await service.call('GET', '/v1/accounts', { headers, apiKey: null });
        expect(response.status).toBe(200);
        expect(response.body.data.at(-1)).toMatchObject({ slug: 'main', origin: 'settings' });
      },
    );

    it('needs the admin key: 401 without a key or with a wrong one, 403 with a business system’s key', async () => {
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

    it('gets 403 on the routes of business systems', async () => {
      expect(await statusWith(adminKey)).toBe(403);
      const headers = { 'x-service-admin-key': adminKey };
      const response = await service.call('GET', '/v1/operations', { headers, apiKey: null });
      expect(response.status).toBe(403);
    });
  });

  describe('an account', () => {
    it('that is added calls the bank with its own credentials, which are never shown', async () => {
      const { slug, response } = await addAccount({
        apiKey: 'sandbox-dev-key-2',
        webhookSecret: 'w'.repeat(16),
        rateLimitPerSecond: 50,
      });
      expect(response.status).toBe(201);
      expect(response.body).toMatchObject({
        slug,
        origin: 'api',
        credentialsSet: ['apiKey', 'rateLimitPerSecond', 'webhookSecret'],
      });
      const { key } = await createKey(slug);
      const atBank = { apiKey: 'sandbox-dev-key-2' };
      const body = slip({ correlationId: 'of-the-second' });
      await service.sandbox.call('POST', '/baas/v1/charges', { ...atBank, body });
      await service.sandbox.call('POST', '/baas/v1/charges/of-the-second/pay', atBank);
      const range = 'startDate=2020-01-01&endDate=2100-01-01';
      const path = `/baas/api/v2/transactions?${range}`;
      const fromBank = await service.sandbox.call('GET', path, atBank);
      const fromService = await service.call('GET', path, { apiKey: key });
      expect([fromService.status, fromService.text]).toEqual([200, fromBank.text]);
      expect(fromBank.body.length).toBeGreaterThan(0);
      const shown = await asOperator('GET', `/v1/accounts/${slug}`);
      const { rows } = await service.database.pool.query('SELECT * FROM bank_account');
      for (const text of [response.text, shown.text, JSON.stringify(rows)])
        expect(text).not.toMatch(/sandbox-dev-key-2|wwww/);
    });

    it('is stored with a key that the bank accepts, where the operator has it tried', async () => {
      const add = (slug: string, credentials: object, triesKey?: boolean) =>
        asOperator('POST', '/v1/accounts', { slug, credentials, triesKey });
      const refused = await add('tried', { apiKey: 'no-key-of-the-bank' }, true);
      expect([refused.status, refused.body.code]).toEqual([422, 'bank_key_refused']);
      expect(refused.body.errors).toEqual({ '$.credentials.apiKey': ['The bank refuses it.'] });
      expect(refused.text).not.toContain('no-key-of-the-bank');
      expect((await asOperator('GET', '/v1/accounts/tried')).status).toBe(404);
      expect((await add('tried', { apiKey: 'no-key-of-the-bank' })).status).toBe(201);
      const change = (body: object) => asOperator('PATCH', '/v1/accounts/tried', body);
      const credentials = { apiKey: 'of-nobody' };
      const saved = { credentials, isSameBankAccount: true };
      const unchanged = await change({ ...saved, triesKey: true });
      expect([unchanged.status, unchanged.body.code]).toEqual([422, 'bank_key_refused']);
      expect(await credentialsOf('tried')).toMatchObject({ apiKey: 'no-key-of-the-bank' });
      // What the calls do not send needs no trial.
      const secret = { credentials: { webhookSecret: 's'.repeat(20) }, triesKey: true };
      expect((await change(secret)).status).toBe(200);
      const { bankBaseUrl } = service.application.get(Addresses);
      Object.assign(service.application.get(Addresses), { bankBaseUrl: 'http://127.0.0.1:1' });
      const silent = await change({ ...saved, triesKey: true });
      Object.assign(service.application.get(Addresses), { bankBaseUrl });
      expect([silent.status, silent.body.code]).toEqual([422, 'bank_key_untried']);
      expect((await change(saved)).status).toBe(200);
      expect(await credentialsOf('tried')).toMatchObject({ apiKey: 'of-nobody' });
    });

    it('has a unique slug that is valid in a URL', async () => {
      const { slug } = await addAccount();
      const addWithSlug = (newSlug: string) =>
        asOperator('POST', '/v1/accounts', { slug: newSlug, credentials: { apiKey: 'x' } });
      expect((await addWithSlug(slug)).status).toBe(409);
      for (const invalid of ['', 'UPPER', 'a/b', '-a', 'a-', 'a b', 'a'.repeat(61)])
        expect((await addWithSlug(invalid)).body.errors).toHaveProperty(['$.slug']);
    });

    it('has its own bank key, and gets another key only when the operator confirms', async () => {
      const { slug } = await addAccount({ apiKey: 'the-only-one' });
      expect((await addAccount({ apiKey: 'the-only-one' })).response.status).toBe(409);
      expect((await addAccount({ apiKey: 'sandbox-dev-key' })).response.status).toBe(409);
      const change = (path: string, body: object) =>
        asOperator('PATCH', `/v1/accounts/${path}`, body);
      const credentials = { apiKey: 'of-whom' };
      const unconfirmed = await change(slug, { credentials });
      expect([unconfirmed.status, unconfirmed.body.code]).toEqual([409, 'bank_account_may_differ']);
      expect(await credentialsOf(slug)).toMatchObject({ apiKey: 'the-only-one' });
      expect((await change(slug, { credentials, isSameBankAccount: true })).status).toBe(200);
      const { slug: other } = await addAccount();
      expect((await change(other, { credentials, isSameBankAccount: true })).status).toBe(409);
    });

    it.each(['host', 'Content-Length', 'IdempotencyKey'])(
      'cannot use the header %s, which every request already has',
      async (name) => {
        const { response } = await addAccount({ accountHeader: { name, value: '7' } });
        expect(response.body.errors).toHaveProperty(['$.credentials.accountHeader.name']);
      },
    );

    it('is changed field by field: an absent field stays, null removes', async () => {
      const { slug } = await addAccount({
        ...{ clientCertificate: clientOneTls.certificate },
        clientKey: clientOneTls.key,
        ca: tlsAuthority,
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
        tls: { ...clientOneTls, ca: null },
      });
    });

    it('accepts no certificate without its key, with the key of another, or that cannot be read', async () => {
      const rejected = async (credentials: Record<string, unknown>) => {
        const { response } = await addAccount(credentials);
        expect(response.status).toBe(400);
        return Object.keys(response.body.errors as object);
      };
      const { certificate: clientCertificate, key: clientKey } = clientOneTls;
      expect(await rejected({ clientCertificate })).toEqual(['$.credentials.clientKey']);
      expect(await rejected({ clientKey })).toEqual(['$.credentials.clientCertificate']);
      expect(await rejected({ clientCertificate, clientKey: clientTwoTls.key })).toEqual([
        '$.credentials.clientKey',
      ]);
      expect(await rejected({ ca: 'no certificate' })).toEqual(['$.credentials.ca']);
      expect(
        await rejected({ ca: `${tlsAuthority}${tlsAuthority.replace('MII', 'XXX')}` }),
      ).toEqual(['$.credentials.ca']);
      expect(await rejected({ clientCertificate, clientKey: 'no key' })).toEqual([
        '$.credentials.clientKey',
      ]);
      expect(await rejected({ apiKey: 'with space' })).toEqual(['$.credentials.apiKey']);
      expect(await rejected({ rateLimitPerSecond: 0 })).toEqual([
        '$.credentials.rateLimitPerSecond',
      ]);
    });

    it('has the weight 1 until the operator sets another one', async () => {
      const { slug, response } = await addAccount();
      expect(response.body.weight).toBe(1);
      const body = { slug: 'with-weight', weight: 100, credentials: { apiKey: 'with-weight' } };
      expect((await asOperator('POST', '/v1/accounts', body)).body.weight).toBe(100);
      for (const path of [`/v1/accounts/${slug}`, '/v1/accounts/main']) {
        const change = (fields: object) => asOperator('PATCH', path, fields);
        expect((await change({ weight: 7 })).body.weight).toBe(7);
        expect((await change({ name: 'Seven' })).body).toMatchObject({ name: 'Seven', weight: 7 });
        expect((await change({ weight: 1 })).body).toMatchObject({ name: 'Seven', weight: 1 });
        expect((await asOperator('GET', path)).body.weight).toBe(1);
      }
    });

    it.each([0, 101, -1, 1.5, '3', null])('cannot have the weight %p', async (weight) => {
      const { slug } = await addAccount();
      const body = { slug: 'of-wrong-weight', weight, credentials: { apiKey: 'of-wrong-weight' } };
      const refused = [
        await asOperator('POST', '/v1/accounts', body),
        await asOperator('PATCH', `/v1/accounts/${slug}`, { weight }),
      ];
      for (const response of refused)
        expect(response).toMatchObject({
          status: 400,
          body: { status: 400, errors: { '$.weight': [expect.stringMatching(/^Must be /)] } },
        });
      expect((await asOperator('GET', '/v1/accounts/of-wrong-weight')).status).toBe(404);
      expect((await asOperator('GET', `/v1/accounts/${slug}`)).body.weight).toBe(1);
    });

    it.each([0, 101])('is not stored with the weight %p', async (weight) => {
      const { slug } = await addAccount();
      const update = service.database.prisma.bankAccount.update({
        where: { slug },
        data: { weight },
      });
      await expect(update).rejects.toThrow('bank_account_weight');
    });

    it('has the bank details that an operator sets as a whole, and none before', async () => {
      expect((await addAccount()).response.body.bankDetails).toBeNull();
      const { agreement: _, ...given } = { ...accountAtItau, holderTaxId: '11.222.333/0001-81' };
      const stored = { ...accountAtItau, agreement: null };
      const added = await asOperator('POST', '/v1/accounts', {
        slug: 'with-details',
        bankDetails: given,
        credentials: { apiKey: 'with-details' },
      });
      expect(added.body.bankDetails).toEqual(stored);
      const change = (fields: object) => asOperator('PATCH', '/v1/accounts/with-details', fields);
      expect((await change({ name: 'Named' })).body.bankDetails).toEqual(stored);
      expect((await change({ bankDetails: { bankCode: '001' } })).status).toBe(400);
      expect((await change({ bankDetails: accountAtItau })).body.bankDetails).toEqual(
        accountAtItau,
      );
      expect((await change({ bankDetails: null })).body.bankDetails).toBeNull();
    });

    it.each([
      ['bankCode', '000'],
      ['bankCode', '1'],
      ['ispb', '123'],
      ['bankName', ' '],
      ['branch', '123456'],
      ['branchDigit', '12'],
      ['accountNumber', 'main'],
      ['accountNumber', '0000'],
      ['accountDigit', 'x'],
      ['holderTaxId', '11222333000180'],
      ['agreement', 'x'.repeat(21)],
    ])('cannot have the bank detail %s: %j', async (field, value) => {
      const bankDetails = { ...accountAtItau, [field]: value };
      const { status, body } = await asOperator('PATCH', '/v1/accounts/main', { bankDetails });
      expect([status, Object.keys(body.errors)]).toEqual([400, [`$.bankDetails.${field}`]]);
    });

    it('of the settings cannot get credentials by the API', async () => {
      const change = (body: unknown) => asOperator('PATCH', '/v1/accounts/main', body);
      expect((await change({ credentials: { apiKey: 'mine' } })).status).toBe(409);
      expect((await change({ name: 'First' })).body).toMatchObject({ name: 'First' });
    });

    it('that does not exist is 404, and so are its keys', async () => {
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

    it('is added once under one idempotency key; a repeat gets the first response', async () => {
      const body = { slug: 'repeated', credentials: { apiKey: 'x' } };
      const headers = { IdempotencyKey: 'add-1' };
      const first = await asOperator('POST', '/v1/accounts', body, headers);
      const repeat = await asOperator('POST', '/v1/accounts', body, headers);
      expect([repeat.status, repeat.text]).toEqual([201, first.text]);
      expect(repeat.headers.get('idempotent-replayed')).toBe('true');
      const other = await asOperator('POST', '/v1/accounts', { ...body, name: 'x' }, headers);
      expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused']);
    });
  });
});
