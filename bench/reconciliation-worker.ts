// A process that decides what is due in one account: it says that it is ready, waits for the end of
// its input, and exits when everything is decided. Its arguments: the database and the account.
import { once } from 'node:events';
import { createPool } from '../src/database.service.js';
import { openReconciliation } from './reconciliation-book.js';

const [, , url = '', accountId] = process.argv;
const pool = createPool(url, () => undefined);
const { reconcile, disconnect } = openReconciliation(pool);
await pool.query('SELECT 1');
process.stdout.write('ready\n');
process.stdin.resume();
await once(process.stdin, 'end');
await reconcile(Number(accountId));
await disconnect();
await pool.end();
