// Bundles the packages that many tests load: of 2,000 modules a few are left to find and to
// load. Done once for each package-lock.json.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readIfPresent, withLock } from '../../scripts/lock.mjs';
import { hashOf, preparedFolder, projectFolder } from '../../scripts/prepare.mjs';

/** No package outside of this list may require one of it: there would be two of it. */
export const bundledPackages = [
  ...['@nestjs/bullmq', '@nestjs/common', '@nestjs/core', '@nestjs/platform-fastify'],
  ...['@prisma/adapter-pg', '@prisma/client/runtime/client'],
  '@prisma/client/runtime/query_compiler_fast_bg.postgresql.mjs',
  '@prisma/client/runtime/query_compiler_fast_bg.postgresql.wasm-base64.mjs',
  ...['axios', 'bullmq', 'fast-check', 'fastify', 'ioredis', 'lossless-json', 'pg', 'pino'],
  ...['preact', 'preact/jsx-runtime', 'preact-render-to-string', 'prom-client', 'qrcode'],
  ...['re2js', 'rxjs', 'standardwebhooks', 'uuid', 'zod'],
];
export const bundlesFolder = join(preparedFolder, 'packages');

export async function bundlePackages() {
  const stamp = join(bundlesFolder, 'stamp');
  const hash = hashOf(['package-lock.json', 'test/support/bundled-packages.mjs'], projectFolder);
  const isBundled = () => readIfPresent(stamp) === hash;
  if (isBundled()) return;
  await withLock(join(preparedFolder, 'packages-lock'), async () => {
    if (isBundled()) return;
    const { build } = await import('esbuild'); // Jest's settings import this file
    rmSync(bundlesFolder, { recursive: true, force: true });
    await build({
      absWorkingDir: projectFolder,
      entryPoints: bundledPackages.map((name) => ({ in: `entry:${name}`, out: name })),
      outdir: bundlesFolder,
      bundle: true,
      splitting: true,
      platform: 'node',
      target: 'node20',
      format: 'esm',
      // Nest shows names of classes, and BullMQ recognizes errors by them.
      keepNames: true,
      banner: {
        // The order in which parts are loaded is not that of the packages' own modules.
        js: `import 'reflect-metadata';
import { createRequire as requireFrom } from 'node:module';
const require = requireFrom(import.meta.url);`,
      },
      plugins: [entries, missingPackages, queryCompiler, ownPlaces],
      logLevel: 'warning',
    });
    writeFileSync(stamp, hash);
  });
}

/** Exports the names that a package has at run time: those of CommonJS are not in its text. */
const entries = {
  name: 'entries',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^entry:/ }, ({ path }) => ({ path: path.slice(6), namespace: 'entry' }));
    onLoad({ filter: /.*/, namespace: 'entry' }, async ({ path }) => {
      const names = Object.keys(await import(path)).filter((name) => name !== 'module.exports');
      return {
        contents: `export { ${names.join(', ')} } from ${JSON.stringify(path)};`,
        resolveDir: projectFolder,
      };
    });
  },
};

/** Packages load others in a `try` that are not installed, and Node's own program code. */
const missingPackages = {
  name: 'missing-packages',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^[^.]/ }, async ({ path, pluginData, ...options }) => {
      if (pluginData === 'asked') return undefined;
      const { errors } = await resolve(path, { ...options, pluginData: 'asked' });
      return errors.length > 0 ? { path, external: true } : undefined;
    });
    onResolve({ filter: /^(@node-rs\/argon2|msgpackr-extract|reflect-metadata)$/ }, ({ path }) => ({
      path,
      external: true,
    }));
  },
};

/** Prisma's query compiler is base64 in a module of 4 MB. Its bytes are read from a file. */
const queryCompiler = {
  name: 'query-compiler',
  setup: ({ onLoad }) =>
    onLoad({ filter: /wasm-base64\.mjs$/ }, async (module) => {
      const { wasm } = await import(pathToFileURL(module.path).href);
      const file = join(bundlesFolder, 'query-compiler.wasm');
      mkdirSync(bundlesFolder, { recursive: true });
      writeFileSync(file, Buffer.from(wasm, 'base64'));
      // `Buffer.from` leaves bytes as they are.
      return {
        contents: `import { readFileSync } from 'node:fs';
export const wasm = readFileSync(${JSON.stringify(file)});`,
        loader: 'js',
      };
    }),
};

/** Modules find files beside themselves: each keeps its own place. */
const ownPlaces = {
  name: 'own-places',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.[cm]?js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const places = [
        ['import.meta.url', pathToFileURL(path).href],
        ['__dirname', dirname(path)],
        ['__filename', path],
      ].filter(([name]) => text.includes(name));
      if (places.length === 0) return undefined;
      return {
        contents: places.reduce(
          (result, [name, place]) =>
            result.replaceAll(
              RegExp(`(?<![\\w.])${name.replaceAll('.', '\\.')}\\b`, 'g'),
              JSON.stringify(place),
            ),
          text,
        ),
        loader: 'js',
      };
    }),
};
