import { setTimeout as later } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  beginSpan,
  continueTrace,
  currentTrace,
  currentTraceId,
  currentTraceparent,
  inSpan,
  newTraceId,
  recordSpansBy,
  runWithTrace,
  traceIdFrom,
  type SpanContext,
} from './trace.js';

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

describe('spans', () => {
  const spanId = '00f067aa0ba902b7';
  const traceparent = `00-${id}-${spanId}-01`;
  const caller: SpanContext = { traceId: id, spanId, traceFlags: 1 };

  it('are none without a recorder: no traceparent is carried on', async () => {
    await inSpan('work', 'INTERNAL', async (span) => {
      expect([span, beginSpan('part', 'CLIENT', traceparent)]).toEqual([null, null]);
      expect(currentTraceparent()).toBeNull();
    });
  });

  describe('with a recorder', () => {
    const begun: { name: string; parent?: SpanContext; cause?: SpanContext; ended?: unknown }[] =
      [];
    beforeEach(() => {
      begun.length = 0;
      recordSpansBy((name, _, { parent, cause }) => {
        const span: (typeof begun)[number] = { name, parent, cause };
        const traceId = parent?.traceId ?? currentTraceId() ?? newTraceId();
        const context = { traceId, spanId: `${begun.push(span)}`.padStart(16, '0'), traceFlags: 1 };
        return { context, set: () => undefined, end: (error) => (span.ended = error ?? 'ended') };
      });
    });
    afterAll(() => recordSpansBy(null));

    it('have the id of the trace, also after an await, and end with their work', async () => {
      await runWithTrace(id, () =>
        inSpan('request', 'SERVER', async () => {
          await later(1);
          await inSpan('call', 'CLIENT', async () => expect(currentTraceId()).toBe(id));
        }),
      );
      const request = { traceId: id, spanId: '0000000000000001', traceFlags: 1 };
      expect(begun).toEqual([
        { name: 'request', parent: undefined, cause: undefined, ended: 'ended' },
        { name: 'call', parent: request, cause: undefined, ended: 'ended' },
      ]);
    });

    it('end with the error of their work, which is thrown', async () => {
      const error = new Error('refused');
      await expect(inSpan('job', 'CONSUMER', () => Promise.reject(error))).rejects.toBe(error);
      expect(begun).toMatchObject([{ name: 'job', ended: error }]);
    });

    it('continue a stored trace, linked to the work that does', async () => {
      await inSpan('job', 'CONSUMER', async () => {
        beginSpan('settlement', 'INTERNAL', traceparent)?.end();
        continueTrace(traceparent, () => expect(currentTraceparent()).toBe(traceparent));
        continueTrace(null, () => beginSpan('part', 'INTERNAL')?.end());
      });
      const [, settlement, part] = begun;
      expect(settlement).toMatchObject({ parent: caller, cause: { spanId: '0000000000000001' } });
      expect(part).toMatchObject({ parent: { spanId: '0000000000000001' }, cause: undefined });
    });

    it('show no more of themselves in log lines than the id of their trace', async () => {
      await runWithTrace(
        id,
        () =>
          inSpan('job', 'CONSUMER', async () =>
            expect(currentTrace()).toEqual({ traceId: id, clientAddress: '203.0.113.7' }),
          ),
        '203.0.113.7',
      );
    });
  });
});
