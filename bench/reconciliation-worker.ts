// A process that decides what is due in some accounts at once, as a worker does: first in those to
// warm up, and after the end of its input in the others. It says when each of both is done. Its
// arguments: the database, and pairs of accounts, of each first the one to warm up.
import { once } from 'node:events';
import { createPool } from '../src/database.service.js';
import { openReconciliation } from './reconciliation-book.js';

const [, , url = '', ...accounts] = process.argv;
const isWarmUp = (_: string, index: number) => index % 2 === 0;
const pool = createPool(url, () => undefined);
const { reconcile, disconnect } = openReconciliation(pool);
const reconcileAll = (accountIds: readonly string[]) =>
  Promise.all(accountIds.map((id) => reconcile(Number(id))));
await reconcileAll(accounts.filter(isWarmUp));
process.stdout.write('ready\n');
process.stdin.resume();
await once(process.stdin, 'end');
await reconcileAll(accounts.filter((id, index) => !isWarmUp(id, index)));
process.stdout.write('done\n');
await disconnect();
await pool.end();
