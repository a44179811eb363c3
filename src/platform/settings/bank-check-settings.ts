// The settings of `concilia bank-check`, which needs the address of a bank and its key alone.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { parseSettings, settingSchemas } from './config.js';
import { SettingsError } from './environment.js';

const bankCheckSettings = z.object({
  BANK_BASE_URL: settingSchemas.BANK_BASE_URL,
  BANK_API_KEY: settingSchemas.BANK_API_KEY,
  BANK_API_KEY_HEADER: settingSchemas.BANK_API_KEY_HEADER,
  BANK_ACCOUNT_HEADER: settingSchemas.BANK_ACCOUNT_HEADER,
  BANK_ACCOUNT_ID: settingSchemas.BANK_ACCOUNT_ID,
  BANK_CLIENT_CERTIFICATE_FILE: settingSchemas.BANK_CLIENT_CERTIFICATE_FILE,
  BANK_CLIENT_KEY_FILE: settingSchemas.BANK_CLIENT_KEY_FILE,
  BANK_CA_FILE: settingSchemas.BANK_CA_FILE,
});

/** Throws SettingsError. */
export function loadBankCheckSettings(environment: NodeJS.ProcessEnv) {
  const values = parseSettings(bankCheckSettings, environment);
  const { BANK_BASE_URL: baseUrl, BANK_API_KEY: apiKey } = values;
  const { BANK_ACCOUNT_HEADER: name, BANK_ACCOUNT_ID: value } = values;
  if (!baseUrl || !apiKey)
    throw new SettingsError([
      'BANK_BASE_URL and BANK_API_KEY must be set: they name the test environment of the bank.',
    ]);
  return {
    baseUrl,
    /** Of each request: the key, and the account where the bank requires it. */
    headers: {
      [values.BANK_API_KEY_HEADER]: apiKey,
      ...(name && value ? { [name]: value } : {}),
    },
    tls: {
      certificate: readPem('BANK_CLIENT_CERTIFICATE_FILE', values.BANK_CLIENT_CERTIFICATE_FILE),
      key: readPem('BANK_CLIENT_KEY_FILE', values.BANK_CLIENT_KEY_FILE),
      ca: readPem('BANK_CA_FILE', values.BANK_CA_FILE),
    },
  };
}

function readPem(name: string, path: string | undefined): string | null {
  if (path === undefined) return null;
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new SettingsError([`${name} must name a readable file (${code}).`]);
  }
}
