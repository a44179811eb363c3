// Opens the service's database for the operator's commands: DATABASE_URL, or the embedded
// PostgreSQL under DATA_DIR. The embedded one is started unless it runs; its last user stops it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { prepare, StepFailed } from './prepare.mjs';

/** Runs `work` on the database, after a build where one is needed. */
export async function withDatabase(work) {
  await prepare();
  await import('reflect-metadata');
  const { createPool, Database } = await import('../dist/database.service.js');
  const opened = await open();
  const database = new Database(createPool(opened.url, () => undefined));
  try {
    return await work(database);
  } finally {
    await database.close();
    await opened.close();
  }
}

async function open() {
  const { readEnvironment, settingSchemas } = await import('../dist/config.js');
  const environment = readEnvironment();
  const setting = (name) => {
    const parsed = settingSchemas[name].safeParse(environment[name]?.trim() || undefined);
    if (parsed.success) return parsed.data;
    throw new StepFailed(parsed.error.issues.map(({ message }) => message).join('\n'));
  };
  const url = setting('DATABASE_URL');
  if (url) return { url, close: async () => undefined };
  const dataDir = join(setting('DATA_DIR'), 'postgres');
  if (!existsSync(dataDir))
    throw new StepFailed(
      `There is no database in ${dataDir}. Set DATA_DIR or DATABASE_URL to the service's database.`,
    );
  const { startEmbeddedPostgres } = await import('../dist/platform/embedded-postgres.js');
  const embedded = await startEmbeddedPostgres({ dataDir, log: () => undefined });
  return { url: embedded.url('concilia'), close: () => embedded.stop() };
}
