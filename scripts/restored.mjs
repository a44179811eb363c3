// `npm run restored`: prepares the checkout, then records that the database was set back to an
// earlier time, or shows and releases what follows. In the image it is `node dist/app/restored.js`.
import { endWith, prepare } from './prepare.mjs';

await prepare().catch(endWith);
process.setSourceMapsEnabled(true);
await import('../dist/app/restored.js');
