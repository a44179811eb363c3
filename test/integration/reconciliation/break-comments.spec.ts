// Comments on breaks through the API: who sees them, what they change, and what is stored of them.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { listKeyIds } from '../../../src/access/secrets/encrypted-column.queries.js';
import { encryptedColumns } from '../../../src/app/encrypted-columns.js';
import { eraseCommentsOfLine } from '../../../src/reconciliation/breaks/break-comments.queries.js';
import { BreaksFixture } from '../../support/breaks.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';
import { adminKey } from '../../support/service-application.js';

describe('comments on a break', () => {
  let service: ServiceOnSandbox;
  const fixture = new BreaksFixture(() => service);
  const { sql, actions } = fixture;

  beforeAll(async () => {
    service = await serviceOnSandbox();
  });
  afterAll(() => service.stop());

  const comment = (id: string, text: string, options: { apiKey?: string; key?: string } = {}) =>
    service.call('POST', `/v1/breaks/${id}/comments`, {
      body: { text },
      ...(options.apiKey ? { apiKey: options.apiKey } : {}),
      ...(options.key ? { headers: { IdempotencyKey: options.key } } : {}),
    });
  const list = async (id: string, query = '', apiKey?: string) =>
    (await service.call('GET', `/v1/breaks/${id}/comments${query}`, apiKey ? { apiKey } : {})).body;
  const keyWith = async (...scopes: string[]) =>
    (
      await service.call('POST', '/v1/accounts/main/keys', {
        apiKey: null,
        headers: { 'x-service-admin-key': adminKey },
        body: { name: scopes.join(' '), scopes },
      })
    ).body.key as string;

  it('are listed newest first, page by page, and change neither the break nor its history', async () => {
    const { id } = await fixture.addUnexpectedLine();
    const before = await fixture.get(id);
    for (const text of ['first', 'second', 'third'])
      expect(await comment(id, text)).toMatchObject({ status: 201, body: { text } });
    const page = await list(id, '?limit=2');
    expect(page.data.map(({ text }: { text: string }) => text)).toEqual(['third', 'second']);
    const rest = await list(id, `?limit=2&cursor=${page.next}`);
    expect(rest).toMatchObject({ data: [{ text: 'first' }], next: null });
    expect(await fixture.get(id)).toEqual(before);
    expect(await actions(id)).toEqual(['opened']);
  });

  it('are stored encrypted, and once for an IdempotencyKey', async () => {
    const { id } = await fixture.addUnexpectedLine();
    const both = [];
    for (let again = 0; again < 2; again += 1)
      both.push(await comment(id, 'paid by Ana Souza', { key: 'comment-once' }));
    expect(both[0]!.text).toBe(both[1]!.text);
    const [stored, ...others] = await sql(`SELECT text FROM break_comment WHERE break_id = $1`, id);
    expect(others).toEqual([]);
    expect(stored.text).toMatch(/^[0-9a-f]{8}\./);
    const column = encryptedColumns.find(({ name }) => name === 'break_comment.text')!;
    const keyId = (stored.text as string).slice(0, 8);
    expect(await listKeyIds(service.database.prisma, column)).toEqual([keyId]);
    expect(await column.count(service.database.prisma, keyId)).toBeGreaterThan(0);
    const values = await column.list(service.database.prisma, keyId, 100);
    expect(values.map(({ encrypted }) => encrypted)).toContain(stored.text);
  });

  it('need the scope `reconcile` to write, and `personal-data` to read', async () => {
    const { id } = await fixture.addUnexpectedLine();
    const reader = await keyWith('read');
    expect((await comment(id, 'x', { apiKey: reader })).status).toBe(403);
    await comment(id, 'the payer is Ana');
    expect((await list(id, '', reader)).data).toMatchObject([{ text: null }]);
    const informed = await keyWith('read', 'personal-data');
    expect((await list(id, '', informed)).data).toMatchObject([{ text: 'the payer is Ana' }]);
  });

  it('are refused without text, with too much of it, and on a break that is not there', async () => {
    const { id } = await fixture.addUnexpectedLine();
    for (const text of ['', '  \n ', 'x'.repeat(2_001), 'a\0b'])
      expect((await comment(id, text)).status).toBe(400);
    expect((await comment(id, '🙂'.repeat(1_000))).status).toBe(201);
    for (const absent of [randomUUID(), 'nothing']) {
      expect((await comment(absent, 'x')).status).toBe(404);
      expect((await service.call('GET', `/v1/breaks/${absent}/comments`)).status).toBe(404);
    }
  });

  it('are changed by no program, but for their encryption and their erasure', async () => {
    const { nsu, id } = await fixture.addUnexpectedLine();
    await comment(id, 'Ana Souza');
    for (const change of [
      `UPDATE break_comment SET author = 'x'`,
      `UPDATE break_comment SET created_at = now(), text = 'x'`,
      'DELETE FROM break_comment',
      'TRUNCATE break_comment',
    ])
      await expect(sql(change)).rejects.toThrow(/break_comment is (written once|append-only)/);
    await service.database.transaction((tx) =>
      eraseCommentsOfLine(tx, service.accountId, BigInt(nsu)),
    );
    expect((await list(id)).data).toMatchObject([{ text: null }]);
    await expect(
      sql(`UPDATE break_comment SET text = 'x' WHERE break_id = $1`, id),
    ).rejects.toThrow('written once');
  });
});
