// Runs before all tests. It starts one PostgreSQL that all test workers use through
// TEST_DATABASE_URL, unless that variable is set. It also writes the row types of the sources.
import { existsSync } from 'node:fs';
import {
  access,
  constants,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rm,
  statfs,
  writeFile,
} from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transformFile } from '@swc/core';
import pg from 'pg';
import { writeDeclaredRowTypes } from './row-types-file.mjs';

const projectFolder = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const prefix = 'concilia-tests-';

let starting;

/** Jest calls it for each project. The server is started once. */
export default function globalSetup() {
  starting ??= start();
  return starting;
}

async function start() {
  await writeDeclaredRowTypes();
  await startPostgres();
}

async function startPostgres() {
  const launcher = await translateLauncher();
  // For tests that start PostgreSQL in another process.
  process.env.TEST_LAUNCHER_URL = launcher.url;
  globalThis.stopTestPostgres = launcher.remove;
  if (process.env.TEST_DATABASE_URL) return;
  const { startEmbeddedPostgres } = await import(launcher.url);
  await removeAbandoned(startEmbeddedPostgres);
  const folder = await mkdtemp(join(await scratchFolder(), prefix));
  await writeFile(join(folder, 'owner'), String(process.pid));
  process.env.TMPDIR = join(folder, 'tmp'); // also for the data of processes that tests start
  await mkdir(process.env.TMPDIR);
  const server = await startEmbeddedPostgres({ dataDir: join(folder, 'data'), log: () => {} });
  process.env.TEST_DATABASE_URL = server.url('postgres');
  await disableSynchronousCommit(server.url('postgres'));
  globalThis.stopTestPostgres = async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
    await launcher.remove();
  };
}

const memoryFolder = '/dev/shm';
const spaceNeeded = 4 * 1024 ** 3; // bytes: many times the size of the tests' databases

/**
 * Each test creates and drops databases of hundreds of small files. In memory that takes a tenth of
 * the time, so memory is used if the machine has enough.
 */
async function scratchFolder() {
  if (process.platform !== 'linux' || freemem() < spaceNeeded) return tmpdir();
  try {
    await access(memoryFolder, constants.W_OK);
    const { bavail, bsize } = await statfs(memoryFolder);
    return bavail * bsize < spaceNeeded ? tmpdir() : memoryFolder;
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'EACCES' || error.code === 'EROFS')
      return tmpdir();
    throw error;
  }
}

/**
 * Commits need not wait for the disk: tests kill processes, but the machine does not lose power.
 */
async function disableSynchronousCommit(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('ALTER ROLE CURRENT_USER SET synchronous_commit = off');
  await client.end();
}

/**
 * Translates the TypeScript of the launcher: Jest does not transform this file, and tests must not
 * need a build.
 */
async function translateLauncher() {
  const sources = join(projectFolder, 'src', 'platform');
  const target = join(projectFolder, '.prepared', `test-launcher-${process.pid}`);
  for (const path of await readdir(sources, { recursive: true })) {
    if (!/^(embedded-postgres\/.*|postgres\/advisory-locks)\.ts$/.test(path)) continue;
    if (path.endsWith('.spec.ts')) continue;
    const { code } = await transformFile(join(sources, path));
    await mkdir(join(target, dirname(path)), { recursive: true });
    await writeFile(join(target, path.replace(/ts$/, 'js')), code);
  }
  return {
    url: pathToFileURL(join(target, 'embedded-postgres/embedded-postgres.js')).href,
    remove: () => rm(target, { recursive: true, force: true }),
  };
}

/** Stops the servers and removes the folders of test runs that were killed. */
async function removeAbandoned(startEmbeddedPostgres) {
  for (const parent of [tmpdir(), memoryFolder]) {
    if (!existsSync(parent)) continue;
    for (const name of await readdir(parent)) {
      if (!name.startsWith(prefix)) continue;
      const folder = join(parent, name);
      const owner = await readFile(join(folder, 'owner'), 'utf8').catch(() => undefined);
      if (owner === undefined || isAlive(Number(owner))) continue; // of another user, or running
      if (existsSync(join(folder, 'data', 'server'))) {
        const server = await startEmbeddedPostgres({
          dataDir: join(folder, 'data'),
          log: () => {},
        });
        await server.stop();
      }
      await rm(folder, { recursive: true, force: true });
    }
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
