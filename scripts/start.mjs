// `npm start` and `npm run migrate …`: prepares the checkout, then runs `concilia` in the same
// process, which gets all signals. The first argument is the command. The image, which has no
// scripts, runs `node dist/cli.js COMMAND`.
import { pathToFileURL } from 'node:url';
import { builtFile, endWith, prepare } from './prepare.mjs';

await prepare({ packages: false }).catch(endWith);
process.argv[1] = builtFile;
process.setSourceMapsEnabled(true);
await import(pathToFileURL(builtFile).href);
