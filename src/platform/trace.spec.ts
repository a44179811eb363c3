import { setTimeout as later } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { currentTraceId, newTraceId, runWithTrace, traceIdFrom } from './trace.js';

const id = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceIdText = /^[0-9a-f]{32}$/;

it('uses the trace id of the caller', () => {
  expect(traceIdFrom(`00-${id}-00f067aa0ba902b7-01`)).toBe(id);
});

it.each([
  undefined,
  '',
  'garbage',
  id,
  `00-${id}`,
  `00-${id.toUpperCase()}-00f067aa0ba902b7-01`,
  `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
  `00-${id}-${'0'.repeat(16)}-01`,
  `ff-${id}-00f067aa0ba902b7-01`,
  `00-${id}-00f067aa0ba902b7-01\nforged`,
  `00-${id.slice(1)}g-00f067aa0ba902b7-01`,
])('creates a trace id for %j', (header) => {
  const created = traceIdFrom(header);
  expect(created).toMatch(traceIdText);
  expect(created).not.toBe(id);
});

it('returns a trace id of 32 hexadecimal digits for every header', () => {
  fc.assert(fc.property(fc.string(), (header) => expect(traceIdFrom(header)).toMatch(traceIdText)));
});

describe('runWithTrace', () => {
  it('gives concurrent work separate trace ids, also after an await', async () => {
    const ids = Array.from({ length: 20 }, newTraceId);
    const currentIds = await Promise.all(
      ids.map((one) =>
        runWithTrace(one, async () => {
          await later(1);
          return currentTraceId();
        }),
      ),
    );
    expect(currentIds).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('sets no trace id outside, and the innermost one inside', () => {
    expect(currentTraceId()).toBeNull();
    const inner = runWithTrace('a', () => runWithTrace('b', () => currentTraceId()));
    expect([inner, currentTraceId()]).toEqual(['b', null]);
  });
});
