// `npm run operator`: prepares the checkout, then creates, lists, disables or resets the people of
// the console. In the image it is `node dist/app/operator.js`.
import { endWith, prepare } from './prepare.mjs';

await prepare().catch(endWith);
process.setSourceMapsEnabled(true);
await import('../dist/app/operator.js');
