// `npm start`: prepares the checkout, then runs the service in the same process, which gets all
// signals.
import { endWith, prepare } from './prepare.mjs';

await prepare().catch(endWith);
process.setSourceMapsEnabled(true);
await import('../dist/main.js');
