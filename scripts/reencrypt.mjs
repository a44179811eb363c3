// `npm run reencrypt`: prepares the checkout, then encrypts the stored secrets again with
// CREDENTIALS_KEY. In the image, which has no scripts, it is `node dist/app/reencrypt.js`.
import { endWith, prepare } from './prepare.mjs';

await prepare().catch(endWith);
process.setSourceMapsEnabled(true);
await import('../dist/app/reencrypt.js');
