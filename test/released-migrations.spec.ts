// A migration that was released has run on databases of others: its file never changes again.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';

const root = join(import.meta.dirname, '..');

/** SHA-256 of each released migration. A release adds those that it has. */
const released: Record<string, string> = {
  // 0.2.0
  'prisma/sandbox/migrations/20261122000000_initial':
    '343ff081a51c412379ff44085821867e95d572863fe6f1f30ae0c7a5dbeca133',
  'prisma/service/migrations/20261122000000_initial':
    '1cc0c52fd4a4b19fdd317c02172dc4e2c744a2f9e59f32c21f7386ad65a130f5',
};

it.each(Object.entries(released))('%s is as it was released', (folder, digest) => {
  expect(readdirSync(join(root, folder))).toEqual(['migration.sql']);
  const text = readFileSync(join(root, folder, 'migration.sql'), 'utf8').replaceAll('\r\n', '\n');
  expect(createHash('sha256').update(text).digest('hex')).toBe(digest);
});
