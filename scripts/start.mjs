// `npm start`: prepares the checkout, then runs the service in the same process, which gets all
// signals. With the name of another program of src/app it runs that one: `npm run migrate`. The
// image, which has no scripts, runs `node dist/main.js` and `node dist/app/migrate.js`.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { builtFile, endWith, prepare, projectFolder } from './prepare.mjs';

const [node, , program, ...argv] = process.argv;
const file = program ? join(projectFolder, 'dist', 'app', `${program}.js`) : builtFile;

await prepare().catch(endWith);
process.argv = [node, file, ...argv];
process.setSourceMapsEnabled(true);
await import(pathToFileURL(file).href);
