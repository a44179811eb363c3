// A migration that was released has run on databases of others: its file never changes again.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';

const root = join(import.meta.dirname, '..');

/** SHA-256 of each released migration. `npm run release` adds those that it releases. */
const released = JSON.parse(
  readFileSync(join(root, 'prisma/released-migrations.json'), 'utf8'),
) as Record<string, string>;

it.each(Object.entries(released))('%s is as it was released', (folder, digest) => {
  expect(readdirSync(join(root, folder))).toEqual(['migration.sql']);
  const text = readFileSync(join(root, folder, 'migration.sql'), 'utf8').replaceAll('\r\n', '\n');
  expect(createHash('sha256').update(text).digest('hex')).toBe(digest);
});
