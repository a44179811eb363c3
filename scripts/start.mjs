// `npm start`: prepares the checkout, then runs the service in the same process, which gets all
// signals. With the name of another program of src/app it runs that one: `npm run migrate`. The
// image, which has no scripts, runs `node dist/main.js` and `node dist/app/migrate.js`.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { builtFile, endWith, prepare, projectFolder } from './prepare.mjs';

const [node, , ...given] = process.argv;
const isOfService = given.length === 0 || given[0].startsWith('-');
const file = isOfService ? builtFile : join(projectFolder, 'dist', 'app', `${given[0]}.js`);

await prepare().catch(endWith);
process.argv = [node, file, ...given.slice(isOfService ? 0 : 1)];
process.setSourceMapsEnabled(true);
await import(pathToFileURL(file).href);
