// `npm start`: prepares the checkout, then runs the service in the same process, which gets all
// signals.
import { endWith, prepare } from './prepare.mjs';
import { runBundle } from './run-bundle.mjs';

await prepare().catch(endWith);
runBundle();
