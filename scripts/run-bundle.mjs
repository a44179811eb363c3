// Runs the bundle of the service with the compiled code of an earlier run. Node.js 20 cannot store
// compiled code by itself, and has no source map for code that is compiled here.
import { createHash } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import module, { SourceMap } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { Script } from 'node:vm';
import { readIfPresent } from './lock.mjs';
import { bundleFile, preparedFolder } from './prepare.mjs';

/** The bundle exports `started`, which resolves when the process is ready. */
export function runBundle(file = bundleFile, cacheFolder = join(preparedFolder, 'compiled')) {
  const bytes = readWrapped(file);
  // V8 compares only the length of the source: the name says which source was compiled.
  const cacheFile = join(cacheFolder, digestOf(bytes).toString('hex'));
  const cachedData = readCompiled(cacheFile);
  // The bundle is ASCII: one byte each is the quickest way to read it.
  const script = new Script(bytes.latin1Slice(), { filename: file, cachedData });
  mapStacks(file);
  const bundle = { exports: {} };
  const require = module.createRequire(file);
  script.runInThisContext()(bundle.exports, require, bundle, file, dirname(file));
  // At the end of a run, its compiled functions are those that a start needs. Another version of
  // Node.js rejects them.
  if (!cachedData || script.cachedDataRejected)
    bundle.exports.started.then(() =>
      process.once('exit', () => storeCompiled(cacheFile, script.createCachedData())),
    );
}

/**
 * The module wrapped in its function, as `require` does it. A text that is put together of two
 * would be copied into the heap before it is compiled, and collecting garbage would begin there.
 */
function readWrapped(file) {
  const [before, after] = module.wrap('|').split('|');
  const opened = openSync(file);
  try {
    const { size } = fstatSync(opened);
    const bytes = Buffer.allocUnsafe(before.length + size + after.length);
    bytes.latin1Write(before);
    if (readSync(opened, bytes, before.length, size) !== size)
      throw new Error(`${file} is changing`);
    bytes.latin1Write(after, before.length + size);
    return bytes;
  } finally {
    closeSync(opened);
  }
}

const digestOf = (bytes) => createHash('sha256').update(bytes).digest();
const digestLength = 32;

/** V8 does not notice compiled code that a crash of the machine has damaged. */
function readCompiled(path) {
  const stored = readIfPresent(path, null);
  const code = stored?.subarray(digestLength);
  return code && digestOf(code).equals(stored.subarray(0, digestLength)) ? code : undefined;
}

/**
 * Other processes may start or end meanwhile: the file is complete when it has its name. Where it
 * cannot be stored, as in a folder that is read-only, the next start compiles again.
 */
function storeCompiled(path, code) {
  const ownPath = `${path}.${process.pid}`;
  const folder = dirname(path);
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(ownPath, Buffer.concat([digestOf(code), code]));
    for (const name of readdirSync(folder))
      if (!name.endsWith(`.${process.pid}`)) rmSync(join(folder, name), { force: true });
    renameSync(ownPath, path);
  } catch {
    rmSync(ownPath, { force: true });
  }
}

/**
 * Shows the places of the sources in stacks. The map is read for the first of them. Where a build
 * has deleted it meanwhile, stacks show the places of the bundle: who reads a stack gets no error.
 */
function mapStacks(file) {
  let map;
  const readMap = () => {
    const text = readIfPresent(`${file}.map`, null);
    return text && new SourceMap(JSON.parse(text.toString()));
  };
  const isOfBundle = (frame) => frame.getFileName() === file;
  Error.prepareStackTrace = (error, frames) => {
    // Node.js itself reads the stack of every failed connection, which has no place of the bundle.
    if (frames.some(isOfBundle)) map ??= readMap();
    return [Error.prototype.toString.call(error), ...frames.map(placeOf)].join('\n    at ');
  };
  const placeOf = (frame) => {
    if (!map || !isOfBundle(frame)) return frame;
    const [line, column] = [frame.getLineNumber(), frame.getColumnNumber()];
    const entry = map.findEntry(line - 1, column - 1);
    // The map has no entry for the packages: it finds the nearest one before them.
    if (entry.generatedLine !== line - 1) return frame;
    const source = resolve(dirname(file), entry.originalSource);
    const place = `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
    return String(frame).replace(`${file}:${line}:${column}`, place);
  };
}
