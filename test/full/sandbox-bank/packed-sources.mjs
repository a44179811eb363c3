// Prints which files the program of a bank is made of, and which packages it still imports.
import { builtinModules } from 'node:module';
import { bundleBank } from '../../../packages/sandbox-bank/build.mjs';

const { metafile } = await bundleBank('.', { write: false });
const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
const isBuiltin = (path) => path.startsWith('node:') || builtinModules.includes(path);
console.log(
  JSON.stringify({
    inputs: Object.keys(metafile.inputs),
    imported: [
      ...new Set(
        imports
          .filter(({ external, path }) => external && !isBuiltin(path))
          .map(({ path }) => path),
      ),
    ],
  }),
);
// esbuild's process may keep this one alive.
process.exit(0);
