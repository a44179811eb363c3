import { expect, it } from '@jest/globals';
import { PageReader } from './page-reader.js';

function pageReader() {
  const requested: number[] = [];
  const reader = new PageReader((page: number) => {
    requested.push(page);
    return page === 9 ? Promise.reject(new Error('no such page')) : Promise.resolve(page);
  });
  return { reader, requested };
}

it('requests a page once that was requested ahead', async () => {
  const { reader, requested } = pageReader();
  reader.requestAhead(2);
  expect(await reader.read(2)).toBe(2);
  expect(await reader.read(2)).toBe(2);
  expect(requested).toEqual([2, 2]);
});

it('drops the page ahead when another page is read, and when it is forgotten', async () => {
  const { reader, requested } = pageReader();
  reader.requestAhead(2);
  expect(await reader.read(3)).toBe(3);
  reader.requestAhead(4);
  reader.forget();
  expect(await reader.read(4)).toBe(4);
  expect(requested).toEqual([2, 3, 4, 4]);
});

it('throws the failure of the page ahead only when that page is read', async () => {
  const { reader } = pageReader();
  reader.requestAhead(9);
  await expect(reader.read(9)).rejects.toThrow('no such page');
});

it('returns a page that was put back', async () => {
  const { reader, requested } = pageReader();
  reader.putBack(1, 100);
  expect(await reader.read(1)).toBe(100);
  expect(requested).toEqual([]);
});
