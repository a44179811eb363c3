// Reads the settings once at start. All invalid settings are reported together.
import { resolve } from 'node:path';
import { z } from 'zod';
import { knownOr, type BankHabits } from '../../bank-contract/bank-profile.js';
import { bankProfile, bankProfileNames, type BankProfileName } from './bank-profiles.js';
import { readSetting, SettingsError } from './environment.js';
import {
  readRequestLimits,
  requestLimitSchemas,
  type Quotas,
  type RequestLimitSettings,
  type TrustedProxies,
} from './request-limit-settings.js';
import { readReports, reportSchemas, type ReportSettings } from './report-settings.js';
import { readRetention, retentionSchemas, type RetentionSettings } from './retention-settings.js';
import { readSso, ssoSchemas, type SsoSettings } from './sso-settings.js';
import {
  count,
  headerList,
  headerName,
  httpUrl,
  port,
  postgresUrl,
  secret,
  urlOf,
  yesOrNo,
} from './setting-values.js';

/** From the most that is written to the least. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export const roles = ['api', 'worker', 'scheduler', 'sandbox'] as const;
export type Role = (typeof roles)[number];

/** What the sandbox bank shows beyond the contract, as long as nobody changes its modes. */
export const sandboxPresets = ['contract', 'published', 'complete'] as const;

/** What the service does with a possible duplicate of a settled operation. */
export const duplicatePolicies = ['off', 'warn', 'refuse'] as const;
export type DuplicatePolicy = (typeof duplicatePolicies)[number];

/** The mode in which an account is first recorded: it is not stopped before it exists. */
export const firstAccountModes = ['live', 'reconcile_only'] as const;

/** Keys for development: the defaults with the sandbox bank, refused with any other bank. */
export const developmentValues = {
  CONCILIA_API_KEY: 'concilia-dev-key',
  CONCILIA_PARTNER_KEY: 'concilia-dev-partner',
  CONCILIA_ADMIN_KEY: 'concilia-dev-admin',
  BANK_API_KEY: 'sandbox-dev-key',
  BANK_PARTNER_KEY: 'sandbox-dev-partner',
  CREDENTIALS_KEY: 'concilia-dev-credentials-key-0000',
} as const;

