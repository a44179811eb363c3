// A process that decides what is due in two accounts: in the first to warm up, then it says that it
// is ready, waits for the end of its input, and exits when everything is decided in the second. Its
// arguments: the database and the accounts.
import { once } from 'node:events';
import { createPool } from '../src/database.service.js';
import { openReconciliation } from './reconciliation-book.js';

const [, , url = '', warmUpId, accountId] = process.argv;
const pool = createPool(url, () => undefined);
const { reconcile, disconnect } = openReconciliation(pool);
await reconcile(Number(warmUpId));
process.stdout.write('ready\n');
process.stdin.resume();
await once(process.stdin, 'end');
await reconcile(Number(accountId));
await disconnect();
await pool.end();
