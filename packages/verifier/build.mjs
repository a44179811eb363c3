// Fills the folder that is packed: the sources as JavaScript, a module each, so that an auditor can
// read what runs; and their types.
import { runNode, compiler } from '../../scripts/prepare.mjs';

/** Returns what package.json has in the packed folder. */
export async function build(target) {
  await runNode([compiler, '-p', import.meta.dirname, '--outDir', target], { quiet: true });
  return {
    type: 'module',
    exports: {
      '.': { types: './index.d.ts', default: './index.js' },
      './package.json': './package.json',
    },
    bin: { 'concilia-verifier': './command.js' },
  };
}
