// `npm run build`: builds the application, then packs what other projects install. Each folder of
// packages/ has a `build.mjs` that fills its `dist`; the archive stands in packages/. `npm start`
// does without. Names of folders build these alone.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readIfPresent, withLock } from './lock.mjs';
import {
  buildHash,
  endWith,
  hashOf,
  listFiles,
  npmCommand,
  prepare,
  preparedFolder,
  projectFolder,
  run,
  step,
  StepFailed,
} from './prepare.mjs';

const folder = join(projectFolder, 'packages');

/** Builds the application and the packages, all or the named ones, and returns their archives. */
export async function buildPackages(names = packageNames()) {
  await prepare();
  const archives = [];
  await withLock(join(preparedFolder, 'pack-lock'), async () => {
    for (const name of names) {
      const stamp = join(folder, name, 'dist', '.built');
      const hash = packageHash(name);
      const archive = archiveOf(name);
      if (readIfPresent(stamp) !== hash || !existsSync(archive))
        await step(`Packing @concilia/${name}`, async () => {
          await pack(name);
          writeFileSync(stamp, hash);
        });
      archives.push(archive);
    }
  });
  return archives;
}

/** None in the image, which is built without them. */
function packageNames() {
  return existsSync(folder)
    ? readdirSync(folder).filter((name) => existsSync(join(folder, name, 'build.mjs')))
    : [];
}

function manifestOf(name) {
  return JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8'));
}

function archiveOf(name) {
  return join(folder, `concilia-${name}-${manifestOf(name).version}.tgz`);
}

function packageHash(name) {
  const isOwn = (path) => !path.includes(join(name, 'dist')) && !path.includes('node_modules');
  const files = listFiles(join('packages', name), isOwn);
  return hashOf(['package.json', 'scripts/packages.mjs', ...files], buildHash());
}

/** `build` fills the folder that is packed, and returns what it adds to package.json. */
async function pack(name) {
  const dist = join(folder, name, 'dist');
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist);
  const { build } = await import(pathToFileURL(join(folder, name, 'build.mjs')).href);
  const { private: _, ...manifest } = { ...manifestOf(name), ...(await build(dist)) };
  writeFileSync(join(dist, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(join(projectFolder, 'LICENSE'), join(dist, 'LICENSE'));
  cpSync(join(folder, name, 'README.md'), join(dist, 'README.md'));
  const npm = npmCommand();
  const argv = [...npm.argv, 'pack', dist, '--pack-destination', folder, '--loglevel=error'];
  const code = await run(npm.program, argv, { quiet: true, shell: npm.shell });
  if (code !== 0) throw new StepFailed(`npm pack failed (exit code ${code})`);
}

if (process.argv[1]?.endsWith('packages.mjs')) {
  const named = process.argv.slice(2);
  await buildPackages(named.length > 0 ? named : packageNames()).catch(endWith);
}
