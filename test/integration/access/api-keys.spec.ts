import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiKey, serviceApplication } from '../../support/service-application.js';
import { operatorOf } from '../../support/operator.js';
import type { ServiceApplication } from '../../support/service-application.js';

describe('the API of API keys', () => {
  let service: ServiceApplication;

  beforeAll(async () => {
    service = await serviceApplication();
  });
  afterAll(() => service.stop());

  const { asOperator, addAccount, createKey, statusWith } = operatorOf(() => service);

  describe('a key', () => {
    it('is shown once, is valid at once, and is stored as a hash', async () => {
      const created = await createKey('main');
      expect(created.key).toMatch(/^ck_[\w-]{43}$/);
      expect(created.hint).toBe(created.key.slice(-4));
      expect(await statusWith(created.key)).toBe(200);
      const listed = await asOperator('GET', '/v1/accounts/main/keys');
      expect(listed.body.data[0]).toMatchObject({ id: created.id, scopes: ['read'], kind: 'api' });
      const { rows } = await service.database.pool.query('SELECT * FROM api_key');
      for (const text of [listed.text, JSON.stringify(rows)])
        expect(text).not.toContain(created.key);
    });

    it('that is rotated is valid until the overlap ends; its successor has the same scopes', async () => {
      const old = await createKey('main', { scopes: ['read', 'refund'] });
      const rotate = (body: unknown) =>
        asOperator('POST', `/v1/accounts/main/keys/${old.id}/rotate`, body);
      const { status, body } = await rotate({ overlapSeconds: 3600 });
      expect([status, body.scopes, body.name]).toEqual([201, ['read', 'refund'], 'a system']);
      expect([await statusWith(old.key), await statusWith(body.key)]).toEqual([200, 200]);
      expect((await rotate({})).status).toBe(409);
      await service.database.pool.query(
        `UPDATE api_key SET expires_at = now() - interval '1 second' WHERE id = $1`,
        [old.id],
      );
      expect([await statusWith(old.key), await statusWith(body.key)]).toEqual([401, 200]);
    });

    it('has an overlap of a day by default, none at 0, and at most 30 days', async () => {
      const [byDefault, withNone] = [await createKey('main'), await createKey('main')];
      const rotate = (id: string, body: unknown) =>
        asOperator('POST', `/v1/accounts/main/keys/${id}/rotate`, body);
      expect((await rotate(byDefault.id, { overlapSeconds: 2_592_001 })).status).toBe(400);
      expect((await rotate(byDefault.id, { overlapSeconds: -1 })).status).toBe(400);
      await rotate(byDefault.id, {});
      await rotate(withNone.id, { overlapSeconds: 0 });
      expect(await statusWith(withNone.key)).toBe(401);
      const listed = await asOperator('GET', '/v1/accounts/main/keys');
      const { expiresAt } = listed.body.data.find(({ id }: { id: string }) => id === byDefault.id);
      const remainingMs = Date.parse(expiresAt) - Date.now();
      expect(Math.abs(remainingMs - 86_400_000)).toBeLessThan(60_000);
    });

    it('that is revoked is no longer valid', async () => {
      const { id, key } = await createKey('main');
      const revoked = await asOperator('DELETE', `/v1/accounts/main/keys/${id}`);
      expect([revoked.status, typeof revoked.body.revokedAt]).toEqual([200, 'string']);
      expect(await statusWith(key)).toBe(401);
      const rotated = await asOperator('POST', `/v1/accounts/main/keys/${id}/rotate`, {});
      expect(rotated.status).toBe(409);
    });

    it('of another account is 404', async () => {
      const { slug } = await addAccount();
      const { id, key } = await createKey(slug);
      for (const [method, path] of [
        ['POST', `/v1/accounts/main/keys/${id}/rotate`],
        ['DELETE', `/v1/accounts/main/keys/${id}`],
      ] as const)
        expect((await asOperator(method, path, {})).status).toBe(404);
      expect(await statusWith(key)).toBe(200);
    });

    it('of the settings cannot be changed by the API', async () => {
      const { id } = await service.database.prisma.apiKey.findFirstOrThrow({
        where: { origin: 'settings', kind: 'api' },
      });
      const path = `/v1/accounts/main/keys/${id}`;
      expect((await asOperator('DELETE', path)).status).toBe(409);
      expect((await asOperator('POST', `${path}/rotate`, {})).status).toBe(409);
      expect(await statusWith(apiKey)).toBe(200);
    });

    it.each([
      [{ scopes: [] }, '$.scopes'],
      [{ scopes: ['everything'] }, '$.scopes[0]'],
      [{ scopes: undefined }, '$.scopes'],
      [{ kind: 'partner', scopes: ['read'] }, '$.scopes'],
      [{ kind: 'operator' }, '$.kind'],
      [{ name: ' ' }, '$.name'],
    ])('is not created from %j', async (overrides, path) => {
      const body = { name: 'x', scopes: ['read'], ...overrides };
      const response = await asOperator('POST', '/v1/accounts/main/keys', body);
      expect([response.status, Object.keys(response.body.errors as object)]).toEqual([400, [path]]);
    });

    it('is listed page by page, newest first, once', async () => {
      const { slug } = await addAccount();
      const ids: string[] = [];
      for (let count = 0; count < 5; count += 1) ids.unshift((await createKey(slug)).id);
      const seen: string[] = [];
      for (let cursor = ''; ;) {
        const { body } = await asOperator('GET', `/v1/accounts/${slug}/keys?limit=2${cursor}`);
        seen.push(...body.data.map(({ id }: { id: string }) => id));
        if (body.next === null) break;
        cursor = `&cursor=${body.next}`;
      }
      expect(seen).toEqual(ids);
    });
  });
});
