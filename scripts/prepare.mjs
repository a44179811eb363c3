// Prepares a checkout: installs packages, generates the Prisma clients, builds. A step is skipped
// while its inputs are unchanged. Each step writes its stamp last, so that an interrupted step
// runs again.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readIfPresent, withLock } from './lock.mjs';

export const projectFolder = join(dirname(fileURLToPath(import.meta.url)), '..');
export const preparedFolder = join(projectFolder, '.prepared');
/** What `nest build` makes of src/cli.ts. */
export const builtFile = join(projectFolder, 'dist', 'cli.js');
const buildStamp = join(projectFolder, 'dist', '.built');
/** Four times as fast as TypeScript 6, which some tests use as a library. */
export const compiler = join(projectFolder, 'node_modules/typescript-7/bin/tsc');
export const jestArguments = [
  ...['--experimental-vm-modules', '--no-warnings'],
  join(projectFolder, 'node_modules/jest/bin/jest.js'),
];
const buildInputs = ['nest-cli.json', '.swcrc', 'tsconfig.json', 'tsconfig.build.json'];
const schemas = ['service', 'sandbox'];

/** The message is all that the user needs to see: no stack is printed. */
export class StepFailed extends Error {}

/**
 * Runs each step (install, generate, build) that is not up to date. Without `packages` it prepares
 * the application alone.
 */
export async function prepare({ build = true, packages = true } = {}) {
  requireNode();
  mkdirSync(preparedFolder, { recursive: true });
  if (isPrepared(build, packages)) return;
  await withLock(join(preparedFolder, 'lock'), async () => {
    if (!isInstalled()) await step('Installing packages', install);
    if (!isGenerated()) await step('Generating database clients', generate);
    if (!isStyled()) await step('Writing styles', writeStyles);
    if (packages && !isClientTyped()) await step('Writing the client', writeClient);
    if (build && !isBuilt()) await step('Building', compile);
  });
}

/** Prints the name of the step before it, and its duration after it. */
export async function step(name, work) {
  const startedAt = Date.now();
  console.log(`• ${name} …`);
  await work();
  console.log(`✓ ${name} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`);
}

/** Runs a Node program; with `quiet`, its output is shown only when it fails. Throws StepFailed. */
export async function runNode(argv, { quiet = false, env = {} } = {}) {
  const code = await run(process.execPath, argv, { quiet, env });
  if (code === 0) return;
  const program = argv.find((argument) => !argument.startsWith('-'));
  throw new StepFailed(`${basename(program)} failed (exit code ${code})`);
}

/**
 * Ends a script with exit code 1: an expected failure prints its message, any other error its
 * stack.
 */
export function endWith(error) {
  // SettingsError belongs to the build, which is not there yet when this file is loaded.
  const isExpected = error instanceof StepFailed || error?.name === 'SettingsError';
  console.error(isExpected ? `✗ ${error.message}` : error);
  process.exit(1);
}

/** Throws StepFailed where this Node.js is older than `engines.node` in package.json. */
function requireNode() {
  const manifest = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8'));
  const needed = manifest.engines.node.replace(/^>=/, '');
  const [neededMajor, neededMinor] = needed.split('.').map(Number);
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > neededMajor || (major === neededMajor && minor >= neededMinor)) return;
  throw new StepFailed(`Node.js must be ${needed} or newer, got ${process.versions.node}.`);
}

function prismaFiles(schema) {
  return listFiles(join('prisma', schema), (path) => path.endsWith('.prisma'));
}

function sourceFiles() {
  return listFiles(
    'src',
    (path) => !path.endsWith('.spec.ts') && !path.startsWith(join('src', 'generated')),
  );
}

function isPrepared(build, packages) {
  const isWritten = isInstalled() && isGenerated() && isStyled() && (!packages || isClientTyped());
  return isWritten && (!build || isBuilt());
}

function isInstalled() {
  const stamp = readIfPresent(installStamp());
  return stamp === hashOf(['package-lock.json']);
}

function installStamp() {
  return join(projectFolder, 'node_modules', '.concilia-lock-hash');
}

