// The service's database for the operator's commands: DATABASE_URL, or the embedded PostgreSQL of DATA_DIR, which is
// started where it does not run, joined where the service runs it, and ended by whoever leaves it last.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { prepare, StepFailed } from './prepare.mjs';

/** Builds what is not built, and runs `work` on the database. */
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
  const { settingSchemas } = await import('../dist/config.js');
  const given = (name) => settingSchemas[name].parse(process.env[name]?.trim() || undefined);
  const url = given('DATABASE_URL');
  if (url) return { url, close: async () => undefined };
  const dataDir = join(given('DATA_DIR'), 'postgres');
  if (!existsSync(dataDir))
    throw new StepFailed(`There is no database in ${dataDir}: set DATA_DIR or DATABASE_URL.`);
  const { startEmbeddedPostgres } = await import('../dist/platform/embedded-postgres.js');
  const embedded = await startEmbeddedPostgres({ dataDir, log: () => undefined });
  return { url: embedded.url('concilia'), close: () => embedded.stop() };
}
