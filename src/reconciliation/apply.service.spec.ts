import { setImmediate } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { facts } from '../../test/support/facts.js';
import { DecisionWriter } from './apply.service.js';
import { decide } from './decide/decide.js';

it('ends a decision after the one before it, also where there is nothing to write', async () => {
  const writer = new DecisionWriter(null as never, null as never);
  const ended: string[] = [];
  let end: () => void = () => undefined;
  const previous = new Promise<void>((resolve) => (end = resolve)).then(() => ended.push('first'));
  const next = { decision: decide(facts({})), stored: { lines: [], breaks: [] }, previous };
  const closed = { closedFrom: null, closedUntil: null };
  const applied = writer
    .apply(null as never, 1, next, { freshMs: 0, closed })
    .then(() => ended.push('second'));
  await setImmediate();
  end();
  await applied;
  expect(ended).toEqual(['first', 'second']);
});
