// `npm start`: prepares the checkout, then runs the service in this same process, so that signals reach it directly.
import { endWith, prepare } from './prepare.mjs';

await prepare().catch(endWith);
process.setSourceMapsEnabled(true);
await import('../dist/main.js');
