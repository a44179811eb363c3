// The logs of `npm run dev`: one line for each record, without JSON.
import { describe, expect, it } from '@jest/globals';

type ReadableLine = (line: string, options?: { isColoured?: boolean }) => string;
const path = '../scripts/readable-logs.mjs';
const { readableLine } = (await import(path)) as { readableLine: ReadableLine };

const time = new Date(2026, 0, 31, 9, 5, 7, 8).toISOString();
const record = (fields: object) =>
  JSON.stringify({ level: 30, time, pid: 1, name: 'concilia', ...fields });

describe('a log record', () => {
  it('becomes one line of time, level, message and fields', () => {
    const line = record({ traceId: 'a1', count: 2, path: '/a b', msg: 'bank request\nfailed' });
    expect(readableLine(line)).toBe(
      '09:05:07.008 INFO  bank request failed traceId=a1 count=2 path="/a b"',
    );
  });

  it('shows the stack and the cause of an error below its line', () => {
    const cause = { type: 'Error', message: 'inner', stack: 'Error: inner\n    at b (b.js:2:2)' };
    const stack = 'TypeError: outer\n    at a (a.js:1:1)';
    const err = { type: 'TypeError', message: 'outer', code: 'E_OUT', stack, cause };
    expect(readableLine(record({ level: 50, msg: 'failed', err })).split('\n')).toEqual([
      '09:05:07.008 ERROR failed err="TypeError (E_OUT): outer"',
      '    at a (a.js:1:1)',
      '    cause: Error: inner',
      '    at b (b.js:2:2)',
    ]);
  });

  it('is coloured on a terminal', () => {
    expect(readableLine(record({ level: 40, msg: 'slow' }), { isColoured: true })).toContain(
      '\u001B[33mWARN ',
    );
  });
});

it.each(['Concilia is running.', '', '{ not a record }', '{"type":"BANKSLIP_PIX"}'])(
  'a line that is no log record stays as it is: %j',
  (line) => expect(readableLine(line)).toBe(line),
);
