// A lock file: one preparation of a folder at a time, also when one of them is killed.
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';

/** Two starters in one checkout take turns; the lock of one that was killed is taken over. */
export async function withLock(path, work) {
  const mine = `${process.pid} ${randomBytes(4).toString('hex')}`;
  for (let isTold = false; !tryLock(path, mine);) {
    const holder = Number.parseInt(readIfPresent(path) ?? '', 10);
    if (isStale(path, holder)) rmSync(path, { force: true });
    else if (!isTold) {
      isTold = true;
      console.log(`• Waiting for process ${holder}, which is preparing this folder …`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const unlock = () => readIfPresent(path) === mine && rmSync(path, { force: true });
  process.once('exit', unlock);
  try {
    await work();
  } finally {
    unlock();
    process.off('exit', unlock);
  }
}

function tryLock(path, content) {
  try {
    const file = openSync(path, 'wx');
    writeSync(file, content);
    closeSync(file);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function isStale(path, holder) {
  try {
    if (Date.now() - statSync(path).mtimeMs > 15 * 60_000) return true;
    if (!holder) return false; // just made, not yet written
    process.kill(holder, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH'; // ENOENT: given back meanwhile; EPERM: alive
  }
}

export function readIfPresent(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}
