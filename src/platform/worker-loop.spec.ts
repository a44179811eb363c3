import { WorkerLoop } from './worker-loop.js';

/** WorkerLoop that end when they are told to. */
function heldRounds(maxIdleMs = 60_000) {
  const held: (() => void)[] = [];
  let begun = 0;
  const loop = new WorkerLoop(async () => {
    begun += 1;
    await new Promise<void>((resolve) => held.push(resolve));
    return maxIdleMs;
  }, maxIdleMs);
  return { loop, begun: () => begun, endOne: () => held.shift()?.() };
}

it('makes one more round of however many wake-ups come during one, and never two at once', async () => {
  const { loop, begun, endOne } = heldRounds();
  for (let count = 0; count < 5; count += 1) loop.trigger();
  expect(begun()).toBe(1);
  for (let count = 0; count < 5; count += 1) loop.trigger();
  endOne();
  await new Promise(setImmediate);
  expect(begun()).toBe(2);
  endOne();
  await loop.idle();
  expect(begun()).toBe(2);
  await loop.stop();
});

it('looks again by itself, no later than it may idle', async () => {
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

it('is moved forward by what is due sooner, and not back by what is due later', async () => {
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

it('waits for its round when it is stopped, and begins no other', async () => {
  const { loop, begun, endOne } = heldRounds(1);
  loop.trigger();
  loop.trigger();
  const stopped = loop.stop();
  endOne();
  await stopped;
  loop.trigger();
  loop.triggerIn(0);
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(begun()).toBe(1);
});
