// Broken set-ups, each of which `concilia doctor` must name, with what to do.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { openSecretBox } from '../../../src/access/secrets/credentials-keys.service.js';
import { examineBank } from '../../../src/app/doctor/bank-answer.js';
import { examineDatabase } from '../../../src/app/doctor/database-check.js';
import type { SetUpFinding } from '../../../src/app/doctor/finding.js';
import { examineCertificates, examineDisk } from '../../../src/app/doctor/machine-check.js';
import { examinePublicAddress } from '../../../src/app/doctor/public-address.js';
import { examineQueue } from '../../../src/app/doctor/queue-check.js';
import { findUnknownNames } from '../../../src/app/doctor/settings-check.js';
import { encryptedColumns } from '../../../src/app/encrypted-columns.js';
import { withProgramDatabase } from '../../../src/app/program-database.js';
import { loadSettings, type Settings } from '../../../src/platform/settings/config.js';
import { freePort } from '../../support/concilia-process.js';
import { listenHttp } from '../../support/http-listener.js';
import { testDatabase, type TestDatabase } from '../../support/postgres.js';
import { hasRedis, TestRedis } from '../../support/redis.js';

const credentialsKey = 'the-credentials-key-of-this-database';
const realBank = {
  BANK_PROFILE: 'generic',
  BANK_BASE_URL: 'http://127.0.0.1:9',
  BANK_API_KEY: 'a-key-of-the-bank',
  BANK_PARTNER_KEY: 'a-partner-key',
  CONCILIA_API_KEY: 'an-api-key',
  CONCILIA_PARTNER_KEY: 'a-key-of-partners',
  CONCILIA_ADMIN_KEY: 'an-admin-key',
  CREDENTIALS_KEY: credentialsKey,
  PUBLIC_URL: 'https://concilia.example',
};

const settingsOf = (given: Record<string, string>): Settings =>
  loadSettings({ ...realBank, DATA_DIR: join(tmpdir(), 'concilia-nothing-here'), ...given });

const failuresOf = (findings: readonly SetUpFinding[]) =>
  findings.filter(({ state }) => state === 'failed');

/** The one thing that is wrong, and what to do. */
function expectFailure(findings: readonly SetUpFinding[], message: RegExp, advice: RegExp): void {
  const named = failuresOf(findings).filter((finding) => message.test(finding.message));
  expect(failuresOf(findings).map((finding) => finding.message)).toContainEqual(
    expect.stringMatching(message),
  );
  expect(named[0]?.advice).toMatch(advice);
}

describe('the database', () => {
  let migrated: TestDatabase;
  let empty: TestDatabase;
  const role = `limited_${process.pid}`;
  beforeAll(async () => {
    [migrated, empty] = [await testDatabase('service'), await testDatabase()];
    await migrated.pool.query(`CREATE ROLE ${role} LOGIN PASSWORD 'right-password'`);
    await migrated.pool.query(`GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${role}`);
    const keys = { credentialsKey, otherCredentialsKeys: [] };
    await withProgramDatabase({ databaseUrl: migrated.url, dataDir: '' }, (database) =>
      openSecretBox(database, keys, encryptedColumns),
    );
  });
  afterAll(async () => {
    await migrated.pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    await migrated.drop();
    await empty.drop();
  });

  const examine = (given: Record<string, string> = {}) =>
    examineDatabase(settingsOf({ DATABASE_URL: migrated.url, ...given }));
  const urlAs = (user: string, password: string) => {
    const url = new URL(migrated.url);
    Object.assign(url, { username: user, password });
    return url.href;
  };

  it('has nothing wrong where the service would start', async () => {
    const findings = await examine();
    expect(failuresOf(findings)).toEqual([]);
    expect(findings.map(({ message }) => message)).toEqual(
      expect.arrayContaining(['It has all migrations.', 'CREDENTIALS_KEY opens all.']),
    );
  });

  it('listens on another port', async () => {
    const url = `postgresql://127.0.0.1:${await freePort()}/concilia`;
    expectFailure(await examine({ DATABASE_URL: url }), /ECONNREFUSED/, /port/);
  });

  it('refuses the password, which is not shown', async () => {
    const findings = await examine({ DATABASE_URL: urlAs(role, 'wrong-password') });
    expectFailure(findings, /password authentication failed/, /password/);
    expect(JSON.stringify(findings)).not.toContain('wrong-password');
  });

  it('gives the user too few rights', async () => {
    const findings = await examine({ DATABASE_URL: urlAs(role, 'right-password') });
    expectFailure(findings, /lacks the right CREATE on the database/, /GRANT CREATE ON DATABASE/);
  });

  it('lacks migrations', async () => {
    const findings = await examine({ DATABASE_URL: empty.url });
    expectFailure(findings, /has no tables of Concilia/, /concilia migrate/);
  });

  it('has secrets of another CREDENTIALS_KEY', async () => {
    const findings = await examine({ CREDENTIALS_KEY: 'another-credentials-key-of-32-bytes' });
    expectFailure(findings, /lacks the key .* encrypted values/, /Set CREDENTIALS_KEY/);
  });

  it('knows accounts whose keys the bank refuses', async () => {
    const { pool } = migrated;
    await pool.query(`INSERT INTO bank_account (slug, name) VALUES ('filial', 'Filial')`);
    await pool.query(
      `INSERT INTO statement_state (account_id, read_failure, read_failed_since)
       SELECT id, 'key_refused', now() FROM bank_account WHERE slug = 'filial'`,
    );
    expectFailure(await examine({}), /refuses the keys of these accounts: filial/, /PATCH/);
    await pool.query('DELETE FROM statement_state');
    await pool.query('DELETE FROM bank_account');
  });

  it('has fewer connections than one process opens', async () => {
    const findings = await examine({ DATABASE_POOL_SIZE: '9000' });
    expectFailure(findings, /max_connections/, /DATABASE_POOL_SIZE/);
  });
});

