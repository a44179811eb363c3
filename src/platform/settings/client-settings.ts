// The settings of commands that call the running service, as its other clients do.
import { z } from 'zod';
import { developmentValues, parseSettings, settingSchemas } from './config.js';

const { HOST, PORT, BANK_BASE_URL } = settingSchemas;
const { CONCILIA_API_KEY, CONCILIA_ADMIN_KEY } = settingSchemas;
const clientSettings = z.object({
  ...{ HOST, PORT, BANK_BASE_URL, CONCILIA_API_KEY, CONCILIA_ADMIN_KEY },
});

export interface ClientSettings {
  /** The service on this machine. */
  url: string;
  /** Null where neither the settings nor the development have it. */
  keys: { api: string | null; admin: string | null };
}

/** Throws SettingsError. */
export function loadClientSettings(environment: NodeJS.ProcessEnv): ClientSettings {
  const values = parseSettings(clientSettings, environment);
  const isDevelopment = !values.BANK_BASE_URL;
  const keyOf = (name: 'CONCILIA_API_KEY' | 'CONCILIA_ADMIN_KEY') =>
    values[name] ?? (isDevelopment ? developmentValues[name] : null);
  const host = ['0.0.0.0', '::'].includes(values.HOST) ? '127.0.0.1' : values.HOST;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${values.PORT}`,
    keys: { api: keyOf('CONCILIA_API_KEY'), admin: keyOf('CONCILIA_ADMIN_KEY') },
  };
}
