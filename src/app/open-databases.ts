// Opens the databases of a process: those of the settings, or databases of the embedded PostgreSQL.
// It imports little, so that PostgreSQL starts while the modules of the service are still loaded.
import { join } from 'node:path';
import type { Role, Settings } from '../platform/settings/config.js';
import { exitWith } from './exit.js';
import { startEmbeddedPostgres } from '../platform/embedded-postgres/embedded-postgres.js';

/** The URLs of both databases. A database that no role needs may be missing: its URL is empty. */
export interface OpenDatabases {
  service: string;
  sandbox: string;
  /** Stops the embedded PostgreSQL, if this process was the last to use it. */
  close(): Promise<void>;
}

export function serviceRoles({ roles }: Settings): Role[] {
  return roles.filter((role) => role !== 'sandbox');
}

/** `onLaunch` is called when the embedded PostgreSQL starts: it is ready some moments later. */
export async function openDatabases(
  settings: Settings,
  progress: (message: string) => void,
  onLaunch?: () => void,
): Promise<OpenDatabases> {
  const isServiceEmbedded = serviceRoles(settings).length > 0 && !settings.databaseUrl;
  const isSandboxEmbedded = settings.roles.includes('sandbox') && !settings.sandboxDatabaseUrl;
  const urls = { service: settings.databaseUrl ?? '', sandbox: settings.sandboxDatabaseUrl ?? '' };
  if (!isServiceEmbedded && !isSandboxEmbedded) return { ...urls, close: async () => undefined };
  const dataDir = join(settings.dataDir, 'postgres');
  const embedded = await startEmbeddedPostgres({
    ...{ dataDir, log: progress, onLaunch },
    // Whoever runs the process starts it again: without a database it serves nobody.
    onLost: exitWith,
  });
  const databaseUrl = async (name: string) => {
    await embedded.ensureDatabase(name);
    return embedded.url(name);
  };
  try {
    if (isServiceEmbedded) urls.service = await databaseUrl('concilia');
    if (isSandboxEmbedded) urls.sandbox = await databaseUrl('concilia_sandbox');
    return { ...urls, close: () => embedded.stop() };
  } catch (error) {
    await embedded.stop();
    throw error;
  }
}
