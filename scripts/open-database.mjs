// Opens the service's database for the operator's commands that are scripts: DATABASE_URL, or the
// embedded PostgreSQL under DATA_DIR.
import { prepare, StepFailed } from './prepare.mjs';

/** Runs `work` on the database, after a build where one is needed. */
export async function withDatabase(work) {
  await prepare();
  await import('reflect-metadata');
  const { withProgramDatabase } = await import('../dist/app/program-database.js');
  const { plainMessageOf } = await import('../dist/app/exit.js');
  const location = await readLocation();
  try {
    return await withProgramDatabase(location, work);
  } catch (error) {
    const message = plainMessageOf(error);
    throw message === null ? error : new StepFailed(message);
  }
}

async function readLocation() {
  const { readEnvironment, settingSchemas } = await import('../dist/platform/settings/config.js');
  const environment = readEnvironment();
  const setting = (name) => {
    const parsed = settingSchemas[name].safeParse(environment[name]?.trim() || undefined);
    if (parsed.success) return parsed.data;
    throw new StepFailed(parsed.error.issues.map(({ message }) => message).join('\n'));
  };
  return { databaseUrl: setting('DATABASE_URL') ?? null, dataDir: setting('DATA_DIR') };
}
