// `npm run check:migrations`: runs the migrations of the service and of the sandbox on empty
// databases and compares the result with the Prisma schemas. A difference means that a fresh
// database and the generated client disagree.
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { StepFailed, endWith, prepare, preparedFolder, projectFolder, step } from './prepare.mjs';

const schemas = ['service', 'sandbox'];

async function main() {
  await prepare();
  const prisma = await findPrisma();
  if (!prisma) {
    console.log(
      '! Migrations not checked: Prisma could not download its engine. ' +
        'PRISMA_SCHEMA_ENGINE_BINARY may name an engine on this machine.',
    );
    return;
  }
  await withServer(async (server) => {
    for (const name of schemas)
      await step(`Migrations of ${name}`, () => compare(prisma, server, name));
  });
}

/** The command that runs Prisma with its engine; undefined where no engine is available. */
async function findPrisma() {
  const online = [process.execPath, join(projectFolder, 'node_modules/prisma/build/index.js')];
  if (process.env.PRISMA_SCHEMA_ENGINE_BINARY) return online;
  // Prisma downloads its engine from a host of its own, which may be out of reach.
  if (process.env.PRISMA_COMMAND) return [process.env.PRISMA_COMMAND];
  // `version` downloads the engine, and needs neither a schema nor a database.
  return (await run([...online, 'version'])).code === 0 ? online : undefined;
}

/** Runs `work` on an empty PostgreSQL, which is removed afterwards. */
async function withServer(work) {
  const launcher = join(projectFolder, 'dist/platform/embedded-postgres/embedded-postgres.js');
  const { startEmbeddedPostgres } = await import(pathToFileURL(launcher).href);
  const folder = await mkdtemp(join(tmpdir(), 'concilia-migrations-'));
  const server = await startEmbeddedPostgres({ dataDir: join(folder, 'data'), log: () => {} });
  try {
    await work(server);
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Prisma would run a migration in one transaction, in which no index is created concurrently. */
async function compare(prisma, server, name) {
  const [history, schema] = [`prisma/${name}/migrations`, `prisma/${name}`];
  await server.ensureDatabase(name);
  const url = server.url(name);
  const applier = join(projectFolder, 'dist/platform/postgres/migrations.js');
  const { applyMigrations } = await import(pathToFileURL(applier).href);
  await applyMigrations({ url, folder: join(projectFolder, history), log: () => {} });
  const config = await writeConfig(name, url);
  const { code, output } = await run([
    ...prisma,
    ...['migrate', 'diff', '--config', config],
    ...['--from-config-datasource', '--to-schema', schema, '--exit-code'],
  ]);
  await rm(config);
  if (code === 0) return;
  throw new StepFailed(
    code === 2
      ? `${history} and ${schema} differ; a migration is missing:\n${output}`
      : `prisma migrate diff failed (exit code ${code}):\n${output}`,
  );
}

/** The database is this check's own. */
async function writeConfig(name, url) {
  const path = join(preparedFolder, `check-migrations-${name}-${process.pid}.mjs`);
  const config = {
    schema: join(projectFolder, 'prisma', name),
    migrations: { path: join(projectFolder, 'prisma', name, 'migrations') },
    datasource: { url },
  };
  await mkdir(preparedFolder, { recursive: true });
  await writeFile(path, `export default ${JSON.stringify(config)};\n`);
  return path;
}

function run([program, ...argv]) {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, CHECKPOINT_DISABLE: '1', PRISMA_HIDE_UPDATE_MESSAGE: '1' };
    const child = spawn(program, argv, {
      cwd: projectFolder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = [];
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    child.once('error', reject);
    child.once('close', (code) =>
      resolve({ code, output: Buffer.concat(output).toString().trim() }),
    );
  });
}

await main().catch(endWith);
