// A lock file: only one process at a time prepares a checkout. The lock of a killed process is
// removed.
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';

/** Runs `work` while this process holds the lock; waits while another process holds it. */
export async function withLock(path, work) {
  const mine = `${process.pid} ${randomBytes(4).toString('hex')}`;
  for (let isReported = false; !tryLock(path, mine);) {
    const holder = Number.parseInt(readIfPresent(path) ?? '', 10);
    if (isStale(path, holder)) rmSync(path, { force: true });
    else if (!isReported) {
      isReported = true;
      console.log(`• Waiting for process ${holder}, which is preparing this checkout …`);
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
    if (!holder) return false; // created, but its process id is not yet written
    process.kill(holder, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH'; // ENOENT: the lock was released; EPERM: its process is alive
  }
}

/** A text, or the bytes when `encoding` is null. */
export function readIfPresent(path, encoding = 'utf8') {
  try {
    return readFileSync(path, encoding);
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}
