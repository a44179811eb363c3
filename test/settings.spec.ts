// `.env.example` documents exactly the settings that the code reads. An invalid setting is reported
// by its name before anything starts.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import {
  developmentValues,
  loadSettings,
  settingSchemas,
} from '../src/platform/settings/config.js';
import { secretSettings } from '../src/platform/settings/environment.js';
import { allJobs } from '../src/platform/queue/queues.js';

const example = readFileSync(join(import.meta.dirname, '..', '.env.example'), 'utf8');
const exampleLines = example.split('\n').flatMap((line) => {
  const [, name, value] = /^([A-Z_]+)=(.*)$/.exec(line) ?? [];
  return name === undefined ? [] : [[name, value] as const];
});
const exampleValues: Record<string, string | undefined> = Object.fromEntries(exampleLines);

/** Valid settings for a real bank, without development values. */
const production = {
  PUBLIC_URL: 'https://concilia.example',
  DATABASE_URL: 'postgresql://concilia:secret@db.example:5432/concilia',
  BANK_PROFILE: 'generic',
  BANK_BASE_URL: 'https://bank.example',
  BANK_API_KEY: 'a-real-bank-key',
  BANK_PARTNER_KEY: 'a-real-bank-partner-key',
  CONCILIA_API_KEY: 'a-real-api-key',
  CONCILIA_PARTNER_KEY: 'a-real-partner-key',
  CONCILIA_ADMIN_KEY: 'a-real-admin-key',
  CREDENTIALS_KEY: 'a-real-credentials-key-of-32-characters',
};

/** The reported problems; none when the settings are valid. */
function problemsOf(environment: Record<string, string>): string[] {
  try {
    loadSettings(environment);
    return [];
  } catch (error) {
    return (error as { problems: string[] }).problems;
  }
}

describe('.env.example', () => {
  it('names every setting once, in the order in which they are read', () => {
    expect(exampleLines.map(([name]) => name)).toEqual(Object.keys(settingSchemas));
  });

  it('explains every setting', () => {
    const paragraphs = example.trim().split('\n\n').slice(1);
    for (const paragraph of paragraphs)
      expect(paragraph).toMatch(/^# .+\n(# .+\n)*([A-Z_]+=.*\n?)+$/);
  });

  it('shows the development values', () => {
    expect(exampleValues).toMatchObject(developmentValues);
  });

  it('means the same as no settings at all when it is copied unchanged', () => {
    expect(loadSettings(exampleValues)).toEqual(loadSettings({}));
  });
});

const root = join(import.meta.dirname, '..');
const filesOf = (folder: string, ending: RegExp): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => ending.test(path) && !path.includes('generated'))
    .map((path) => join(root, folder, path));
const textOf = (paths: readonly string[]): string =>
  paths.map((path) => readFileSync(path, 'utf8')).join('\n');

