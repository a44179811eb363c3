// Preloaded into a process, it shifts the process's wall clock by the milliseconds in the file that
// CLOCK_SHIFT_FILE names. A test may change the file at any time. The monotonic clock stays.
import { readFileSync } from 'node:fs';

const RealDate = Date;
const rereadMs = 50;
let readAt = -Infinity;
let shiftMs = 0;

function now() {
  if (performance.now() - readAt > rereadMs) {
    readAt = performance.now();
    shiftMs = Number(readFileSync(process.env.CLOCK_SHIFT_FILE, 'utf8'));
  }
  return RealDate.now() + shiftMs;
}

globalThis.Date = new Proxy(RealDate, {
  apply: () => new RealDate(now()).toString(),
  construct: (target, values, newTarget) =>
    Reflect.construct(target, values.length > 0 ? values : [now()], newTarget),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