describe('the bank', () => {
  const answered = async (status: number, headers: Record<string, string> = {}) => {
    const bank = await listenHttp((_, response) => {
      response.writeHead(status, headers).end('[]');
    });
    const findings = await examineBank(settingsOf({ BANK_BASE_URL: bank.url }));
    bank.close();
    return findings;
  };

  it('accepts the key, and has our time', async () => {
    expect((await answered(200)).map(({ state }) => state)).toEqual(['ok', 'ok']);
  });

  it('refuses the key', async () => {
    expectFailure(await answered(401), /refuses BANK_API_KEY \(401\)/, /BANK_API_KEY_HEADER/);
  });

  it('is not there', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const findings = await examineBank(settingsOf({ BANK_BASE_URL: url }));
    expectFailure(findings, /does not answer \(ECONNREFUSED\)/, /BANK_BASE_URL/);
  });

  it('has another time than this machine', async () => {
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    const findings = await answered(200, { date });
    expectFailure(findings, /is 3\d{3} s behind the bank's/, /NTP/);
  });

  it('has a certificate file that cannot be read', async () => {
    const findings = await examineCertificates(settingsOf({ BANK_CA_FILE: '/nothing/ca.pem' }));
    expectFailure(findings, /BANK_CA_FILE cannot be read \(ENOENT\)/, /PEM/);
  });
});

(hasRedis ? describe : describe.skip)('Redis', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await TestRedis.start();
  });
  afterAll(() => redis.stop());

  it('may evict jobs', async () => {
    expect(failuresOf(await examineQueue({ redisUrl: redis.url }))).toEqual([]);
    const client = new Redis(redis.url);
    await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    client.disconnect();
    const findings = await examineQueue({ redisUrl: redis.url });
    expectFailure(findings, /maxmemory-policy is allkeys-lru/, /noeviction/);
  });
});

it('names a Redis that is not there', async () => {
  const redisUrl = `redis://127.0.0.1:${await freePort()}/0`;
  expectFailure(await examineQueue({ redisUrl }), /ECONNREFUSED/, /REDIS_URL/);
});

describe('PUBLIC_URL', () => {
  it('is loopback, which a real bank cannot reach', async () => {
    const findings = await examinePublicAddress(
      settingsOf({ PUBLIC_URL: 'http://localhost:3000' }),
    );
    expectFailure(findings, /loopback, which the bank cannot reach/, /https address/);
  });

  it('has a name without an address', async () => {
    const findings = await examinePublicAddress(settingsOf({ PUBLIC_URL: 'https://no.invalid' }));
    expectFailure(findings, /no\.invalid has no address/, /DNS/);
  });

  it('leads to another server', async () => {
    const other = await listenHttp((_, response) => {
      response.end('hello');
    });
    const sandbox = { BANK_PROFILE: 'sandbox', PUBLIC_URL: other.url };
    const findings = await examinePublicAddress(settingsOf(sandbox));
    other.close();
    expectFailure(findings, /Another server answers/, /proxy/);
  });
});

it('names a setting that does not exist, and the one that is meant', () => {
  const names = ['BANK_BASE_URI', 'DATABSE_URL', 'CONCILIA_THING', 'HOME', 'PGHOST', 'PUBLIC_URL'];
  expect(findUnknownNames(names).map(({ message }) => message)).toEqual([
    'BANK_BASE_URI is no setting, and has no effect. It may mean BANK_BASE_URL.',
    'DATABSE_URL is no setting, and has no effect. It may mean DATABASE_URL.',
    'CONCILIA_THING is no setting, and has no effect.',
  ]);
});

it('names a disk with less free space than is asked for', async () => {
  expect(failuresOf(await examineDisk(settingsOf({}), 0))).toEqual([]);
  expectFailure(await examineDisk(settingsOf({}), 1e12), /MiB are free/, /Free at least/);
});
