// The settings, read from the environment once at boot and nowhere else. Every wrong one is told, together.
import { resolve } from 'node:path';
import { z } from 'zod';

export const roles = ['api', 'worker', 'scheduler', 'sandbox'] as const;
export type Role = (typeof roles)[number];

/** Banks whose differences are known; `generic` is a real bank of which nothing beyond the contract is assumed. */
export const bankProfileNames = ['sandbox', 'generic'] as const;
export type BankProfileName = (typeof bankProfileNames)[number];

/** What is done about a request that looks like a settled one of a moment ago. */
export const duplicatePolicies = ['off', 'warn', 'refuse'] as const;
export type DuplicatePolicy = (typeof duplicatePolicies)[number];

/** Keys for development: they apply when nothing is set and the bank is the sandbox, and are refused elsewhere. */
export const developmentValues = {
  CONCILIA_API_KEY: 'concilia-dev-key',
  CONCILIA_PARTNER_KEY: 'concilia-dev-partner',
  CONCILIA_ADMIN_KEY: 'concilia-dev-admin',
  BANK_API_KEY: 'sandbox-dev-key',
  BANK_PARTNER_KEY: 'sandbox-dev-partner',
  CREDENTIALS_KEY: 'concilia-dev-credentials-key-0000',
} as const;

const port = (name: string) =>
  z
    .string()
    .regex(/^\d{1,5}$/, `${name} must be a port number from 0 to 65535.`)
    .transform(Number)
    .refine((value) => value <= 65_535, `${name} must be a port number from 0 to 65535.`);

