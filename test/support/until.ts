import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until `look` gives a value that is neither null nor false; its errors count as not yet. */
export async function until<Value>(
  what: string,
  look: () => Promise<Value | null | false> | Value | null | false,
  timeoutMs = 20_000,
): Promise<Value> {
  const giveUpAt = Date.now() + timeoutMs;
  let last: unknown = null;
  while (Date.now() < giveUpAt) {
    try {
      const value = await look();
      if (value !== null && value !== false) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    await sleep(25);
  }
  throw new Error(`gave up after ${timeoutMs} ms waiting until ${what}; last: ${String(last)}`);
}
