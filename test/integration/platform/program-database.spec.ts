// What the programs of an operator say of a database that they cannot work on.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Database } from '../../../src/platform/postgres/database.service.js';
import { plainMessageOf } from '../../../src/app/exit.js';
import { withProgramDatabase } from '../../../src/app/program-database.js';
import { freePort } from '../../support/concilia-process.js';
import { testDatabase, type TestDatabase } from '../../support/postgres.js';

let migrated: TestDatabase;
let empty: TestDatabase;
beforeAll(async () => {
  [migrated, empty] = [await testDatabase('service'), await testDatabase()];
});
afterAll(async () => {
  await migrated.drop();
  await empty.drop();
});

const dataDir = join(tmpdir(), 'concilia-nothing-here');
const countAccounts = async ({ prisma }: Database): Promise<number> => prisma.bankAccount.count();

/** The error of a program, and whether its work had begun. */
async function failureOn(databaseUrl: string | null, work = countAccounts) {
  let hasBegun = false;
  const error: unknown = await withProgramDatabase({ databaseUrl, dataDir }, (database) => {
    hasBegun = true;
    return work(database);
  }).catch((caught: unknown) => caught);
  return { error, message: plainMessageOf(error), hasBegun };
}

const withPath = (url: string, path: string) => {
  const other = new URL(url);
  other.pathname = path;
  return other.href;
};

describe('a program of an operator', () => {
  it('works on a database that has all migrations', async () => {
    expect(await withProgramDatabase({ databaseUrl: migrated.url, dataDir }, countAccounts)).toBe(
      0,
    );
  });

  it('begins nothing on a database that was never migrated, and says what to run', async () => {
    const { message, hasBegun } = await failureOn(empty.url);
    expect(message).toMatch(
      /^The database test_\w+ has no tables of Concilia\. .*concilia migrate/,
    );
    expect(hasBegun).toBe(false);
  });

  it.each([
    ['server', async () => `postgresql://127.0.0.1:${await freePort()}/concilia`, /ECONNREFUSED/],
    ['database', () => withPath(migrated.url, '/nothing'), /database "nothing" does not exist/],
  ])('says in one line that there is no such %s', async (_, urlOf, reason) => {
    const { message, hasBegun } = await failureOn(await urlOf());
    expect(message).toMatch(/^The database cannot be reached or cannot write: .*DATABASE_URL.*$/);
    expect(message).toMatch(reason);
    expect(hasBegun).toBe(false);
  });

  it('says that there is no data folder, and creates none', async () => {
    for (let times = 0; times < 2; times += 1)
      expect((await failureOn(null)).message).toMatch(/^There is no database in .*DATA_DIR/);
  });

  it('says in one line that the database went away during the work', async () => {
    const message = '\nInvalid `count()` invocation:\n\nThe server is away.';
    const cutOff = () => Promise.reject(Object.assign(new Error(message), { code: 'P1001' }));
    expect((await failureOn(migrated.url, cutOff)).message).toMatch(
      /^The database cannot be reached or cannot write: The server is away\. Check .*$/,
    );
  });

  it('leaves any other error as it is, for its stack', async () => {
    const bug = new Error('a bug');
    const { error, message } = await failureOn(migrated.url, () => Promise.reject(bug));
    expect(error).toBe(bug);
    expect(message).toBeNull();
  });
});
