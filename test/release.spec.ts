// `npm run release` in a copy of the files that it changes, with commits of its own.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';

const root = join(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
};
const copied = [
  ...['package.json', 'package-lock.json', 'examples/shop/package.json'],
  ...['packages/client/package.json', 'packages/sandbox-bank/package.json'],
  'packages/verifier/package.json',
  ...['deploy/helm/concilia/Chart.yaml', 'prisma/released-migrations.json', 'prisma/service'],
  'prisma/sandbox',
];
let folder: string;

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args], {
    cwd: folder,
    encoding: 'utf8',
  });
const commit = (message: string) => git('commit', '--allow-empty', '--quiet', '-m', message);
const release = (...args: string[]) => {
  const env = { ...process.env, RELEASE_FOLDER: folder, GIT_AUTHOR_NAME: 't' };
  const identity = { GIT_AUTHOR_EMAIL: 't@localhost', GIT_COMMITTER_NAME: 't' };
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'scripts/release.mjs'), ...args],
    { env: { ...env, ...identity, GIT_COMMITTER_EMAIL: 't@localhost' }, encoding: 'utf8' },
  );
  return { status, text: stdout + stderr };
};
const read = (file: string) => readFileSync(join(folder, file), 'utf8');

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'concilia-release-'));
  for (const file of copied) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(root, file), join(folder, file), { recursive: true });
  }
  writeFileSync(join(folder, 'CHANGELOG.md'), '# Changes\n\n## Unreleased\n\n- New.\n');
  git('init', '--quiet');
  git('add', '.');
  commit('chore: start');
  git('tag', `v${version}`);
});
afterEach(() => rmSync(folder, { recursive: true }));

it('writes the version that the commits ask for wherever it stands, and tags it', () => {
  commit('fix(bank): a');
  commit('feat: b');
  const [major, minor] = version.split('.').map(Number);
  const next = `${major}.${minor! + 1}.0`;
  const done = release();
  expect([done.status, done.text.includes(`tagged v${next}.`)]).toEqual([0, true]);
  expect(git('tag', '--points-at', 'HEAD')).toBe(`v${next}\n`);
  const manifests = ['package.json', 'packages/client/package.json', copied[4]!];
  for (const file of manifests) expect(read(file)).toContain(`"version": "${next}"`);
  expect(read('deploy/helm/concilia/Chart.yaml')).toMatch(
    `version: ${next}\nappVersion: ${next}\n`,
  );
  const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, object> };
  for (const one of ['', 'packages/client', 'packages/sandbox-bank', 'packages/verifier'])
    expect(lock.packages[one]).toMatchObject({ version: next });
  expect(read('examples/shop/package.json')).toContain(`concilia-client-${next}.tgz`);
  expect(read('CHANGELOG.md')).toMatch(`## Unreleased\n\n## ${next} (20`);
  const digests = JSON.parse(read('prisma/released-migrations.json')) as object;
  expect(Object.keys(digests).length).toBe(
    git('ls-files', 'prisma/*/migration.sql').trim().split('\n').length,
  );
});

it('raises the last number for fixes alone, and the first for a break', () => {
  commit('fix: a');
  expect(release('--check').text).toMatch(/→ \d+\.\d+\.[1-9]/);
  writeFileSync(join(folder, 'package.json'), read('package.json').replace(version, '1.2.3'));
  git('tag', 'v1.2.3');
  commit('refactor: b\n\nBREAKING CHANGE: c');
  expect(release('--check').text).toContain('1.2.3 → 2.0.0');
});

it('refuses commits of another form, changes that are not committed, and nothing to release', () => {
  commit('docs: a');
  expect(release().text).toContain('No commit');
  commit('feat: b');
  writeFileSync(join(folder, 'new'), '');
  expect(release().text).toContain('not committed');
  commit('wip');
  const { status, text } = release('--check');
  expect([status, /^ {2}\w+ wip$/m.test(text)]).toEqual([1, true]);
});