/** Every setting by name. A test compares this list with `.env.example`. */
export const settingSchemas = {
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: port('PORT').default(3000),
  SANDBOX_PORT: port('SANDBOX_PORT').default(3900),
  SANDBOX_PRESET: z
    .enum(sandboxPresets, `SANDBOX_PRESET must be one of ${sandboxPresets.join(', ')}.`)
    .default('published'),
  SANDBOX_PROFILE: bankProfile('SANDBOX_PROFILE').optional(),
  PUBLIC_URL: httpUrl('PUBLIC_URL').optional(),
  DATABASE_URL: postgresUrl('DATABASE_URL').optional(),
  DIRECT_DATABASE_URL: postgresUrl('DIRECT_DATABASE_URL').optional(),
  SANDBOX_DATABASE_URL: postgresUrl('SANDBOX_DATABASE_URL').optional(),
  DATABASE_POOL_SIZE: count('DATABASE_POOL_SIZE', 4).default(20),
  QUEUE_POOL_SIZE: count('QUEUE_POOL_SIZE', 21).default(24),
  DATABASE_CONNECT_TIMEOUT_MS: count('DATABASE_CONNECT_TIMEOUT_MS', 1).default(10_000),
  DATABASE_STATEMENT_TIMEOUT_MS: count('DATABASE_STATEMENT_TIMEOUT_MS', 1).default(60_000),
  DATABASE_TRANSACTION_TIMEOUT_MS: count('DATABASE_TRANSACTION_TIMEOUT_MS', 1).default(30_000),
  MIGRATE_ON_START: yesOrNo('MIGRATE_ON_START').default(true),
  MIGRATION_WAIT_MS: count('MIGRATION_WAIT_MS', 1).default(60_000),
  REDIS_URL: urlOf('REDIS_URL', /^rediss?:$/, 'redis://127.0.0.1:6379/0').optional(),
  SHUTDOWN_DELAY_MS: count('SHUTDOWN_DELAY_MS', 0).optional(),
  LOG_LEVEL: z.enum(logLevels, `LOG_LEVEL must be one of ${logLevels.join(', ')}.`).default('info'),
  ACCESS_LOG: yesOrNo('ACCESS_LOG').default(false),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl('OTEL_EXPORTER_OTLP_ENDPOINT').optional(),
  OTEL_EXPORTER_OTLP_HEADERS: headerList('OTEL_EXPORTER_OTLP_HEADERS').optional(),
  DATA_DIR: z
    .string()
    .default('.data')
    .transform((value) => resolve(value)),
  ROLES: z
    .string()
    .transform((value) => value.split(',').map((role) => role.trim()))
    .pipe(z.array(z.enum(roles, `ROLES must be a comma-separated list of ${roles.join(', ')}.`)))
    .optional(),
  BANK_PROFILE: bankProfile('BANK_PROFILE').optional(),
  BANK_BASE_URL: httpUrl('BANK_BASE_URL').optional(),
  BANK_WHITELABEL_URL: httpUrl('BANK_WHITELABEL_URL').optional(),
  BANK_API_KEY: secret('BANK_API_KEY', 8).optional(),
  BANK_PARTNER_KEY: secret('BANK_PARTNER_KEY', 8).optional(),
  BANK_API_KEY_HEADER: headerName('BANK_API_KEY_HEADER').default('x-service-api-key'),
  BANK_PARTNER_KEY_HEADER: headerName('BANK_PARTNER_KEY_HEADER').default('x-service-partner-key'),
  BANK_ACCOUNT_HEADER: headerName('BANK_ACCOUNT_HEADER').optional(),
  BANK_ACCOUNT_ID: secret('BANK_ACCOUNT_ID', 1).optional(),
  BANK_ACCOUNT_MODE: z
    .enum(firstAccountModes, `BANK_ACCOUNT_MODE must be one of ${firstAccountModes.join(', ')}.`)
    .default('live'),
  BANK_CLIENT_CERTIFICATE_FILE: z.string().optional(),
  BANK_CLIENT_KEY_FILE: z.string().optional(),
  BANK_CA_FILE: z.string().optional(),
  BANK_WEBHOOK_SECRET: secret('BANK_WEBHOOK_SECRET', 16).optional(),
  BANK_REPEAT_SAFE: yesOrNo('BANK_REPEAT_SAFE').optional(),
  BANK_STATUS_BY_ID: yesOrNo('BANK_STATUS_BY_ID').optional(),
  BANK_VISIBILITY_BOUND_MS: count('BANK_VISIBILITY_BOUND_MS', 1).optional(),
  BANK_RATE_LIMIT_PER_SECOND: count('BANK_RATE_LIMIT_PER_SECOND', 1).optional(),
  POSSIBLE_DUPLICATES: z
    .enum(duplicatePolicies, `POSSIBLE_DUPLICATES must be one of ${duplicatePolicies.join(', ')}.`)
    .default('off'),
  POSSIBLE_DUPLICATE_WINDOW_MINUTES: count('POSSIBLE_DUPLICATE_WINDOW_MINUTES', 1).default(60),
  API_KEY_HEADERS: z
    .string()
    .transform((value) => value.split(',').map((name) => name.trim()))
    .pipe(z.array(headerName('API_KEY_HEADERS')))
    .optional(),
  CONCILIA_API_KEY: secret('CONCILIA_API_KEY', 8).optional(),
  CONCILIA_PARTNER_KEY: secret('CONCILIA_PARTNER_KEY', 8).optional(),
  CONCILIA_ADMIN_KEY: secret('CONCILIA_ADMIN_KEY', 8).optional(),
  CREDENTIALS_KEY: secret('CREDENTIALS_KEY', 32)
    .refine((key) => !key.includes(','), 'CREDENTIALS_KEY must have no comma.')
    .optional(),
  CREDENTIALS_OTHER_KEYS: z
    .string()
    .transform((value) => value.split(',').map((key) => key.trim()))
    .pipe(z.array(secret('CREDENTIALS_OTHER_KEYS', 32)))
    .optional(),
  DISABLED_ENDPOINT_HOURS: count('DISABLED_ENDPOINT_HOURS', 1).default(72),
  ENDPOINTS_PER_ACCOUNT: count('ENDPOINTS_PER_ACCOUNT', 1).default(20),
  ...retentionSchemas,
  SYNC_INTERVAL_MS: z
    .string()
    .regex(/^\d{4,8}$/, 'SYNC_INTERVAL_MS must be a number of milliseconds, at least 1000.')
    .transform(Number)
    .optional(),
  ...requestLimitSchemas,
  METRICS_TOKEN: secret('METRICS_TOKEN', 16).optional(),
  ...reportSchemas,
  ...ssoSchemas,
} as const;

