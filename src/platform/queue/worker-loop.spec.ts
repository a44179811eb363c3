import { WorkerLoop } from './worker-loop.js';

/** A loop whose runs end only when `endRun` is called. */
function blockedLoop(maxIdleMs = 60_000) {
  const blocked: (() => void)[] = [];
  let begun = 0;
  const loop = new WorkerLoop(async () => {
    begun += 1;
    await new Promise<void>((resolve) => blocked.push(resolve));
    return maxIdleMs;
  }, maxIdleMs);
  return { loop, begun: () => begun, endRun: () => blocked.shift()?.() };
}

it('runs once more after any number of triggers during a run, and never overlaps', async () => {
  const { loop, begun, endRun } = blockedLoop();
  for (let count = 0; count < 5; count += 1) loop.trigger();
  expect(begun()).toBe(1);
  for (let count = 0; count < 5; count += 1) loop.trigger();
  endRun();
  await new Promise(setImmediate);
  expect(begun()).toBe(2);
  endRun();
  await loop.idle();
  expect(begun()).toBe(2);
  await loop.stop();
});

it('runs again without a trigger after its maximum idle time', async () => {
  let begun = 0;
  const third = new Promise<void>((resolve) => {
    const loop = new WorkerLoop(async () => {
      begun += 1;
      if (begun === 3) void loop.stop().then(resolve);
      return 3_600_000;
    }, 5);
    loop.trigger();
  });
  await third;
  expect(begun).toBe(3);
});

it('runs earlier when a sooner run is requested, and is not delayed by a later one', async () => {
  let begun = 0;
  const loop = new WorkerLoop(async () => {
    begun += 1;
    return 60_000;
  }, 60_000);
  loop.trigger();
  await loop.idle();
  loop.triggerIn(5);
  loop.triggerIn(50_000);
  while (begun < 2) await new Promise((resolve) => setTimeout(resolve, 1));
  await loop.stop();
});

it('waits for its current run when it is stopped, and starts no other', async () => {
  const { loop, begun, endRun } = blockedLoop(1);
  loop.trigger();
  loop.trigger();
  const stopped = loop.stop();
  endRun();
  await stopped;
  loop.trigger();
  loop.triggerIn(0);
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(begun()).toBe(1);
});
