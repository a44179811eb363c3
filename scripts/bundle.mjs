// Bundles the built service into dist/bundle/main.cjs: one file loads in less than half of the time
// of its 2,400 modules. A step of the build. The types of the dependencies are metadata that only
// the compiler emits, so the bundle is made of its output, whose source maps are carried on.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { bundleFile, endWith, projectFolder } from './prepare.mjs';

const bundleFolder = dirname(bundleFile);

/**
 * Packages that others load where they are installed, which they are not, and packages with program
 * code of their own. A package that is missing in this list fails the build.
 */
const external = [
  ...['@fastify/multipart', '@fastify/static', '@fastify/view', '@nestjs/platform-express'],
  ...['@nestjs/microservices', '@nestjs/microservices/*', '@nestjs/websockets/*'],
  ...['class-transformer', 'class-transformer/*', 'class-validator', 'pg-native'],
  ...['msgpackr-extract', '@node-rs/argon2'],
];

/** Modules find files beside themselves: each keeps the address that it has outside the bundle. */
const ownAddresses = {
  name: 'own-addresses',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.m?js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.includes('import.meta.url')) return undefined;
      const place = JSON.stringify(relative(bundleFolder, path));
      const address = `require('node:url').pathToFileURL(require('node:path').join(__dirname, ${place})).href`;
      return { contents: text.replaceAll('import.meta.url', address), loader: 'js' };
    }),
};

/** Prisma's query compiler is stored as base64 in a module. Its bytes are read from a file. */
const queryCompilerBytes = {
  name: 'query-compiler-bytes',
  setup: ({ onLoad }) =>
    onLoad({ filter: /query_compiler_fast_bg\.postgresql\.wasm-base64\.m?js$/ }, async (args) => {
      const { wasm } = await import(pathToFileURL(args.path).href);
      mkdirSync(bundleFolder, { recursive: true });
      writeFileSync(join(bundleFolder, 'query-compiler.wasm'), Buffer.from(wasm, 'base64'));
      const read = `require('node:fs').readFileSync(require('node:path').join(__dirname, 'query-compiler.wasm'))`;
      return { contents: `export const wasm = ${read};`, loader: 'js' };
    }),
};

async function bundle() {
  const { outputFiles } = await build({
    absWorkingDir: projectFolder,
    entryPoints: ['dist/main.js'],
    outfile: bundleFile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    external,
    plugins: [queryCompilerBytes, ownAddresses],
    // Cached code cannot import: what is imported later is in the bundle, or is required.
    supported: { 'dynamic-import': false },
    // Nest shows names of classes, and BullMQ recognizes errors by them.
    keepNames: true,
    sourcemap: 'linked',
    sourcesContent: false,
    logLevel: 'warning',
    write: false,
  });
  mkdirSync(bundleFolder, { recursive: true });
  for (const { path, text } of outputFiles)
    writeFileSync(
      path,
      path.endsWith('.map') ? ownSourceMap(JSON.parse(text)) : asciiOnly(nameOnlyClasses(text)),
    );
}

/**
 * The bundle without the names that it gives to functions. A function within another one would be
 * named at each call, which slows everything down by a fifth. No line changes, for the source map.
 */
function nameOnlyClasses(text) {
  const definition = /^var __name = (.*);$/m;
  if (!definition.test(text) || !text.includes('__name(this,'))
    throw new Error('the bundle names no classes');
  return text
    .replace(definition, 'var __nameClass = $1, __name = (target) => target;')
    .replaceAll('__name(this,', '__nameClass(this,');
}

/**
 * The bundle in ASCII, as `run-bundle.mjs` reads it. esbuild escapes other characters in strings
 * and templates, but not in regular expressions.
 */
function asciiOnly(text) {
  const escape = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return text.replace(/[^\0-\x7f]/g, escape);
}

/**
 * The source map without the packages. Reading all of it would stop the service for a second at
 * its first error.
 */
function ownSourceMap({ version, sources, mappings }) {
  const isOwn = sources.map((source) => !source.includes('node_modules'));
  const indexes = [];
  const ownSources = sources.filter((_, index) => {
    if (isOwn[index]) indexes[index] = indexes.filter((own) => own !== undefined).length;
    return isOwn[index];
  });
  const from = [0, 0, 0];
  const to = [0, 0, 0];
  const lines = mappings.split(';').map((line) => {
    let column = 0;
    let ownColumn = 0;
    const segments = [];
    for (const segment of line === '' ? [] : line.split(',')) {
      const [columns, ...origin] = decodeNumbers(segment);
      column += columns;
      origin.slice(0, 3).forEach((step, index) => (from[index] += step));
      if (origin.length === 0 || !isOwn[from[0]]) continue;
      const position = [indexes[from[0]], from[1], from[2]];
      const steps = position.map((value, index) => value - to[index]);
      segments.push(encodeNumbers([column - ownColumn, ...steps]));
      ownColumn = column;
      position.forEach((value, index) => (to[index] = value));
    }
    return segments.join(',');
  });
  return JSON.stringify({ version, sources: ownSources, names: [], mappings: lines.join(';') });
}

const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const valueOfDigit = new Map([...base64].map((digit, value) => [digit, value]));

/** The numbers of a source map: five bits a digit, the lowest first, the sign in the lowest bit. */
function decodeNumbers(text) {
  const numbers = [];
  let [value, shift] = [0, 0];
  for (const digit of text) {
    const bits = valueOfDigit.get(digit);
    value += (bits & 31) << shift;
    shift += 5;
    if (bits & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    [value, shift] = [0, 0];
  }
  return numbers;
}

function encodeNumbers(numbers) {
  let text = '';
  for (const number of numbers) {
    let value = number < 0 ? (-number << 1) | 1 : number << 1;
    for (; value > 31; value >>>= 5) text += base64[(value & 31) | 32];
    text += base64[value];
  }
  return text;
}

await bundle().catch(endWith);