const settingsObject = z.object(settingSchemas);
const migrationSettings = settingsObject.pick({
  DATABASE_URL: true,
  DIRECT_DATABASE_URL: true,
  REDIS_URL: true,
  DATA_DIR: true,
  MIGRATION_WAIT_MS: true,
});
const reencryptionSettings = settingsObject.pick({
  DATABASE_URL: true,
  DATA_DIR: true,
  BANK_PROFILE: true,
  BANK_BASE_URL: true,
  CREDENTIALS_KEY: true,
  CREDENTIALS_OTHER_KEYS: true,
});
const programSettings = settingsObject.pick({
  DATABASE_URL: true,
  DATA_DIR: true,
  BANK_PROFILE: true,
  BANK_BASE_URL: true,
  BANK_VISIBILITY_BOUND_MS: true,
});
type SettingValues = z.output<typeof settingsObject>;

/** The collector of traces, and the headers by which it knows us. */
export interface TraceSettings {
  endpoint: string;
  headers: Record<string, string>;
}

/** The settings as the service uses them; a class so that Nest can inject them. */
export abstract class Settings {
  readonly host!: string;
  readonly port!: number;
  readonly sandboxPort!: number;
  readonly sandboxPreset!: (typeof sandboxPresets)[number];
  /** Of the bank that the sandbox imitates; null for none. */
  readonly sandboxHabits!: BankHabits | null;
  /** Further headers in which business systems may send their keys, in lower case. */
  readonly apiKeyHeaders!: readonly string[];
  /** Null: our loopback address, known once the service listens. */
  readonly publicUrl!: string | null;
  /** Null: the embedded PostgreSQL under `dataDir`. */
  readonly databaseUrl!: string | null;
  /** Past a pooler. Null: `databaseUrl`. */
  readonly directDatabaseUrl!: string | null;
  readonly sandboxDatabaseUrl!: string | null;
  readonly databaseLimits!: DatabaseLimits;
  readonly migrations!: {
    /** Whether a start applies the migrations of the service's database, or only checks them. */
    isOnStart: boolean;
    /** How long a migration waits for one lock. */
    waitMs: number;
  };
  /** Null: BullMQ's PostgreSQL backend. */
  readonly redisUrl!: string | null;
  /** How long a process that gets SIGTERM still serves requests while it is not ready. */
  readonly shutdownDelayMs!: number;
  /** `hasAccess`: with a line for each request. */
  readonly log!: { level: (typeof logLevels)[number]; hasAccess: boolean };
  /** Null: no traces. */
  readonly traces!: TraceSettings | null;
  readonly dataDir!: string;
  readonly roles!: readonly Role[];
  readonly bank!: {
    profile: BankProfileName;
    /** Those of the file that BANK_PROFILE names; null: those of the named profile. */
    habits: BankHabits | null;
    /** Null: the sandbox bank of this process. */
    baseUrl: string | null;
    whitelabelUrl: string | null;
    apiKey: string;
    partnerKey: string;
    apiKeyHeader: string;
    partnerKeyHeader: string;
    /** A header that identifies the account at the bank; null where the bank requires none. */
    accountHeader: { name: string; value: string } | null;
    /** Of the account of the settings, when it is first recorded. */
    accountMode: (typeof firstAccountModes)[number];
    /** PEM files of the client certificate (mTLS); null where the bank requires none. */
    clientCertificateFile: string | null;
    clientKeyFile: string | null;
    /** The CA of the bank's certificate; null: those that Node.js trusts. */
    caFile: string | null;
    /** Null: one for each bank account, derived from the credentials key. */
    webhookSecret: string | null;
    /** Null in these three: the value of the profile. */
    isRepeatSafe: boolean | null;
    hasStatusById: boolean | null;
    visibilityBoundMs: number | null;
    /** That of the profile where the settings have none; null for no limit. */
    rateLimitPerSecond: number | null;
  };
  readonly possibleDuplicates!: { policy: DuplicatePolicy; windowMinutes: number };
  readonly keys!: { api: string; partner: string; admin: string };
  readonly credentialsKey!: string;
  /** Keys that also decrypt: the next one, and former ones. */
  readonly otherCredentialsKeys!: readonly string[];
  /** After this time, events that a disabled webhook endpoint did not get are dead. */
  readonly disabledEndpointHours!: number;
  /** How many webhook endpoints a bank account may have. */
  readonly endpointsPerAccount!: number;
  /** After how many days what is no longer needed is deleted; 0: never. */
  readonly retention!: RetentionSettings;
  readonly syncIntervalMs!: number;
  /** Whose `X-Forwarded-For` is believed. */
  readonly trustedProxies!: TrustedProxies;
  readonly requestLimits!: RequestLimitSettings;
  readonly quotas!: Quotas;
  /** The bearer token of /metrics. Null: open, like the health endpoints. */
  readonly metricsToken!: string | null;
  readonly alerts!: ReportSettings['alerts'];
  readonly anchors!: ReportSettings['anchors'];
  /** Null: people sign in with a password and a code alone. */
  readonly sso!: SsoSettings | null;
}