async function install() {
  const folder = join(projectFolder, 'node_modules');
  if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new StepFailed(
      'node_modules is a symbolic link, and its packages are not those of package-lock.json. ' +
        'They may belong to another checkout: delete the link, and start again.',
    );
  const lockHash = hashOf(['package-lock.json']);
  rmSync(installStamp(), { force: true });
  // NODE_ENV=production would leave out the packages that `npm test` needs.
  const options = [
    'ci',
    '--include=dev',
    '--no-audit',
    '--no-fund',
    '--no-update-notifier',
    '--prefer-offline',
    '--fetch-retry-mintimeout=1000', // reports an unreachable registry within seconds
    '--fetch-retry-maxtimeout=4000',
    '--loglevel=error',
  ];
  const npm = npmCommand();
  const cache = writableCache();
  const env = cache ? { npm_config_cache: cache } : {};
  const code = await run(npm.program, [...npm.argv, ...options], { env, shell: npm.shell });
  if (cache) rmSync(cache, { recursive: true, force: true });
  if (code !== 0) {
    throw new StepFailed(
      `npm ci failed (exit code ${code}). The first start needs the npm registry or a filled npm cache; ` +
        `later starts work offline. Another registry: npm config set registry <url>.`,
    );
  }
  writeFileSync(installStamp(), lockHash);
}

export function npmCommand() {
  const current = process.env.npm_execpath;
  if (current?.endsWith('npm-cli.js'))
    return { program: process.execPath, argv: [current], shell: false };
  const beside = join(
    dirname(process.execPath),
    '..',
    'lib',
    'node_modules',
    'npm',
    'bin',
    'npm-cli.js',
  );
  if (existsSync(beside)) return { program: process.execPath, argv: [beside], shell: false };
  return { program: 'npm', argv: [], shell: process.platform === 'win32' };
}

/** npm fails with a cache that it cannot write: no home folder, or files owned by root. */
function writableCache() {
  const cache = process.env.npm_config_cache ?? join(homedir(), '.npm');
  try {
    mkdirSync(join(cache, '_cacache', 'tmp'), { recursive: true });
    for (const folder of ['', '_cacache', '_cacache/tmp'])
      accessSync(join(cache, folder), constants.W_OK);
    return undefined;
  } catch {
    return join(preparedFolder, 'npm-cache');
  }
}

function isGenerated() {
  const isComplete = schemas.every((name) =>
    existsSync(join(projectFolder, 'src/generated', name, 'client.ts')),
  );
  return isComplete && readIfPresent(join(preparedFolder, 'generated')) === generateHash();
}

function generateHash() {
  const files = schemas.flatMap((name) => [`prisma.${name}.config.ts`, ...prismaFiles(name)]);
  return hashOf(['package-lock.json', ...files]);
}

async function generate() {
  const hash = generateHash();
  const env = {
    // The CLI downloads an engine that `generate` does not use, unless this names a program.
    PRISMA_SCHEMA_ENGINE_BINARY: process.env.PRISMA_SCHEMA_ENGINE_BINARY || process.execPath,
    CHECKPOINT_DISABLE: '1',
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
  };
  const prisma = join(projectFolder, 'node_modules/prisma/build/index.js');
  const argv = (name) => [prisma, 'generate', '--config', `prisma.${name}.config.ts`];
  await Promise.all(schemas.map((name) => runNode(argv(name), { quiet: true, env })));
  writeFileSync(join(preparedFolder, 'generated'), hash);
}

const kitFolder = join('src', 'console', 'kit');
const stylesFolder = join(projectFolder, 'src', 'generated', 'console');

function isStyled() {
  const isComplete = existsSync(join(stylesFolder, 'styles.ts'));
  return isComplete && readIfPresent(join(preparedFolder, 'styles')) === stylesHash();
}

function stylesHash() {
  return hashOf(['package-lock.json', ...listFiles(kitFolder, () => true)]);
}

