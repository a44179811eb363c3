// A released version of the service, built from the commit that CHANGELOG.md names, with the
// packages of this checkout.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const project = fileURLToPath(new URL('../..', import.meta.url));
const packages = join(project, 'node_modules');

interface Manifest {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

/** Throws where CHANGELOG.md names none. */
function commitOf(version: string): string {
  const changelog = readFileSync(join(project, 'CHANGELOG.md'), 'utf8');
  const [, entry = ''] = changelog.split(`\n## ${version} (`);
  const [, commit] = /Its commit is `([0-9a-f]{40})`/.exec(entry) ?? [];
  if (!commit) throw new Error(`CHANGELOG.md names no commit of ${version}`);
  return commit;
}

/** Writes a part of what is in the commit. Throws where history lacks the commit. */
function extract(commit: string, folder: string, ...paths: string[]): void {
  const maxBuffer = 256 * 1024 * 1024;
  const archive = execFileSync('git', ['archive', commit, ...paths], { cwd: project, maxBuffer });
  execFileSync('tar', ['-x'], { cwd: folder, input: archive });
}

/** Writes the migrations of the service's database into `folder`, and returns their path. */
export function extractReleasedMigrations(version: string, folder: string): string {
  extract(commitOf(version), folder, 'prisma/service/migrations');
  return join(folder, 'prisma/service/migrations');
}

/** The path of its folder. Throws where history lacks the commit, or it needs other packages. */
export function buildReleasedVersion(version: string): string {
  const commit = commitOf(version);
  const folder = join(project, '.prepared', 'released', commit);
  if (existsSync(join(folder, 'dist', '.built'))) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  extract(commit, folder);
  const missing = listOtherPackages(folder);
  if (missing.length > 0)
    throw new Error(`${version} needs packages that this checkout lacks: ${missing.join(', ')}`);
  linkPackages(folder);
  execFileSync(process.execPath, ['scripts/prepare.mjs'], { cwd: folder, stdio: 'pipe' });
  return folder;
}

/** Direct dependencies that this checkout has not, or at another version. */
function listOtherPackages(folder: string): string[] {
  const [needed, present] = [folder, project].map((of) => {
    const manifest = JSON.parse(readFileSync(join(of, 'package.json'), 'utf8')) as Manifest;
    return { ...manifest.devDependencies, ...manifest.dependencies };
  });
  return Object.entries(needed ?? {})
    .filter(([name, version]) => present?.[name] !== version)
    .map(([name, version]) => `${name} ${version}`);
}

/** The version prepares itself: its script takes the packages as its own, installed ones. */
function linkPackages(folder: string): void {
  const own = join(folder, 'node_modules');
  mkdirSync(own);
  for (const name of readdirSync(packages)) symlinkSync(join(packages, name), join(own, name));
  const stamp = join(own, '.concilia-lock-hash');
  const lock = 'package-lock.json';
  const hash = createHash('sha256')
    .update(`${lock}\0`)
    .update(readFileSync(join(folder, lock)));
  rmSync(stamp, { force: true });
  writeFileSync(stamp, hash.update('\0').digest('hex'));
}