/** An empty value means the same as a missing one. Throws SettingsError. */
export function parseSettings<Schema extends z.ZodObject>(
  schema: Schema,
  environment: NodeJS.ProcessEnv,
): z.output<Schema> {
  const problems: string[] = [];
  const given: Record<string, string> = {};
  for (const name of Object.keys(schema.shape))
    try {
      const value = readSetting(name, environment);
      if (value) given[name] = value;
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      problems.push(...error.problems);
    }
  const parsed = schema.safeParse(given);
  if (!parsed.success) problems.push(...parsed.error.issues.map(({ message }) => message));
  if (problems.length > 0 || !parsed.success) throw new SettingsError([...new Set(problems)]);
  return parsed.data;
}

/** The settings of `concilia migrate`, which needs no bank and no key. Throws SettingsError. */
export function loadMigrationSettings(environment: NodeJS.ProcessEnv) {
  const values = parseSettings(migrationSettings, environment);
  if (!values.DATABASE_URL)
    throw new SettingsError([
      'DATABASE_URL is missing: the embedded PostgreSQL is migrated when the service starts.',
    ]);
  return {
    databaseUrl: values.DIRECT_DATABASE_URL ?? values.DATABASE_URL,
    redisUrl: values.REDIS_URL ?? null,
    dataDir: values.DATA_DIR,
    waitMs: values.MIGRATION_WAIT_MS,
  };
}

/** The settings of `concilia reencrypt`, which needs no bank. Throws SettingsError. */
export function loadReencryptionSettings(environment: NodeJS.ProcessEnv) {
  const values = parseSettings(reencryptionSettings, environment);
  const isSandbox =
    (values.BANK_PROFILE?.name ?? (values.BANK_BASE_URL || 'sandbox')) === 'sandbox';
  const byDefault = isSandbox ? developmentValues.CREDENTIALS_KEY : undefined;
  const credentialsKey = values.CREDENTIALS_KEY ?? byDefault;
  if (!credentialsKey) throw new SettingsError(['CREDENTIALS_KEY is missing.']);
  return {
    databaseUrl: values.DATABASE_URL ?? null,
    dataDir: values.DATA_DIR,
    credentialsKey,
    otherCredentialsKeys: values.CREDENTIALS_OTHER_KEYS ?? [],
  };
}

/** The settings of `concilia restored`, `verify` and `erase`: no key. Throws SettingsError. */
export function loadProgramSettings(environment: NodeJS.ProcessEnv) {
  const values = parseSettings(programSettings, environment);
  const profile = values.BANK_PROFILE?.name ?? (values.BANK_BASE_URL ? 'generic' : 'sandbox');
  const habits = values.BANK_PROFILE?.habits ?? null;
  return {
    databaseUrl: values.DATABASE_URL ?? null,
    dataDir: values.DATA_DIR,
    bank: { profile, habits, visibilityBoundMs: values.BANK_VISIBILITY_BOUND_MS ?? null } as const,
  };
}