const httpUrl = (name: string) =>
  z
    .string()
    .refine(
      (value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
      `${name} must be an http or https URL.`,
    )
    .transform((value) => value.replace(/\/+$/, ''));

const urlOf = (name: string, protocols: RegExp, example: string) =>
  z
    .string()
    .refine(
      (value) => URL.canParse(value) && protocols.test(new URL(value).protocol),
      `${name} must be a URL such as ${example}.`,
    );

const postgresUrl = (name: string) =>
  urlOf(name, /^postgres(ql)?:$/, 'postgresql://user:password@host:5432/database');

/** Headers by which requests are framed, routed and told apart: no key may stand in them. */
const takenHeaders =
  /^(host|connection|content-.*|expect|transfer-encoding|te|trailer|upgrade|keep-alive|accept|idempotencykey)$/i;

/** Whether a key may be carried by this header. */
export const isFreeHeader = (name: string): boolean => !takenHeaders.test(name);

const headerName = (name: string) =>
  z
    .string()
    .regex(/^[a-z0-9-]{1,60}$/i, `${name} must be an HTTP header's name.`)
    .refine(
      isFreeHeader,
      `${name} must be an HTTP header's name, not one that requests have of their own.`,
    )
    .transform((value) => value.toLowerCase());

const secret = (name: string, minLength: number) =>
  z
    .string()
    .regex(/^[\x21-\x7e]+$/, `${name} must be printable characters without spaces.`)
    .min(minLength, `${name} must have at least ${minLength} characters.`);

const yesOrNo = (name: string) =>
  z
    .enum(['true', 'false'], `${name} must be true or false.`)
    .transform((value) => value === 'true');

const count = (name: string, minimum: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `${name} must be a whole number, at least ${minimum}.`)
    .transform(Number)
    .refine((value) => value >= minimum, `${name} must be a whole number, at least ${minimum}.`);

/** Each setting by its name; a test holds this list and `.env.example` equal. */
export const settingSchemas = {
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: port('PORT').default(3000),
  SANDBOX_PORT: port('SANDBOX_PORT').default(3900),
  PUBLIC_URL: httpUrl('PUBLIC_URL').optional(),
  DATABASE_URL: postgresUrl('DATABASE_URL').optional(),
  SANDBOX_DATABASE_URL: postgresUrl('SANDBOX_DATABASE_URL').optional(),
  REDIS_URL: urlOf('REDIS_URL', /^rediss?:$/, 'redis://127.0.0.1:6379/0').optional(),
  DATA_DIR: z
    .string()
    .default('.data')
    .transform((value) => resolve(value)),
  ROLES: z
    .string()
    .transform((value) => value.split(',').map((role) => role.trim()))
    .pipe(z.array(z.enum(roles, `ROLES must be a comma list of ${roles.join(', ')}.`)))
    .optional(),
  BANK_PROFILE: z
    .enum(bankProfileNames, `BANK_PROFILE must be one of ${bankProfileNames.join(', ')}.`)
    .optional(),
  BANK_BASE_URL: httpUrl('BANK_BASE_URL').optional(),
  BANK_WHITELABEL_URL: httpUrl('BANK_WHITELABEL_URL').optional(),
  BANK_API_KEY: secret('BANK_API_KEY', 8).optional(),
  BANK_PARTNER_KEY: secret('BANK_PARTNER_KEY', 8).optional(),
  BANK_API_KEY_HEADER: headerName('BANK_API_KEY_HEADER').default('x-service-api-key'),
  BANK_PARTNER_KEY_HEADER: headerName('BANK_PARTNER_KEY_HEADER').default('x-service-partner-key'),
  BANK_ACCOUNT_HEADER: headerName('BANK_ACCOUNT_HEADER').optional(),
  BANK_ACCOUNT_ID: secret('BANK_ACCOUNT_ID', 1).optional(),
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
  CONCILIA_API_KEY: secret('CONCILIA_API_KEY', 8).optional(),
  CONCILIA_PARTNER_KEY: secret('CONCILIA_PARTNER_KEY', 8).optional(),
  CONCILIA_ADMIN_KEY: secret('CONCILIA_ADMIN_KEY', 8).optional(),
  CREDENTIALS_KEY: secret('CREDENTIALS_KEY', 32).optional(),
  SYNC_INTERVAL_MS: z
    .string()
    .regex(/^\d{3,8}$/, 'SYNC_INTERVAL_MS must be a number of milliseconds, at least 100.')
    .transform(Number)
    .optional(),
} as const;

export type SettingName = keyof typeof settingSchemas;
const settingsObject = z.object(settingSchemas);
type SettingValues = z.output<typeof settingsObject>;

/** The settings as the service uses them; the class is what they are injected by. */
export abstract class Settings {
  readonly host!: string;
  readonly port!: number;
  readonly sandboxPort!: number;
  /** Null: our loopback address, known once the service listens. */
  readonly publicUrl!: string | null;
  /** Null: the embedded PostgreSQL under `dataDir`. */
  readonly databaseUrl!: string | null;
  readonly sandboxDatabaseUrl!: string | null;
  /** Null: BullMQ's PostgreSQL backend. */
  readonly redisUrl!: string | null;
  readonly dataDir!: string;
  readonly roles!: readonly Role[];
  readonly bank!: {
    profile: BankProfileName;
    /** Null: the sandbox bank of this process. */
    baseUrl: string | null;
    whitelabelUrl: string | null;
    apiKey: string;
    partnerKey: string;
    apiKeyHeader: string;
    partnerKeyHeader: string;
    /** A header that names the account at the bank, and what it says; null where the bank asks for none. */
    accountHeader: { name: string; value: string } | null;
    /** Files in PEM form by which the service proves itself to the bank (mTLS); null where it need not. */
    clientCertificateFile: string | null;
    clientKeyFile: string | null;
    /** The bank's own authority; null: those that Node.js knows. */
    caFile: string | null;
    /** Null: derived from the credentials key, one for each account. */
    webhookSecret: string | null;
    /** Null: as the profile says. */
    isRepeatSafe: boolean | null;
    hasStatusById: boolean | null;
    visibilityBoundMs: number | null;
    rateLimitPerSecond: number | null;
  };
  readonly possibleDuplicates!: { policy: DuplicatePolicy; windowMinutes: number };
  readonly keys!: { api: string; partner: string; admin: string };
  readonly credentialsKey!: string;
  readonly syncIntervalMs!: number;
}

/** Settings that cannot be started with; the message has a line for each. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  constructor(readonly problems: string[]) {
    super(`The settings are wrong:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
  }
}

/** Reads and checks every setting. An empty value means what a missing one means. Throws SettingsError. */
export function loadSettings(environment: NodeJS.ProcessEnv = process.env): Settings {
  const given = Object.fromEntries(
    Object.keys(settingSchemas)
      .map((name) => [name, environment[name]?.trim()] as const)
      .filter(([, value]) => value),
  );
  const parsed = settingsObject.safeParse(given);
  if (!parsed.success)
    throw new SettingsError([...new Set(parsed.error.issues.map(({ message }) => message))]);
  const values = parsed.data;
  const problems: string[] = [];

  const profile = values.BANK_PROFILE ?? (values.BANK_BASE_URL ? undefined : 'sandbox');
  if (!profile) problems.push('BANK_PROFILE must say which bank stands at BANK_BASE_URL.');
  if (profile !== 'sandbox' && !values.BANK_BASE_URL)
    problems.push('BANK_BASE_URL is missing: only the sandbox bank is started by itself.');

  const keyed = (name: keyof typeof developmentValues): string => {
    const value = values[name];
    if (profile === 'sandbox') return value ?? developmentValues[name];
    if (value === undefined) problems.push(`${name} is missing.`);
    else if (value === developmentValues[name])
      problems.push(`${name} is the development value: it serves with the sandbox bank only.`);
    return value ?? '';
  };
  const settings: Settings = {
    host: values.HOST,
    port: values.PORT,
    sandboxPort: values.SANDBOX_PORT,
    publicUrl: values.PUBLIC_URL ?? null,
    databaseUrl: values.DATABASE_URL ?? null,
    sandboxDatabaseUrl: values.SANDBOX_DATABASE_URL ?? null,
    redisUrl: values.REDIS_URL ?? null,
    dataDir: values.DATA_DIR,
    roles: values.ROLES ?? roles.filter((role) => role !== 'sandbox' || !values.BANK_BASE_URL),
    bank: {
      ...bankFacts(values),
      profile: profile ?? 'generic',
      apiKey: keyed('BANK_API_KEY'),
      partnerKey: keyed('BANK_PARTNER_KEY'),
    },
    possibleDuplicates: {
      policy: values.POSSIBLE_DUPLICATES,
      windowMinutes: values.POSSIBLE_DUPLICATE_WINDOW_MINUTES,
    },
    keys: {
      api: keyed('CONCILIA_API_KEY'),
      partner: keyed('CONCILIA_PARTNER_KEY'),
      admin: keyed('CONCILIA_ADMIN_KEY'),
    },
    credentialsKey: keyed('CREDENTIALS_KEY'),
    syncIntervalMs: values.SYNC_INTERVAL_MS ?? (profile === 'sandbox' ? 5_000 : 60_000),
  };
  if (Boolean(values.BANK_ACCOUNT_HEADER) !== Boolean(values.BANK_ACCOUNT_ID))
    problems.push('BANK_ACCOUNT_HEADER and BANK_ACCOUNT_ID go together.');
  if (Boolean(values.BANK_CLIENT_CERTIFICATE_FILE) !== Boolean(values.BANK_CLIENT_KEY_FILE))
    problems.push('BANK_CLIENT_CERTIFICATE_FILE and BANK_CLIENT_KEY_FILE go together.');
  problems.push(...contradictions(settings));
  if (problems.length > 0) throw new SettingsError(problems);
  return settings;
}

/** What is told of the bank, but for the keys that development values stand in for. */
function bankFacts(
  values: SettingValues,
): Omit<Settings['bank'], 'profile' | 'apiKey' | 'partnerKey'> {
  const { BANK_ACCOUNT_HEADER: name, BANK_ACCOUNT_ID: value } = values;
  return {
    baseUrl: values.BANK_BASE_URL ?? null,
    whitelabelUrl: values.BANK_WHITELABEL_URL ?? values.BANK_BASE_URL ?? null,
    apiKeyHeader: values.BANK_API_KEY_HEADER,
    partnerKeyHeader: values.BANK_PARTNER_KEY_HEADER,
    accountHeader: name && value ? { name, value } : null,
    clientCertificateFile: values.BANK_CLIENT_CERTIFICATE_FILE ?? null,
    clientKeyFile: values.BANK_CLIENT_KEY_FILE ?? null,
    caFile: values.BANK_CA_FILE ?? null,
    webhookSecret: values.BANK_WEBHOOK_SECRET ?? null,
    isRepeatSafe: values.BANK_REPEAT_SAFE ?? null,
    hasStatusById: values.BANK_STATUS_BY_ID ?? null,
    visibilityBoundMs: values.BANK_VISIBILITY_BOUND_MS ?? null,
    rateLimitPerSecond: values.BANK_RATE_LIMIT_PER_SECOND ?? null,
  };
}

function contradictions({ roles: chosen, ...settings }: Settings): string[] {
  const problems: string[] = [];
  const serviceRoles = roles.filter((role) => role !== 'sandbox');
  const served = serviceRoles.filter((role) => chosen.includes(role));
  if (!settings.databaseUrl && served.length > 0 && served.length < serviceRoles.length)
    problems.push('ROLES splits the service into processes: they need a DATABASE_URL to share.');
  if (served.length > 0 && !settings.bank.baseUrl && !chosen.includes('sandbox'))
    problems.push('BANK_BASE_URL is missing, and ROLES leaves out the sandbox bank.');
  if (served.length > 0 && served.length < serviceRoles.length && !settings.publicUrl)
    problems.push('PUBLIC_URL is missing: a process apart cannot know where the others listen.');
  else if (settings.bank.profile !== 'sandbox' && !settings.publicUrl)
    problems.push('PUBLIC_URL is missing: the bank must know where its webhooks go.');
  if (settings.port !== 0 && settings.port === settings.sandboxPort)
    problems.push('PORT and SANDBOX_PORT are the same.');
  const keys = Object.values(settings.keys).filter((key) => key !== '');
  if (new Set(keys).size < keys.length)
    problems.push('CONCILIA_API_KEY, CONCILIA_PARTNER_KEY and CONCILIA_ADMIN_KEY must differ.');
  return problems;
}
