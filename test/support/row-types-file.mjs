// The file from which row-types.ts reads what the sources declare.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readIfPresent } from '../../scripts/lock.mjs';
import { hashOf, listFiles, preparedFolder, projectFolder } from '../../scripts/prepare.mjs';

const target = join(preparedFolder, 'row-types.json');
const generatedFolder = join('src', 'generated');

/**
 * Writes `.prepared/row-types.json`: the queries of each file. Those of a file are read again when
 * it or a file that it imports has changed.
 */
export async function writeDeclaredRowTypes() {
  const settings = hashOf([
    ...['tsconfig.json', 'package-lock.json', 'test/support/declared-row-types.mjs'],
    ...listFiles('prisma', (path) => path.endsWith('.prisma')),
  ]);
  const known = JSON.parse(readIfPresent(target) ?? '{}');
  const isKnown = ([path, hash]) => known.settings === settings && known.files[path]?.hash === hash;
  const hashes = hashesOfQuerying();
  const changed = hashes.filter((one) => !isKnown(one)).map(([path]) => path);
  const isGone = Object.keys(known.files ?? {}).length > hashes.length;
  if (changed.length === 0 && !isGone) return;
  // The compiler takes a second to load.
  const { declaredQueries } = await import('./declared-row-types.mjs');
  const read = changed.length > 0 ? declaredQueries(changed) : {};
  const files = Object.fromEntries(
    hashes.map(([path, hash]) => [
      path,
      { hash, queries: read[path] ?? known.files[path].queries },
    ]),
  );
  mkdirSync(preparedFolder, { recursive: true });
  // Another run may read the file at this moment.
  writeFileSync(`${target}.${process.pid}`, JSON.stringify({ settings, files }));
  renameSync(`${target}.${process.pid}`, target);
}

/**
 * Each file with a query, and a hash of it and of all files that it imports. A test declares the
 * rows of its queries itself.
 */
function hashesOfQuerying() {
  const isOwn = (path) => /\.tsx?$/.test(path) && !path.startsWith(generatedFolder);
  const texts = new Map(
    [...listFiles('src', isOwn), ...listFiles('test', isOwn)].map((path) => [
      path,
      readFileSync(join(projectFolder, path), 'utf8'),
    ]),
  );
  const importsOf = (path) =>
    [...texts.get(path).matchAll(/(?:from|import) '(\.[^']+)\.js'/g)]
      .flatMap(([, name]) => ['.ts', '.tsx'].map((end) => join(dirname(path), name + end)))
      .filter((imported) => texts.has(imported));
  const imports = new Map(
    [...texts.keys()].map((path) => [path, path.startsWith('src') ? importsOf(path) : []]),
  );
  const hashOfText = new Map(
    [...texts].map(([path, text]) => [path, createHash('sha1').update(text).digest('hex')]),
  );
  return [...texts.keys()]
    .filter((path) => /\.\$(queryRaw|executeRaw)[<`]/.test(texts.get(path)))
    .map((path) => {
      // A set is read to its end while it grows.
      const reached = new Set([path]);
      for (const one of reached) for (const imported of imports.get(one)) reached.add(imported);
      const hash = createHash('sha1');
      for (const one of [...reached].sort()) hash.update(`${one} ${hashOfText.get(one)}\n`);
      return [path, hash.digest('hex')];
    });
}
