import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { pausesBetweenSlices } from './slots.js';

it('lets other work run while a long work goes on', async () => {
  const pause = pausesBetweenSlices();
  let isOtherDone = false;
  const other = nextTurn().then(() => (isOtherDone = true));
  // Without pauses, the other work would wait for the end of this one.
  for (let step = 0; !isOtherDone && step < 50_000_000; step += 1) await pause();
  expect(isOtherDone).toBe(true);
  await other;
});

it('does not pause a short work', () => {
  expect(pausesBetweenSlices()()).toBeUndefined();
});
