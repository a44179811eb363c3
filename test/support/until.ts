import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits until `check` returns a value that is neither null nor false. An error counts as not yet.
 */
export async function until<Value>(
  condition: string,
  check: () => Promise<Value | null | false> | Value | null | false,
  timeoutMs = 20_000,
): Promise<Value> {
  const deadlineMs = Date.now() + timeoutMs;
  let last: unknown = null;
  while (Date.now() < deadlineMs) {
    try {
      const value = await check();
      if (value !== null && value !== false) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    await sleep(25);
  }
  throw new Error(
    `timed out after ${timeoutMs} ms waiting until ${condition}; last: ${String(last)}`,
  );
}
