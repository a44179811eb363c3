import { Rounds } from './rounds.js';

/** Rounds that end when they are told to. */
function heldRounds(maxIdleMs = 60_000) {
  const held: (() => void)[] = [];
  let begun = 0;
  const rounds = new Rounds(async () => {
    begun += 1;
    await new Promise<void>((resolve) => held.push(resolve));
    return maxIdleMs;
  }, maxIdleMs);
  return { rounds, begun: () => begun, endOne: () => held.shift()?.() };
}

it('makes one more round of however many wake-ups come during one, and never two at once', async () => {
  const { rounds, begun, endOne } = heldRounds();
  for (let count = 0; count < 5; count += 1) rounds.wake();
  expect(begun()).toBe(1);
  for (let count = 0; count < 5; count += 1) rounds.wake();
  endOne();
  await new Promise(setImmediate);
  expect(begun()).toBe(2);
  endOne();
  await rounds.idle();
  expect(begun()).toBe(2);
  await rounds.stop();
});

it('looks again by itself, no later than it may idle', async () => {
  let begun = 0;
  const third = new Promise<void>((resolve) => {
    const rounds = new Rounds(async () => {
      begun += 1;
      if (begun === 3) void rounds.stop().then(resolve);
      return 3_600_000;
    }, 5);
    rounds.wake();
  });
  await third;
  expect(begun).toBe(3);
});

it('is moved forward by what is due sooner, and not back by what is due later', async () => {
  let begun = 0;
  const rounds = new Rounds(async () => {
    begun += 1;
    return 60_000;
  }, 60_000);
  rounds.wake();
  await rounds.idle();
  rounds.wakeIn(5);
  rounds.wakeIn(50_000);
  while (begun < 2) await new Promise((resolve) => setTimeout(resolve, 1));
  await rounds.stop();
});

it('waits for its round when it is stopped, and begins no other', async () => {
  const { rounds, begun, endOne } = heldRounds(1);
  rounds.wake();
  rounds.wake();
  const stopped = rounds.stop();
  endOne();
  await stopped;
  rounds.wake();
  rounds.wakeIn(0);
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(begun()).toBe(1);
});
