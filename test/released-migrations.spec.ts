// A migration that was released has run on databases of others: its file never changes again. One
// that was not may hold no lock of a table for long (test/full/migrations-under-load.spec.ts).
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { lockProblemsOf } from './support/migration-locks.js';

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

const unreleased = ['sandbox', 'service'].flatMap((name) =>
  readdirSync(join(root, 'prisma', name, 'migrations'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `prisma/${name}/migrations/${entry.name}`)
    .filter((folder) => !(folder in released)),
);

it.each(unreleased)('%s holds no lock for long', (folder) => {
  const sql = readFileSync(join(root, folder, 'migration.sql'), 'utf8');
  expect(lockProblemsOf(sql)).toEqual([]);
});

const outside = '-- migrate: outside a transaction\n';

it.each([
  ['CREATE INDEX "a" ON "line" ("x");', 'creates an index of line that is not CONCURRENTLY'],
  ['DROP INDEX "a";', 'drops an index that is not CONCURRENTLY'],
  [`${outside}CREATE INDEX CONCURRENTLY "a" ON "line" ("x");`, 'does not first drop the index a'],
  ['ALTER TABLE "line" ADD CHECK (x > 1);', 'has a constraint of line that is not NOT VALID'],
  [
    'ALTER TABLE "line" ADD CONSTRAINT "a" CHECK (x > 1) NOT VALID, ADD CONSTRAINT "b" UNIQUE (x);',
    'has a constraint of line that is not NOT VALID',
  ],
  [
    `ALTER TABLE line ADD CONSTRAINT "a" CHECK (x > 1) NOT VALID;
     ALTER TABLE line VALIDATE CONSTRAINT "a";`,
    'validates a constraint of line in the transaction that adds it',
  ],
  ['ALTER TABLE "line" ALTER COLUMN "x" SET NOT NULL;', 'reads or rewrites line under a lock'],
  ['ALTER TABLE "line" ALTER "x" TYPE bigint;', 'reads or rewrites line under a lock'],
  ['ALTER TABLE "line" ADD COLUMN "x" UUID DEFAULT f();', 'reads or rewrites line under a lock'],
  [
    'ALTER TABLE "line" ADD "x" INT REFERENCES "day" ("id");',
    'has a constraint of line that is not NOT VALID',
  ],
  [
    'ALTER TABLE "line" ADD COLUMN "x" INT; UPDATE "line" SET x = 1;',
    'changes rows while it holds a lock of line',
  ],
  [
    `CREATE TABLE "name" ("n" TEXT); CREATE TRIGGER "t" AFTER INSERT ON "line" EXECUTE FUNCTION f();
     INSERT INTO "name" SELECT n FROM "line";`,
    'changes rows while it holds a lock of line',
  ],
  [
    ['a', 'b', 'c', 'd'].map((name) => `ALTER TABLE "${name}" ADD COLUMN "x" INT;`).join('\n'),
    'locks more than three tables: a, b, c, d',
  ],
])('finds that `%s` %s', (sql, problem) => {
  expect(lockProblemsOf(sql)).toEqual([problem]);
});

it('finds no problem with a new table and an index that is created concurrently', () => {
  const sql = `CREATE TABLE "a" ("x" INT CHECK (x > 0) REFERENCES "line" ("x"));
    CREATE UNIQUE INDEX "a_x" ON "a" ("x"); ALTER TABLE "line" ADD COLUMN "y" INT DEFAULT 0;`;
  const index = `${outside}DROP INDEX CONCURRENTLY IF EXISTS "i";
    CREATE INDEX CONCURRENTLY "i" ON "line" ("y");`;
  expect([sql, index].map(lockProblemsOf)).toEqual([[], []]);
});