it('documents name no setting, and no other word in capitals, that the code does not have', () => {
  const folders = ['src', 'test', 'bench', 'scripts', 'prisma'];
  const code = textOf(folders.flatMap((folder) => filesOf(folder, /\.(tsx?|mjs|prisma|sql)$/)));
  const known = new Set(code.match(/\b[A-Z][A-Z0-9]*(_[A-Z0-9]+)+\b/g));
  const documents = [join(root, 'README.md'), join(root, 'CONTRIBUTING.md')];
  const named = textOf([...documents, ...filesOf('docs', /\.md$/)]).matchAll(
    /`([A-Z][A-Z0-9]*(_[A-Z0-9]+)+)\b/g,
  );
  const unknown = [...named].flatMap(([, name = '']) => (known.has(name) ? [] : name));
  expect(known.size).toBeGreaterThan(Object.keys(settingSchemas).length);
  expect([...new Set(unknown)]).toEqual([]);
});

describe('defaults', () => {
  it('run all roles in one process on loopback', () => {
    expect(loadSettings({})).toEqual({
      host: '127.0.0.1',
      port: 3000,
      sandboxPort: 3900,
      sandboxPreset: 'published',
      sandboxHabits: null,
      publicUrl: null,
      databaseUrl: null,
      directDatabaseUrl: null,
      sandboxDatabaseUrl: null,
      databaseLimits: {
        poolSize: 20,
        queuePoolSize: 24,
        connectTimeoutMs: 10_000,
        statementTimeoutMs: 60_000,
        transactionTimeoutMs: 30_000,
      },
      migrations: { isOnStart: true, waitMs: 60_000 },
      redisUrl: null,
      shutdownDelayMs: 0,
      log: { level: 'info', hasAccess: false },
      traces: null,
      dataDir: resolve('.data'),
      roles: ['api', 'worker', 'scheduler', 'sandbox'],
      apiKeyHeaders: [],
      bank: {
        profile: 'sandbox',
        habits: null,
        baseUrl: null,
        whitelabelUrl: null,
        apiKey: 'sandbox-dev-key',
        partnerKey: 'sandbox-dev-partner',
        apiKeyHeader: 'x-service-api-key',
        partnerKeyHeader: 'x-service-partner-key',
        accountHeader: null,
        accountMode: 'live',
        clientCertificateFile: null,
        clientKeyFile: null,
        caFile: null,
        webhookSecret: null,
        isRepeatSafe: null,
        hasStatusById: null,
        visibilityBoundMs: null,
        rateLimitPerSecond: null,
      },
      possibleDuplicates: { policy: 'off', windowMinutes: 60 },
      keys: {
        api: 'concilia-dev-key',
        partner: 'concilia-dev-partner',
        admin: 'concilia-dev-admin',
      },
      credentialsKey: 'concilia-dev-credentials-key-0000',
      otherCredentialsKeys: [],
      disabledEndpointHours: 72,
      endpointsPerAccount: 20,
      retention: { webhookBodyDays: 90, requestDays: 400, idempotencyDays: 30, eventDays: 400 },
      sso: null,
      syncIntervalMs: 5_000,
      trustedProxies: [],
      requestLimits: {
        perKey: { reads: 3_000, writes: 3_000, 'money-out': 3_000, 'look-ups': 3_000, uploads: 5 },
        perAccount: {
          ...{ reads: 6_000, writes: 6_000, 'money-out': 6_000, 'look-ups': 6_000, uploads: 10 },
        },
        perAddress: { requests: 10_000, webhooks: 20_000 },
        concurrent: {
          reads: { total: 8, account: 4, key: 2 },
          changes: { total: 12, account: 10, key: 8 },
        },
        waiting: { perKey: 1_000, maxMs: 10_000 },
      },
      quotas: {
        ...{ apiKeys: 100, rules: 1_000, unfinishedUploads: 20, unprocessedWebhooks: 1_000_000 },
      },
      metricsToken: null,
      anchors: { file: null, timestampUrl: null },
      alerts: { smtpUrl: null, from: null, consoleUrl: null },
    });
  });

  it.each(Object.keys(settingSchemas))('treat an empty %s as missing', (name) => {
    expect(loadSettings({ [name]: '' })).toEqual(loadSettings({}));
    expect(loadSettings({ [name]: '  \t' })).toEqual(loadSettings({}));
  });

  it('with a real bank leave out the sandbox role and sync every minute', () => {
    expect(loadSettings(production)).toMatchObject({
      roles: ['api', 'worker', 'scheduler'],
      bank: { profile: 'generic', whitelabelUrl: 'https://bank.example' },
      ...{ shutdownDelayMs: 5_000, syncIntervalMs: 60_000 },
    });
  });
});

describe('a value', () => {
  it('of headers for the collector of traces is decoded', () => {
    const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example/' };
    const given = {
      ...collector,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a=,x-team=7',
    };
    expect(loadSettings(given).traces).toEqual({
      endpoint: 'https://collector.example',
      headers: { authorization: 'Bearer a=', 'x-team': '7' },
    });
    for (const wrong of ['token', 'a=', 'a=1,', 'a=1,,b=2', 'a=%zz', '=1'])
      expect(problemsOf({ ...collector, OTEL_EXPORTER_OTLP_HEADERS: wrong })).toHaveLength(1);
  });

  it('is read without surrounding spaces, and a URL without trailing slashes', () => {
    const { port, bank } = loadSettings({
      ...production,
      PORT: ' 8080 ',
      BANK_BASE_URL: 'https://bank.example/baas//',
      BANK_API_KEY_HEADER: 'X-Api-Key',
    });
    expect(port).toBe(8080);
    expect(bank).toMatchObject({ baseUrl: 'https://bank.example/baas', apiKeyHeader: 'x-api-key' });
  });

  it('of a list of limits changes the limits that it names, and 0 is none', () => {
    const { requestLimits } = loadSettings({
      RATE_LIMITS_PER_KEY: 'reads=7, uploads=0',
      CONCURRENT_READS: 'key=3',
    });
    expect(requestLimits.perKey).toMatchObject({ reads: 7, writes: 3_000, uploads: 0 });
    expect(requestLimits.concurrent.reads).toEqual({ total: 8, account: 4, key: 3 });
  });

  it('of TRUST_PROXY is a number of proxies, or their addresses and networks', () => {
    expect(loadSettings({ TRUST_PROXY: '2' }).trustedProxies).toBe(2);
    expect(loadSettings({ TRUST_PROXY: '10.0.0.0/8, ::1,loopback' }).trustedProxies).toEqual([
      ...['10.0.0.0/8', '::1', 'loopback'],
    ]);
  });

  it.each([
    ['PORT', '-1'],
    ['PORT', '65536'],
    ['PORT', '3000.5'],
    ['PORT', 'http'],
    ['SANDBOX_PORT', '123456'],
    ['PUBLIC_URL', 'concilia.example'],
    ['PUBLIC_URL', 'ftp://concilia.example'],
    ['DATABASE_URL', 'mysql://user:word@host/concilia'],
    ['DATABASE_URL', 'host=db user=concilia'],
    ['DIRECT_DATABASE_URL', 'db:5432/concilia'],
    ['SANDBOX_DATABASE_URL', 'file:sandbox.db'],
    ['DATABASE_POOL_SIZE', '3'],
    ['QUEUE_POOL_SIZE', '15'],
    ['DATABASE_CONNECT_TIMEOUT_MS', '0'],
    ['DATABASE_STATEMENT_TIMEOUT_MS', '1s'],
    ['DATABASE_TRANSACTION_TIMEOUT_MS', '-1'],
    ['REDIS_URL', 'http://127.0.0.1:6379'],
    ['REDIS_URL', '127.0.0.1:6379'],
    ['MIGRATE_ON_START', 'no'],
    ['MIGRATION_WAIT_MS', '0'],
    ['SHUTDOWN_DELAY_MS', '-1'],
    ['LOG_LEVEL', 'loud'],
    ['ACCESS_LOG', '1'],
    ['ROLES', 'api,workers'],
    ['ROLES', 'api,,worker'],
    ['ROLES', 'API'],
    ['BANK_PROFILE', 'sandbx'],
    ['BANK_PROFILE', './absent.json'],
    ['SANDBOX_PROFILE', 'package.json'],
    ['BANK_BASE_URL', 'bank.example'],
    ['BANK_WHITELABEL_URL', '//bank.example'],
    ['BANK_API_KEY', 'short'],
    ['BANK_API_KEY', 'with a space in it'],
    ['BANK_PARTNER_KEY', 'ção-ção-ção'],
    ['BANK_API_KEY_HEADER', 'x key'],
    ['BANK_PARTNER_KEY_HEADER', 'x-key:'],
    ['BANK_API_KEY_HEADER', 'Host'],
    ['BANK_ACCOUNT_HEADER', 'x account'],
    ['BANK_REPEAT_SAFE', 'yes'],
    ['BANK_STATUS_BY_ID', '1'],
    ['BANK_VISIBILITY_BOUND_MS', '0'],
    ['BANK_VISIBILITY_BOUND_MS', '1.5'],
    ['BANK_RATE_LIMIT_PER_SECOND', '-1'],
    ['POSSIBLE_DUPLICATES', 'on'],
    ['BANK_ACCOUNT_MODE', 'stopped'],
    ['POSSIBLE_DUPLICATE_WINDOW_MINUTES', '0'],
    ['BANK_WEBHOOK_SECRET', 'fifteen-letters'],
    ['CONCILIA_API_KEY', 'seven77'],
    ['CONCILIA_PARTNER_KEY', 'a\u0000bcdefgh'],
    ['CONCILIA_ADMIN_KEY', 'short'],
    ['CREDENTIALS_KEY', 'less-than-thirty-two-characters'],
    ['CREDENTIALS_KEY', `${'k'.repeat(32)},${'l'.repeat(32)}`],
    ['CREDENTIALS_OTHER_KEYS', `${'k'.repeat(32)},short`],
    ['SYNC_INTERVAL_MS', '999'],
    ['SYNC_INTERVAL_MS', '1e4'],
    ['SYNC_INTERVAL_MS', '-5000'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', '17'],
    ['TRUST_PROXY', '0.0.0.0/0'],
    ['TRUST_PROXY', '10.0.0.1,::/0'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['TRUST_PROXY', 'proxy.example'],
    ['RATE_LIMITS_PER_KEY', '100'],
    ['RATE_LIMITS_PER_KEY', 'reads=100,payments=5'],
    ['RATE_LIMITS_PER_ACCOUNT', 'reads=-1'],
    ['RATE_LIMITS_PER_ADDRESS', 'reads=100'],
    ['CONCURRENT_READS', 'total'],
    ['CONCURRENT_CHANGES', 'process=4'],
    ['WAITING_REQUESTS_PER_KEY', 'many'],
    ['METRICS_TOKEN', 'short'],
    ['SMTP_URL', 'https://mail.example'],
    ['ALERT_FROM', 'Concilia <alerts@concilia.example>'],
    ['CONSOLE_URL', 'console'],
    ['OIDC_ISSUER', 'login.example'],
    ['OIDC_SCOPES', 'profile email'],
    ['OIDC_ROLES', 'admins=owner'],
    ['OIDC_ROLES', 'admins=admin;finance'],
    ['OIDC_STEP_UP', 'never'],
    ['OIDC_SESSION_MINUTES', '4'],
    ['REQUEST_WAIT_MS', '1s'],
    ['API_KEYS_PER_ACCOUNT', '-1'],
    ['RULES_PER_ACCOUNT', '1.5'],
    ['UNFINISHED_UPLOADS_PER_ACCOUNT', 'none'],
    ['UNPROCESSED_WEBHOOKS_PER_ACCOUNT', '-1'],
  ])('of %s that is %j is refused with its name', (name, value) => {
    const problems = problemsOf({ [name]: value });
    expect(problems).toEqual([expect.stringMatching(new RegExp(`^${name} must `))]);
  });
});

describe('a secret in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'concilia-secrets-'));
  const path = join(folder, 'secret');
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is read without the newline at its end, for every setting that is a secret', () => {
    const secrets =
      /((?<!PER)_KEY|OTHER_KEYS|_SECRET|_TOKEN|DATABASE_URL|REDIS_URL|SMTP_URL|ACCOUNT_ID|OTLP_HEADERS)$/;
    const names = Object.keys(settingSchemas).filter((name) => secrets.test(name));
    expect([...secretSettings].sort()).toEqual(names.sort());
    writeFileSync(path, 'postgresql://concilia:hunter2@db/concilia\n');
    expect(loadSettings({ DATABASE_URL_FILE: path }).databaseUrl).toBe(
      'postgresql://concilia:hunter2@db/concilia',
    );
  });

  it('is refused with its name, and never shown', () => {
    writeFileSync(path, 'hunter2 hunter2 hunter2');
    expect(problemsOf({ METRICS_TOKEN_FILE: path, PORT: 'x' })).toEqual([
      ...['PORT must be a port number from 0 to 65535.'],
      'METRICS_TOKEN must be printable characters without spaces.',
    ]);
    expect(
      problemsOf({ METRICS_TOKEN_FILE: path, METRICS_TOKEN: 'a-token-of-the-settings' }),
    ).toEqual(['METRICS_TOKEN and METRICS_TOKEN_FILE must not both be set.']);
    writeFileSync(path, '\n');
    expect(problemsOf({ METRICS_TOKEN_FILE: path })).toEqual([
      'METRICS_TOKEN_FILE names an empty file.',
    ]);
    expect(problemsOf({ METRICS_TOKEN_FILE: folder })).toEqual([
      'METRICS_TOKEN_FILE must name a readable file (EISDIR).',
    ]);
  });
});

describe('invalid settings', () => {
  it('are reported together, one line each', () => {
    const wrong = { PORT: 'x', REDIS_URL: 'x', ROLES: 'x', BANK_API_KEY: 'x' };
    expect(() => loadSettings(wrong)).toThrow(
      /^Invalid settings:\n {2}- PORT .*\n {2}- REDIS_URL .*\n {2}- ROLES .*\n {2}- BANK_API_KEY .*$/,
    );
  });

  it('are reported once, also when a list has several invalid items', () => {
    expect(problemsOf({ ROLES: 'cook,thief,wife' })).toHaveLength(1);
  });

  it('include a start that may not migrate the embedded PostgreSQL', () => {
    expect(problemsOf({ MIGRATE_ON_START: 'false' })).toEqual([
      'MIGRATE_ON_START must be true: only a start migrates the embedded PostgreSQL.',
    ]);
    const { DATABASE_URL } = production;
    expect(problemsOf({ MIGRATE_ON_START: 'false', DATABASE_URL })).toEqual([]);
  });

  it('include a mail server without a sender, and a sender without a mail server', () => {
    const [SMTP_URL, ALERT_FROM] = ['smtp://u:p@mail.example:587', 'alerts@concilia.example'];
    const problem = ['SMTP_URL and ALERT_FROM must be set together.'];
    expect(problemsOf({ SMTP_URL })).toEqual(problem);
    expect(problemsOf({ ALERT_FROM })).toEqual(problem);
    expect(problemsOf({ SMTP_URL, ALERT_FROM })).toEqual([]);
  });

  it('include too few connections for the workers of the queue', () => {
    const smallest = String(allJobs.length + 2);
    expect(problemsOf({ QUEUE_POOL_SIZE: smallest })).toEqual([]);
    expect(problemsOf({ QUEUE_POOL_SIZE: String(allJobs.length + 1) })).toHaveLength(1);
  });

  const secrets = Object.keys(settingSchemas).filter((name) =>
    /(_KEY|_SECRET|_URL|_HEADERS)$/.test(name),
  );

  it.each(secrets)('never show the value of %s', (name) => {
    const value = 'p w d'; // too short, with spaces, and no URL
    const refused = () => loadSettings({ ...production, [name]: value });
    expect(refused).toThrow(name);
    expect(refused).not.toThrow(value);
  });

  it('show no password of a URL with a misspelled protocol', () => {
    const refused = () => loadSettings({ DATABASE_URL: 'postgrse://concilia:hunter2@db/concilia' });
    expect(refused).toThrow('DATABASE_URL');
    expect(refused).not.toThrow('hunter2');
  });
});

describe('a real bank', () => {
  it('accepts settings without development values', () => {
    expect(problemsOf(production)).toEqual([]);
  });

  it.each(Object.entries(developmentValues))(
    'refuses the development value of %s',
    (name, value) => {
      const problems = problemsOf({ ...production, [name]: value });
      expect(problems).toEqual([
        `${name} must not be the development value: only the sandbox bank accepts it.`,
      ]);
    },
  );

  it.each(Object.keys(developmentValues))('needs %s', (name) => {
    expect(problemsOf({ ...production, [name]: '' })).toEqual([`${name} is missing.`]);
  });

  it.each([
    ['PUBLIC_URL', 'PUBLIC_URL is missing: the bank sends its webhooks there.'],
    ['BANK_PROFILE', 'BANK_PROFILE must be set with BANK_BASE_URL, to one of sandbox, generic.'],
    [
      'BANK_BASE_URL',
      'BANK_BASE_URL is missing: BANK_PROFILE names a bank that this process does not start.',
    ],
  ])('needs %s', (name, problem) => {
    expect(problemsOf({ ...production, [name]: '' })).toContain(problem);
  });

  it('at an address with the profile sandbox accepts development values', () => {
    expect(
      problemsOf({ BANK_PROFILE: 'sandbox', BANK_BASE_URL: 'http://sandbox.example:3900' }),
    ).toEqual([]);
  });
});

describe('roles', () => {
  const database = { DATABASE_URL: production.DATABASE_URL };

  it('are read from a comma-separated list, with spaces or without', () => {
    expect(loadSettings({ ...production, ROLES: 'api, worker' }).roles).toEqual(['api', 'worker']);
  });

  it('leave out the sandbox when BANK_BASE_URL is set', () => {
    const settings = loadSettings({ BANK_PROFILE: 'sandbox', BANK_BASE_URL: 'http://bank:3900' });
    expect(settings.roles).toEqual(['api', 'worker', 'scheduler']);
  });

  it.each(['api', 'worker', 'scheduler', 'api,worker'])('%s need DATABASE_URL', (roles) => {
    expect(problemsOf({ ...production, DATABASE_URL: '', ROLES: roles })).toEqual([
      'DATABASE_URL is missing: ROLES splits the service, and its processes share one database.',
    ]);
    expect(problemsOf({ ...production, ROLES: roles })).toEqual([]);
  });

  it('may be sandbox alone', () => {
    expect(problemsOf({ ROLES: 'sandbox' })).toEqual([]);
  });

  it('without the sandbox need a bank', () => {
    expect(problemsOf({ ...database, ROLES: 'api,worker,scheduler' })).toEqual([
      'BANK_BASE_URL is missing, and ROLES does not include sandbox.',
    ]);
  });
});

describe('settings that contradict each other', () => {
  it('are two servers on one port, unless each takes a free port', () => {
    expect(problemsOf({ PORT: '4000', SANDBOX_PORT: '4000' })).toEqual([
      'PORT and SANDBOX_PORT must differ.',
    ]);
    expect(problemsOf({ PORT: '0', SANDBOX_PORT: '0' })).toEqual([]);
  });

  it.each([
    ['CONCILIA_API_KEY', 'CONCILIA_PARTNER_KEY'],
    ['CONCILIA_API_KEY', 'CONCILIA_ADMIN_KEY'],
    ['CONCILIA_PARTNER_KEY', 'CONCILIA_ADMIN_KEY'],
  ])('are %s and %s with the same value', (one, other) => {
    expect(problemsOf({ ...production, [one]: 'the-same-key', [other]: 'the-same-key' })).toEqual([
      'CONCILIA_API_KEY, CONCILIA_PARTNER_KEY and CONCILIA_ADMIN_KEY must differ.',
    ]);
  });
});
