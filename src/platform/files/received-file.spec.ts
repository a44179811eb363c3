import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { until } from '../../../test/support/until.js';
import { sha256 } from '../json/exact-json.js';
import { withReceivedFile, type ReceivedFile } from './received-file.js';

const content = async (file: ReceivedFile) => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of file.chunks()) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

describe('a received file', () => {
  const text = 'öäü\n'.repeat(100_000);

  it('is read as often as needed, and leaves nothing on disk', async () => {
    const namesBefore = await readdir(tmpdir());
    const body = Readable.from([Buffer.from(text.slice(0, 7)), Buffer.from(text.slice(7))]);
    await withReceivedFile(body, 10_000_000, async (file) => {
      expect(file).toMatchObject({ bytes: Buffer.byteLength(text), sha256: sha256(text) });
      expect(await content(file)).toBe(text);
      expect(await content(file)).toBe(text);
      const names = (await readdir(tmpdir())).filter((name) => !namesBefore.includes(name));
      expect(names.filter((name) => name.startsWith('concilia-'))).toEqual([]);
    });
  });

  it('is refused beyond its limit, without the connection being closed', async () => {
    const body = Readable.from([Buffer.alloc(600), Buffer.alloc(600), Buffer.alloc(600)]);
    const received = withReceivedFile(body, 1_000, () => Promise.resolve('work'));
    await expect(received).rejects.toMatchObject({ status: 413 });
    await until('the rest is read', () => body.readableEnded);
  });

  it('is refused when its caller disconnects', async () => {
    const body = Readable.from(
      (async function* () {
        yield Buffer.alloc(10);
        throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
      })(),
    );
    const received = withReceivedFile(body, 1_000, () => Promise.resolve('work'));
    await expect(received).rejects.toMatchObject({ status: 400 });
  });
});