/** The console's stylesheet, by Tailwind, and the icons that kit/icons.json names. */
async function writeStyles() {
  const hash = stylesHash();
  const written = join(preparedFolder, 'console.css');
  const source = join(projectFolder, kitFolder, 'console.css');
  const tailwind = join(projectFolder, 'node_modules/@tailwindcss/cli/dist/index.mjs');
  await runNode([tailwind, '-i', source, '-o', written, '--minify'], { quiet: true });
  const names = JSON.parse(readFileSync(join(projectFolder, kitFolder, 'icons.json'), 'utf8'));
  const icons = Object.fromEntries(names.map((name) => [name, readIcon(name)]));
  mkdirSync(stylesFolder, { recursive: true });
  const declare = (name, value) => `export const ${name} = ${JSON.stringify(value)} as const;\n`;
  writeFileSync(
    join(stylesFolder, 'styles.ts'),
    declare('stylesheet', readFileSync(written, 'utf8')) + declare('icons', icons),
  );
  writeFileSync(join(preparedFolder, 'styles'), hash);
}

/** What stands inside the icon's `svg`. */
function readIcon(name) {
  const file = join(projectFolder, 'node_modules/lucide-static/icons', `${name}.svg`);
  const [, content = ''] = /<svg[^>]*>(.*)<\/svg>/s.exec(readFileSync(file, 'utf8')) ?? [];
  return content.replace(/\s*\n\s*/g, '');
}

const clientGenerator = join('packages', 'client', 'generate.mjs');

/** The image has no packages. */
function isClientTyped() {
  if (!existsSync(join(projectFolder, clientGenerator))) return true;
  const isComplete = existsSync(join(projectFolder, 'packages/client/src/generated/resources.ts'));
  return isComplete && readIfPresent(join(preparedFolder, 'client')) === clientHash();
}

function clientHash() {
  return hashOf(['package-lock.json', 'docs/reference/openapi.json', clientGenerator]);
}

async function writeClient() {
  const hash = clientHash();
  await runNode([join(projectFolder, clientGenerator)], { quiet: true });
  writeFileSync(join(preparedFolder, 'client'), hash);
}

/** The stamp stands in dist: whoever runs `nest build` deletes it. */
function isBuilt() {
  return existsSync(builtFile) && readIfPresent(buildStamp) === buildHash();
}

export function buildHash() {
  return hashOf(['package-lock.json', ...buildInputs, ...sourceFiles()], generateHash());
}

async function compile() {
  const hash = buildHash();
  await runNode([join(projectFolder, 'node_modules/@nestjs/cli/bin/nest.js'), 'build'], {
    quiet: true,
  });
  writeFileSync(join(projectFolder, 'dist', 'commit'), readCommit());
  writeFileSync(buildStamp, hash);
}

/** Of the checkout, or as the build of an image is given it; empty where neither says. */
function readCommit() {
  const git = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: projectFolder, encoding: 'utf8' });
  return process.env.COMMIT || (git.status === 0 ? git.stdout.trim() : '');
}

export function run(program, argv, { quiet = false, env = {}, shell = false } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, argv, {
      cwd: projectFolder,
      env: { ...process.env, ...env },
      shell,
      stdio: quiet ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
    });
    const output = [];
    child.stdout?.on('data', (chunk) => output.push(chunk));
    child.stderr?.on('data', (chunk) => output.push(chunk));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code !== 0) process.stderr.write(Buffer.concat(output));
      resolve(code ?? 1);
    });
  });
}

/** Paths from the project folder, in a stable order. */
export function listFiles(folder, isWanted) {
  const entries = readdirSync(join(projectFolder, folder), { withFileTypes: true });
  return entries
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return listFiles(path, isWanted);
      return isWanted(path) ? [path] : [];
    })
    .sort();
}

export function hashOf(paths, ...others) {
  const hash = createHash('sha256');
  for (const path of paths)
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(projectFolder, path)))
      .update('\0');
  for (const other of others) hash.update(other);
  return hash.digest('hex');
}

if (process.argv[1] && fileURLToPath(import.meta.url) === realpathSync(process.argv[1])) {
  const { argv } = process;
  const work = argv.includes('--install')
    ? step('Installing packages', install)
    : prepare({ build: !argv.includes('--no-build') });
  await work.catch(endWith);
}
