// All advisory locks of a database share one key space: two uses of one key would wait for each
// other without need.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { advisoryLocks } from '../src/platform/postgres/advisory-locks.js';

const root = join(import.meta.dirname, '..');
const list = (folder: string, ending: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending) && !path.startsWith('generated'))
    .map((path) => `${folder}/${path}`);
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const numbersOf = (text: string) =>
  [...text.matchAll(/pg_(?:try_)?advisory_\w*lock\w*\((?:x'(\w+)'::int|(\$?\w+))/g)].map(
    ([, hex, other]) => (hex ? Number.parseInt(hex, 16) : other),
  );

describe('the keys of advisory locks', () => {
  it('are unique', () => {
    const numbers = Object.values(advisoryLocks);
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it('in migrations are in the list, and no other code uses them', () => {
    const taken = list('prisma', 'migration.sql').map(
      (path) => [path, numbersOf(read(path))] as const,
    );
    expect(taken.filter(([, numbers]) => numbers.length > 0)).toEqual([
      [
        'prisma/service/migrations/20261122000000_initial/migration.sql',
        [advisoryLocks.coverLine, advisoryLocks.totalBreaks, advisoryLocks.totalBreaks],
      ],
      [
        'prisma/service/migrations/20261130150000_decision_log/migration.sql',
        [advisoryLocks.logRights, advisoryLocks.logRights],
      ],
    ]);
    const users = list('src', '.ts').filter((path) =>
      /coverLine|totalBreaks|logRights/.test(read(path)),
    );
    expect(users).toEqual(['src/platform/postgres/advisory-locks.ts']);
  });

  it('come from the list wherever the code takes a lock', () => {
    const takers = list('src', '.ts')
      .map((path) => ({ path, text: read(path) }))
      .filter(({ text }) => numbersOf(text).length > 0);
    expect(takers.length).toBeGreaterThan(2);
    for (const { path, text } of takers) {
      expect([path, [...new Set(numbersOf(text))]]).toEqual([path, ['$1']]);
      expect([path, /import \{ advisoryLocks \}/.test(text)]).toEqual([path, true]);
    }
  });

  it('last for a transaction, except while the service starts or stops', () => {
    const sessionState = /pg_(?:try_)?advisory_(?:un)?lock|["'`](?:SET \w+ (?:=|TO)|RESET \w)/;
    const users = list('src', '.ts')
      .filter((path) => !path.startsWith('src/sandbox/'))
      .filter((path) => sessionState.test(read(path)));
    expect(users.sort()).toEqual([
      'src/platform/embedded-postgres/embedded-postgres.ts',
      'src/platform/postgres/lock-waits.queries.ts',
      'src/platform/postgres/migrations.ts',
      'src/platform/queue/queue-connection.ts',
    ]);
  });
});