/** Checks every setting. Throws SettingsError. */
export function loadSettings(environment: NodeJS.ProcessEnv): Settings {
  const values = parseSettings(settingsObject, environment);
  const problems: string[] = [];
  const profile = values.BANK_PROFILE?.name ?? (values.BANK_BASE_URL ? undefined : 'sandbox');
  if (!profile)
    problems.push(
      `BANK_PROFILE must be set with BANK_BASE_URL, to one of ${bankProfileNames.join(', ')}.`,
    );
  if (profile !== 'sandbox' && !values.BANK_BASE_URL)
    problems.push(
      'BANK_BASE_URL is missing: BANK_PROFILE names a bank that this process does not start.',
    );

  const keyOf = (name: keyof typeof developmentValues): string => {
    const value = values[name];
    if (profile === 'sandbox') return value ?? developmentValues[name];
    if (value === undefined) problems.push(`${name} is missing.`);
    else if (value === developmentValues[name])
      problems.push(`${name} must not be the development value: only the sandbox bank accepts it.`);
    return value ?? '';
  };
  const settings: Settings = {
    ...{ host: values.HOST, port: values.PORT, sandboxPort: values.SANDBOX_PORT },
    sandboxPreset: values.SANDBOX_PRESET,
    sandboxHabits: values.SANDBOX_PROFILE?.habits ?? null,
    apiKeyHeaders: values.API_KEY_HEADERS ?? [],
    publicUrl: values.PUBLIC_URL ?? null,
    databaseUrl: values.DATABASE_URL ?? null,
    directDatabaseUrl: values.DIRECT_DATABASE_URL ?? null,
    sandboxDatabaseUrl: values.SANDBOX_DATABASE_URL ?? null,
    databaseLimits: databaseLimits(values),
    migrations: { isOnStart: values.MIGRATE_ON_START, waitMs: values.MIGRATION_WAIT_MS },
    redisUrl: values.REDIS_URL ?? null,
    shutdownDelayMs: values.SHUTDOWN_DELAY_MS ?? (profile === 'sandbox' ? 0 : 5_000),
    log: { level: values.LOG_LEVEL, hasAccess: values.ACCESS_LOG },
    traces: traceSettings(values),
    dataDir: values.DATA_DIR,
    roles: values.ROLES ?? roles.filter((role) => role !== 'sandbox' || !values.BANK_BASE_URL),
    bank: {
      ...bankSettings(values),
      profile: profile ?? 'generic',
      apiKey: keyOf('BANK_API_KEY'),
      partnerKey: keyOf('BANK_PARTNER_KEY'),
    },
    possibleDuplicates: {
      policy: values.POSSIBLE_DUPLICATES,
      windowMinutes: values.POSSIBLE_DUPLICATE_WINDOW_MINUTES,
    },
    keys: {
      api: keyOf('CONCILIA_API_KEY'),
      partner: keyOf('CONCILIA_PARTNER_KEY'),
      admin: keyOf('CONCILIA_ADMIN_KEY'),
    },
    credentialsKey: keyOf('CREDENTIALS_KEY'),
    otherCredentialsKeys: values.CREDENTIALS_OTHER_KEYS ?? [],
    disabledEndpointHours: values.DISABLED_ENDPOINT_HOURS,
    endpointsPerAccount: values.ENDPOINTS_PER_ACCOUNT,
    retention: readRetention(values),
    syncIntervalMs: values.SYNC_INTERVAL_MS ?? (profile === 'sandbox' ? 5_000 : 60_000),
    ...readRequestLimits(values),
    ...{ metricsToken: values.METRICS_TOKEN ?? null, ...readReports(values) },
    sso: readSso(values, profile === 'sandbox', problems),
  };
  for (const [one, other] of pairs)
    if ((values[one] === undefined) !== (values[other] === undefined))
      problems.push(`${one} and ${other} must be set together.`);
  problems.push(...contradictions(settings));
  if (problems.length > 0) throw new SettingsError(problems);
  return settings;
}

const pairs = [
  ['BANK_ACCOUNT_HEADER', 'BANK_ACCOUNT_ID'],
  ['BANK_CLIENT_CERTIFICATE_FILE', 'BANK_CLIENT_KEY_FILE'],
  ['SMTP_URL', 'ALERT_FROM'],
] as const;

/** The limits of the service's connections to PostgreSQL. */
export type DatabaseLimits = ReturnType<typeof databaseLimits>;

