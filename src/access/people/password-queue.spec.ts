import { expect, it } from '@jest/globals';
import { PasswordQueue, type PasswordSource } from './password-queue.js';

const limits = { concurrent: 2, waiting: 6, waitingPerSource: 3 };

/** What began and what was refused, in order. */
function queueOf() {
  const queue = new PasswordQueue(limits);
  const begun: string[] = [];
  const refused: string[] = [];
  const enter = (name: string, source: Partial<PasswordSource> = {}) => {
    const given = { source: name.slice(0, 1), isKnown: false, ...source };
    queue.enter(given, (mayBegin) => (mayBegin ? begun : refused).push(name));
  };
  const endAll = () => {
    for (let work = 0; work < begun.length; work += 1) queue.end();
  };
  return { queue, begun, refused, enter, endAll };
}

it('lets people at a known place go before all strangers', () => {
  const { enter, endAll, begun } = queueOf();
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1']) enter(name);
  enter('k1', { isKnown: true });
  endAll();
  expect(begun).toEqual(['a1', 'a2', 'k1', 'a3', 'b1', 'c1']);
});

it('gives strangers turns by address', () => {
  const { enter, endAll, begun } = queueOf();
  for (const name of ['x1', 'x2', 'a1', 'a2', 'a3', 'b1', 'b2', 'c1']) enter(name);
  endAll();
  expect(begun.slice(2)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});

it('refuses what is more than its source or the lane may have waiting', () => {
  const { enter, endAll, begun, refused, queue } = queueOf();
  for (const name of ['x1', 'x2', 'a1', 'a2', 'a3', 'a4']) enter(name);
  expect(refused).toEqual(['a4']);
  expect(queue.hasPlace({ source: 'a', isKnown: false })).toBe(false);
  for (const name of ['b1', 'b2', 'b3']) enter(name);
  // The lane is full: who has fewer takes the place of the last of whoever has most.
  enter('c1');
  expect(refused).toEqual(['a4', 'a3']);
  for (const name of ['d1', 'e1', 'f1', 'g1']) enter(name);
  // With one of each source there is nobody who has more.
  expect(refused).toEqual(['a4', 'a3', 'b3', 'a2', 'b2', 'g1']);
  endAll();
  expect(begun).toHaveLength(2 + limits.waiting);
});

it('frees its places in the end', () => {
  const { enter, endAll, begun } = queueOf();
  for (const name of ['a1', 'a2', 'a3', 'a4']) enter(name);
  endAll();
  for (const name of ['b1', 'b2']) enter(name);
  expect(begun).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'b2']);
});
