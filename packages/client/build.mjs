// Fills the folder that is packed: one CommonJS module, which `import` and `require` share, so that
// its classes exist once; and its types.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build as bundle } from 'esbuild';
import { compiler, runNode } from '../../scripts/prepare.mjs';

const folder = import.meta.dirname;

/** Returns what package.json has in the packed folder. */
export async function build(target) {
  await bundle({
    entryPoints: [join(folder, 'src', 'index.ts')],
    outfile: join(target, 'index.js'),
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    keepNames: true,
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'warning',
  });
  const all = "export * from './index.js';\n";
  writeFileSync(join(target, 'index.mjs'), all);
  writeFileSync(join(target, 'index.d.mts'), all);
  await runNode([compiler, '-p', folder, '--outDir', target], { quiet: true });
  return {
    type: 'commonjs',
    main: './index.js',
    types: './index.d.ts',
    exports: {
      '.': {
        import: { types: './index.d.mts', default: './index.mjs' },
        require: { types: './index.d.ts', default: './index.js' },
      },
      './package.json': './package.json',
    },
    sideEffects: false,
  };
}
