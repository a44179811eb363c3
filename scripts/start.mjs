// `npm start`: prepares the checkout, then runs the service in the same process, which gets all
// signals.
import module from 'node:module';
import { join } from 'node:path';
import { endWith, prepare, preparedFolder } from './prepare.mjs';

await prepare().catch(endWith);
// Node.js 22 and later store compiled modules for the next start.
module.enableCompileCache?.(join(preparedFolder, 'compile-cache'));
process.setSourceMapsEnabled(true);
await import('../dist/main.js');