function databaseLimits(values: SettingValues) {
  return {
    /** Connections that the modules of one process share. */
    poolSize: values.DATABASE_POOL_SIZE,
    /** Connections of one process to the queue in PostgreSQL. */
    queuePoolSize: values.QUEUE_POOL_SIZE,
    /** How long a query waits for a connection. */
    connectTimeoutMs: values.DATABASE_CONNECT_TIMEOUT_MS,
    statementTimeoutMs: values.DATABASE_STATEMENT_TIMEOUT_MS,
    transactionTimeoutMs: values.DATABASE_TRANSACTION_TIMEOUT_MS,
  };
}

export const defaultDatabaseLimits = databaseLimits(settingsObject.parse({}));

function traceSettings(values: SettingValues): TraceSettings | null {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers = {} } =
    values;
  return endpoint ? { endpoint, headers } : null;
}

/** The settings of the bank, without the keys that have development values. */
function bankSettings(
  values: SettingValues,
): Omit<Settings['bank'], 'profile' | 'apiKey' | 'partnerKey'> {
  const { BANK_ACCOUNT_HEADER: name, BANK_ACCOUNT_ID: value } = values;
  const habits = values.BANK_PROFILE?.habits ?? null;
  return {
    habits,
    baseUrl: values.BANK_BASE_URL ?? null,
    whitelabelUrl: values.BANK_WHITELABEL_URL ?? values.BANK_BASE_URL ?? null,
    apiKeyHeader: values.BANK_API_KEY_HEADER,
    partnerKeyHeader: values.BANK_PARTNER_KEY_HEADER,
    accountHeader: name && value ? { name, value } : null,
    accountMode: values.BANK_ACCOUNT_MODE,
    clientCertificateFile: values.BANK_CLIENT_CERTIFICATE_FILE ?? null,
    clientKeyFile: values.BANK_CLIENT_KEY_FILE ?? null,
    caFile: values.BANK_CA_FILE ?? null,
    webhookSecret: values.BANK_WEBHOOK_SECRET ?? null,
    isRepeatSafe: values.BANK_REPEAT_SAFE ?? null,
    hasStatusById: values.BANK_STATUS_BY_ID ?? null,
    visibilityBoundMs: values.BANK_VISIBILITY_BOUND_MS ?? null,
    rateLimitPerSecond:
      values.BANK_RATE_LIMIT_PER_SECOND ?? (habits && knownOr(habits.ratePerSecond, null)),
  };
}

function contradictions(settings: Settings): string[] {
  const problems: string[] = [];
  const serviceRoles = roles.filter((role) => role !== 'sandbox');
  const chosen = serviceRoles.filter((role) => settings.roles.includes(role));
  const isSplit = chosen.length > 0 && chosen.length < serviceRoles.length;
  if (isSplit && !settings.databaseUrl)
    problems.push(
      'DATABASE_URL is missing: ROLES splits the service, and its processes share one database.',
    );
  if (chosen.length > 0 && !settings.databaseUrl && !settings.migrations.isOnStart)
    problems.push('MIGRATE_ON_START must be true: only a start migrates the embedded PostgreSQL.');
  if (chosen.length > 0 && !settings.bank.baseUrl && !settings.roles.includes('sandbox'))
    problems.push('BANK_BASE_URL is missing, and ROLES does not include sandbox.');
  if (isSplit && !settings.publicUrl)
    problems.push(
      'PUBLIC_URL is missing: ROLES splits the service, and bank webhooks go to the api process.',
    );
  else if (settings.bank.profile !== 'sandbox' && !settings.publicUrl)
    problems.push('PUBLIC_URL is missing: the bank sends its webhooks there.');
  if (settings.directDatabaseUrl && !settings.databaseUrl)
    problems.push('DATABASE_URL is missing: DIRECT_DATABASE_URL is another way to its database.');
  if (settings.port !== 0 && settings.port === settings.sandboxPort)
    problems.push('PORT and SANDBOX_PORT must differ.');
  const keys = Object.values(settings.keys).filter((key) => key !== '');
  if (new Set(keys).size < keys.length)
    problems.push('CONCILIA_API_KEY, CONCILIA_PARTNER_KEY and CONCILIA_ADMIN_KEY must differ.');
  return problems;
}
