import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { AppError } from '../errors.js';
import { isNsu, isUuid, listOf, listQuery, readPage, toList } from './listing.js';

const cursorOf = (key: string) => Buffer.from(key).toString('base64url');
const uuid = '0197a1c2-0000-7000-8000-000000000001';

describe('a list', () => {
  const rows = (count: number) => Array.from({ length: count }, (_, index) => String(100 + index));

  it('returns each row once and in order for every limit, until next is null', () => {
    fc.assert(
      fc.property(fc.nat({ max: 40 }), fc.integer({ min: 1, max: 9 }), (count, limit) => {
        const all = rows(count);
        const seen: string[] = [];
        for (let cursor: string | undefined; ;) {
          const page = readPage({ limit, cursor }, isNsu);
          const from = page.after === null ? 0 : all.indexOf(page.after) + 1;
          const found = all.slice(from, from + page.limit + 1);
          const { data: items, next } = toList(found, page, String, (row) => row);
          const data = [...items];
          expect(data.length).toBeLessThanOrEqual(limit);
          seen.push(...data);
          if (next === null) break;
          expect(data).toHaveLength(limit);
          cursor = next;
        }
        expect(seen).toEqual(all);
      }),
    );
  });

  it('has no next page when the last page is exactly full', () => {
    const page = { limit: 3, after: null };
    const full = toList(rows(3), page, String, Number);
    expect([[...full.data], full.next]).toEqual([[100, 101, 102], null]);
    expect(toList(rows(4), page, String, Number).next).toBe(cursorOf('102'));
    const empty = toList([], page, String, Number);
    expect([[...empty.data], empty.next]).toEqual([[], null]);
  });

  it('has fifty rows by default, and never more than five hundred', () => {
    expect(readPage({}, isNsu)).toEqual({ limit: 50, after: null, order: 'desc' });
    expect(readPage({ limit: 1_000_000_000 }, isNsu).limit).toBe(500);
  });

  it.each([
    '',
    'x',
    cursorOf("1' OR '1'='1"),
    cursorOf(`${uuid}\0`),
    cursorOf('1'.repeat(19)),
    '%%%',
  ])('rejects the cursor %j, which no response of the list contains', (cursor) => {
    for (const isKey of [isNsu, isUuid])
      expect(() => readPage({ cursor }, isKey)).toThrow(
        expect.objectContaining({
          code: 'validation_failed',
          details: { errors: { '$.cursor': ['Must be the `next` of a response of this list.'] } },
        }) as unknown as AppError,
      );
  });

  it.each([
    [{ limit: '0' }, 'limit'],
    [{ limit: '-1' }, 'limit'],
    [{ limit: '1e3' }, 'limit'],
    [{ limit: '1.5' }, 'limit'],
    [{ limit: '9'.repeat(30) }, 'limit'],
    [{ cursor: 'x'.repeat(301) }, 'cursor'],
    [{ cursor: 'a\0' }, 'cursor'],
    [{ state: 'other' }, 'state'],
  ])('rejects the query %o with an error at %s', (query, path) => {
    const schema = listQuery({ state: z.enum(['open']).optional() });
    const result = z.safeDecode(schema, query as never);
    expect(result.error?.issues.map((issue) => issue.path)).toEqual([[path]]);
  });

  it('is encoded with its items and null, or a cursor', () => {
    const response = { data: ['a'], next: null };
    expect(z.encode(listOf(z.string()), response)).toEqual(response);
  });
});

describe('keys of rows', () => {
  it.each([uuid, uuid.toUpperCase()])('accepts %s as a UUID', (text) =>
    expect(isUuid(text)).toBe(true),
  );

  it.each(['', `${uuid}\n`, ` ${uuid}`, uuid.slice(1), uuid.replaceAll('-', ''), `{${uuid}}`])(
    'does not accept %j as a UUID',
    (text) => expect(isUuid(text)).toBe(false),
  );

  it.each(['', '-1', '1.0', '1\n', '٣', '1'.repeat(19)])('does not accept %j as an nsu', (text) => {
    expect(isNsu(text)).toBe(false);
  });
});
