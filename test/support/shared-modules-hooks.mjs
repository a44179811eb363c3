// How shared-modules-runtime.mjs loads modules: TypeScript is translated by SWC, and `./name.js`
// may be a source `name.ts` or `name.tsx`.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transformFile } from '@swc/core';
import { bundledPackages, bundlesFolder } from './bundled-packages.mjs';

const jestGlobals = new URL('./jest-globals.mjs', import.meta.url).href;
const bundles = new Map(
  bundledPackages.map((name) => [name, pathToFileURL(join(bundlesFolder, `${name}.js`)).href]),
);
const isSource = (url) => /\.tsx?(\?run=\d+)?$/.test(url);

export async function resolve(specifier, context, next) {
  const url = specifier === '@jest/globals' ? jestGlobals : bundles.get(specifier);
  if (url) return { url, shortCircuit: true };
  if (specifier.startsWith('.') && isSource(context.parentURL))
    for (const end of ['.ts', '.tsx']) {
      const source = new URL(specifier.replace(/\.js$/, end), context.parentURL);
      if (isSource(source.href) && existsSync(source))
        return { url: source.href, shortCircuit: true };
    }
  return next(specifier, context);
}

export async function load(url, context, next) {
  if (!isSource(url)) return next(url, context);
  const { code } = await transformFile(fileURLToPath(url), { sourceMaps: 'inline' });
  return { format: 'module', source: code, shortCircuit: true };
}
