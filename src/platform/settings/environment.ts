// The environment together with the `.env` file; no other file of src reads the environment.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';

/** Invalid settings: the message has one line for each. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  constructor(readonly problems: string[]) {
    super(`Invalid settings:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
  }
}

/** Empty, a comment, or NAME=value. A quoted value ends on its line: no setting spans lines. */
const environmentFileLine =
  /^\s*(#.*|(export\s+)?[a-z_]\w*\s*=\s*("[^"]*"|'[^']*'|`[^`]*`|[^"'`\s].*)?\s*(#.*)?)?$/i;

/**
 * The environment together with the `.env` file of the working directory, where that file exists. A
 * variable of the environment wins over the file. Throws SettingsError for an invalid file.
 */
export function readEnvironment(path = '.env'): NodeJS.ProcessEnv {
  return { ...readEnvironmentFile(path), ...process.env };
}

/**
 * Whether money may be real, or the image runs. It is known before any setting is read, and where
 * one is wrong.
 */
export function isProduction(): boolean {
  let environment = process.env;
  try {
    environment = readEnvironment();
  } catch (error) {
    // Whoever reads the settings reports it.
    if (!(error instanceof SettingsError)) throw error;
  }
  const { NODE_ENV, BANK_PROFILE, BANK_BASE_URL } = environment;
  return NODE_ENV === 'production' || (BANK_PROFILE || (BANK_BASE_URL ?? 'sandbox')) !== 'sandbox';
}

/** With a secret, maybe the password of a URL: NAME_FILE names a file with the value of NAME. */
export const secretSettings: readonly string[] = [
  ...['DATABASE_URL', 'DIRECT_DATABASE_URL', 'SANDBOX_DATABASE_URL', 'REDIS_URL', 'SMTP_URL'],
  ...['BANK_API_KEY', 'BANK_PARTNER_KEY', 'BANK_ACCOUNT_ID', 'BANK_WEBHOOK_SECRET'],
  ...['CONCILIA_API_KEY', 'CONCILIA_PARTNER_KEY', 'CONCILIA_ADMIN_KEY'],
  ...['CREDENTIALS_KEY', 'CREDENTIALS_OTHER_KEYS', 'METRICS_TOKEN', 'OTEL_EXPORTER_OTLP_HEADERS'],
  'OIDC_CLIENT_SECRET',
];

/** The value of a setting, without surrounding spaces. Throws SettingsError, without the value. */
export function readSetting(name: string, environment: NodeJS.ProcessEnv): string | undefined {
  const value = environment[name]?.trim();
  const fileName = `${name}_FILE`;
  const path = secretSettings.includes(name) ? environment[fileName]?.trim() : undefined;
  if (!path) return value;
  if (value) throw new SettingsError([`${name} and ${fileName} must not both be set.`]);
  let content: string;
  try {
    content = readFileSync(path, 'utf8').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new SettingsError([`${fileName} must name a readable file (${code}).`]);
  }
  if (content === '') throw new SettingsError([`${fileName} names an empty file.`]);
  return content;
}

function readEnvironmentFile(path: string): NodeJS.ProcessEnv {
  let content: string;
  try {
    content = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return {};
    throw new SettingsError([`${resolve(path)} must be a readable file (${code}).`]);
  }
  // Node's parser skips what it does not understand, so that a typing error would go unnoticed.
  const index = content.split(/\r?\n/).findIndex((line) => !environmentFileLine.test(line));
  // The line itself is not shown: it may hold a secret.
  if (index !== -1)
    throw new SettingsError([
      `${resolve(path)}, line ${index + 1}: must be NAME=value, a comment after #, or empty.`,
    ]);
  return parseEnv(content) as NodeJS.ProcessEnv;
}
