// `npm run verify [-- --account main]`: recomputes the chain of certificates, and every line under it, from the database
// alone: DATABASE_URL, or the embedded PostgreSQL of DATA_DIR, also while the service runs. Ends with 1 at a difference.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { endWith, prepare, StepFailed } from './prepare.mjs';

const usage = 'npm run verify [-- --account SLUG]';

function readOptions() {
  try {
    return parseArgs({ options: { account: { type: 'string' }, help: { type: 'boolean' } } })
      .values;
  } catch (error) {
    throw new StepFailed(`${error.message}\n${usage}`);
  }
}

/** The service's database; what is embedded is started where it does not run, and ended by its last user. */
async function openDatabase() {
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

function tellAccount({ account, counts, difference }) {
  if (!difference) {
    const { lines, sealed, erased, days, certificates, waiting } = counts;
    const parts = [
      `${lines} lines`,
      `${sealed} of them in certificates`,
      ...(erased > 0 ? [`${erased} erased`] : []),
      ...(waiting > 0 ? [`${waiting} late, to be amended`] : []),
      `${days} days`,
      `${certificates} certificates`,
    ];
    return console.log(`OK  ${account}: ${parts.join(', ')}`);
  }
  const { date, nsu, field, certified, found } = difference;
  const where = [
    `account ${account}`,
    ...(date === null ? [] : [`day ${date}`]),
    ...(nsu === null ? [] : [`nsu ${nsu}`]),
  ];
  console.log(`DIFFERENCE  ${where.join(', ')}: ${field}`);
  console.log(`  should be  ${certified}\n  is         ${found}`);
}

async function main() {
  const options = readOptions();
  if (options.help) return console.log(usage);
  await prepare();
  await import('reflect-metadata');
  const { createPool, Database } = await import('../dist/database.service.js');
  const { Verifier } = await import('../dist/day-closes/verifier.service.js');
  const opened = await openDatabase();
  const database = new Database(createPool(opened.url, () => undefined));
  const startedAt = performance.now();
  try {
    const progress = process.stderr.isTTY
      ? (message) => process.stderr.write(`\r\x1b[K${message} …`)
      : () => undefined;
    const verified = await new Verifier(database, progress).verify(options.account);
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
    if (options.account && verified.length === 0)
      throw new StepFailed(`There is no account ${options.account}.`);
    verified.forEach(tellAccount);
    const isSame = verified.every(({ difference }) => difference === null);
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    console.log(`${isSame ? 'OK' : 'NOT OK'} (${seconds} s)`);
    if (!isSame) process.exitCode = 1;
  } finally {
    await database.close();
    await opened.close();
  }
}

await main().catch(endWith);
