// `npm run release`: the next version by the Conventional Commits since the last release. It writes
// the version, the heading of the changes and the digests of new migrations, commits and tags.
// `npm run release -- --check` only says which commits are not conventional, and the next version.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endWith, projectFolder, StepFailed } from './prepare.mjs';

const folder = process.env.RELEASE_FOLDER ?? projectFolder;
const path = (file) => join(folder, file);
const read = (file) => readFileSync(path(file), 'utf8');
const git = (...args) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim();

const subject = /^(build|chore|ci|docs|feat|fix|perf|refactor|style|test)(\([\w-]+\))?(!)?: \S/;

function readCommits(version) {
  const { 1: named } = read('CHANGELOG.md').match(/\nIts commit is `([0-9a-f]{40})`/) ?? [];
  const last = git('tag', '--list', `v${version}`) || named;
  if (!last) throw new StepFailed(`Neither a tag nor CHANGELOG.md names the commit of ${version}.`);
  const log = git('log', '--no-merges', '--format=%h %B%x00', `${last}..HEAD`);
  return log
    .split('\0')
    .map((text) => text.trim())
    .filter(Boolean)
    .map((text) => {
      const [, id, message] = /^(\S+) ([^]*)$/.exec(text) ?? [null, text, ''];
      const [, kind, , mark] = subject.exec(message) ?? [];
      return {
        id,
        kind,
        title: message.split('\n')[0],
        isBreaking: Boolean(mark) || /^BREAKING CHANGE: /m.test(message),
      };
    });
}

/** Before 1.0.0 a break raises the middle number, as Semantic Versioning allows. */
function nextVersion(version, commits) {
  const [major, minor, patch] = version.split('.').map(Number);
  const isBreak = commits.some(({ isBreaking }) => isBreaking);
  if (isBreak && major > 0) return `${major + 1}.0.0`;
  if (isBreak || commits.some(({ kind }) => kind === 'feat')) return `${major}.${minor + 1}.0`;
  if (commits.some(({ kind }) => ['fix', 'perf'].includes(kind)))
    return `${major}.${minor}.${patch + 1}`;
  return null;
}

/** Their own versions, and the names of the packed packages. */
function writeVersion(from, to) {
  const own =
    /("version": "|^(?:app)?[vV]ersion: |concilia(?:-client|-sandbox-bank)?-)(\d+\.\d+\.\d+)/gm;
  const manifests = readdirSync(path('packages')).map((name) => `packages/${name}/package.json`);
  for (const file of [
    'package.json',
    ...manifests,
    'examples/shop/package.json',
    'deploy/helm/concilia/Chart.yaml',
  ])
    writeFileSync(
      path(file),
      read(file).replace(own, (all, before, version) => (version === from ? before + to : all)),
    );
  const lock = JSON.parse(read('package-lock.json'));
  for (const one of [
    lock,
    lock.packages[''],
    ...manifests.map((file) => lock.packages[file.slice(0, -'/package.json'.length)]),
  ])
    one.version = to;
  writeFileSync(path('package-lock.json'), `${JSON.stringify(lock, null, 2)}\n`);
}

function writeMigrationDigests() {
  const file = 'prisma/released-migrations.json';
  const digests = JSON.parse(read(file));
  const folders = ['sandbox', 'service'].flatMap((schema) => {
    const parent = `prisma/${schema}/migrations`;
    const names = readdirSync(path(parent)).filter((name) => /^\d/.test(name));
    return names.map((name) => `${parent}/${name}`);
  });
  for (const one of folders)
    digests[one] ??= createHash('sha256')
      .update(read(`${one}/migration.sql`))
      .digest('hex');
  writeFileSync(path(file), `${JSON.stringify(digests, null, 2)}\n`);
}

function main() {
  const { version } = JSON.parse(read('package.json'));
  const commits = readCommits(version);
  const others = commits.filter(({ kind }) => !kind);
  if (others.length > 0)
    throw new StepFailed(
      `Not conventional:\n${others.map(({ id, title }) => `  ${id} ${title}`).join('\n')}`,
    );
  const next = nextVersion(version, commits);
  console.log(`${version} → ${next ?? version}, by ${commits.length} commits.`);
  if (process.argv.includes('--check')) return;
  if (!next) throw new StepFailed('No commit since then changes what users have.');
  if (git('status', '--porcelain'))
    throw new StepFailed('There are changes that are not committed.');
  const changes = read('CHANGELOG.md');
  if (!/\n## Unreleased\n\n- /.test(changes))
    throw new StepFailed('CHANGELOG.md says nothing under "Unreleased".');
  const today = new Date().toISOString().slice(0, 10);
  writeFileSync(
    path('CHANGELOG.md'),
    changes.replace('\n## Unreleased\n', `\n## Unreleased\n\n## ${next} (${today})\n`),
  );
  writeVersion(version, next);
  writeMigrationDigests();
  git('commit', '--all', '--message', `chore(release): ${next}`);
  git('tag', `v${next}`);
  console.log(`Committed and tagged v${next}. Publish it: git push origin HEAD v${next}`);
}

try {
  main();
} catch (error) {
  endWith(error);
}
