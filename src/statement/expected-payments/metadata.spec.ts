import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { metadata, metadataQuery, splitMetadata, takingMetadata } from './metadata.js';

describe('metadata', () => {
  it('is split from the request, whose other fields stay as they are', () => {
    const body = { a: 1, metadata: { orderId: '1' }, z: 2 };
    expect(splitMetadata(body)).toEqual({ body: { a: 1, z: 2 }, metadata: { orderId: '1' } });
    const plain = { a: 1 };
    expect(splitMetadata(plain).body).toBe(plain);
  });

  it.each([[{}], [null], [undefined]])('is none for %p', (given) => {
    expect(splitMetadata({ a: 1, metadata: given })).toEqual({ body: { a: 1 }, metadata: null });
  });

  it('keeps the rules of the request that takes it', () => {
    const request = z
      .looseObject({ from: z.string(), to: z.string() })
      .refine(({ from, to }) => from < to, { path: ['to'], message: 'Must be later.' });
    const read = (value: object) => takingMetadata(request).safeParse(value);
    expect(read({ from: '1', to: '2', metadata: { k: 'v' }, other: 1 }).data).toEqual({
      ...{ from: '1', to: '2', other: 1 },
      metadata: { k: 'v' },
    });
    expect(read({ from: '2', to: '1' }).error?.issues).toMatchObject([{ path: ['to'] }]);
  });

  it.each(['a b', '', 'ç', 'k'.repeat(41), 'a:b'])('refuses the key %p', (key) => {
    expect(metadata.safeParse({ [key]: '' }).success).toBe(false);
  });

  it('refuses the key __proto__ and takes constructor', () => {
    const read = (text: string) => metadata.safeParse(JSON.parse(text));
    expect(read('{"__proto__":"x"}').error?.issues).toMatchObject([{ path: ['__proto__'] }]);
    const plain = '{"constructor":"x","toString":"y"}';
    expect(JSON.stringify(read(plain).data)).toBe(plain);
  });

  it('is searched by a key and a value that may hold colons', () => {
    const decode = (pair: string) => z.safeDecode(metadataQuery, pair);
    expect(decode('url:https://x').data).toEqual({ key: 'url', value: 'https://x' });
    expect(decode('empty:').data).toEqual({ key: 'empty', value: '' });
    expect(decode('no-colon').success).toBe(false);
    // No value has a control character, and PostgreSQL takes no NUL.
    for (const value of ['\0', '\n', '\ud800']) expect(decode(`key:${value}`).success).toBe(false);
    expect(z.encode(metadataQuery, { key: 'a', value: 'b:c' })).toBe('a:b:c');
  });
});
