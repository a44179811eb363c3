import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiKey, serviceApplication } from '../support/service-application.js';
import { operatorOf } from '../support/operator.js';
import type { ServiceApplication } from '../support/service-application.js';

describe('business systems’ keys, by API', () => {
  let service: ServiceApplication;

  beforeAll(async () => {
    service = await serviceApplication();
  });
  afterAll(() => service.stop());

  const { asOperator, add, makeKey, statusWith } = operatorOf(() => service);

  describe('a key', () => {
    it('is told once, lets in at once, and is kept as a hash', async () => {
      const made = await makeKey('main');
      expect(made.key).toMatch(/^ck_[\w-]{43}$/);
      expect(made.hint).toBe(made.key.slice(-4));
      expect(await statusWith(made.key)).toBe(200);
      const listed = await asOperator('GET', '/v1/accounts/main/keys');
      expect(listed.body.data[0]).toMatchObject({ id: made.id, scopes: ['read'], kind: 'api' });
      const { rows } = await service.database.pool.query('SELECT * FROM api_key');
      for (const text of [listed.text, JSON.stringify(rows)]) expect(text).not.toContain(made.key);
    });

    it('that is rotated works until the overlap is over; its successor may do the same', async () => {
      const old = await makeKey('main', { scopes: ['read', 'refund'] });
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

    it('works a day more when nothing is said, at once no more at 0, and never beyond 30 days', async () => {
      const [day, none] = [await makeKey('main'), await makeKey('main')];
      const rotate = (id: string, body: unknown) =>
        asOperator('POST', `/v1/accounts/main/keys/${id}/rotate`, body);
      expect((await rotate(day.id, { overlapSeconds: 2_592_001 })).status).toBe(400);
      expect((await rotate(day.id, { overlapSeconds: -1 })).status).toBe(400);
      await rotate(day.id, {});
      await rotate(none.id, { overlapSeconds: 0 });
      expect(await statusWith(none.key)).toBe(401);
      const listed = await asOperator('GET', '/v1/accounts/main/keys');
      const { expiresAt } = listed.body.data.find(({ id }: { id: string }) => id === day.id);
      const leftMs = Date.parse(expiresAt) - Date.now();
      expect(Math.abs(leftMs - 86_400_000)).toBeLessThan(60_000);
    });

    it('that is revoked works no more', async () => {
      const { id, key } = await makeKey('main');
      const revoked = await asOperator('DELETE', `/v1/accounts/main/keys/${id}`);
      expect([revoked.status, typeof revoked.body.revokedAt]).toEqual([200, 'string']);
      expect(await statusWith(key)).toBe(401);
      const rotated = await asOperator('POST', `/v1/accounts/main/keys/${id}/rotate`, {});
      expect(rotated.status).toBe(409);
    });

    it('of another account is 404', async () => {
      const { slug } = await add();
      const { id, key } = await makeKey(slug);
      for (const [method, path] of [
        ['POST', `/v1/accounts/main/keys/${id}/rotate`],
        ['DELETE', `/v1/accounts/main/keys/${id}`],
      ] as const)
        expect((await asOperator(method, path, {})).status).toBe(404);
      expect(await statusWith(key)).toBe(200);
    });

    it('of the settings is changed there', async () => {
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
    ])('is not made of %j', async (over, path) => {
      const body = { name: 'x', scopes: ['read'], ...over };
      const answer = await asOperator('POST', '/v1/accounts/main/keys', body);
      expect([answer.status, Object.keys(answer.body.errors as object)]).toEqual([400, [path]]);
    });

    it('lists page by page, newest first, each once', async () => {
      const { slug } = await add();
      const ids: string[] = [];
      for (let made = 0; made < 5; made += 1) ids.unshift((await makeKey(slug)).id);
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
