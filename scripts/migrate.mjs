// `npm run migrate`: prepares the checkout, then applies the migrations of the service's database.
// In the image, which has no scripts, it is `node dist/app/migrate.js`.
import { endWith, prepare } from './prepare.mjs';

await prepare().catch(endWith);
process.setSourceMapsEnabled(true);
await import('../dist/app/migrate.js');
