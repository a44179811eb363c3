import fc from 'fast-check';
import { addDuration } from './duration.js';

const from = new Date('2026-01-31T12:00:00.000Z');
const added = (text: string, start = from) => addDuration(start, text)?.toISOString() ?? null;

it.each([
  ['PT0S', '2026-01-31T12:00:00.000Z'],
  ['PT1S', '2026-01-31T12:00:01.000Z'],
  ['PT0.25S', '2026-01-31T12:00:00.250Z'],
  ['PT1.5S', '2026-01-31T12:00:01.500Z'],
  ['PT1,5S', '2026-01-31T12:00:01.500Z'],
  ['PT90M', '2026-01-31T13:30:00.000Z'],
  ['PT36H', '2026-02-02T00:00:00.000Z'],
  ['P1D', '2026-02-01T12:00:00.000Z'],
  ['P2W', '2026-02-14T12:00:00.000Z'],
  ['P1Y2M3DT4H5M6S', '2027-04-03T16:05:06.000Z'],
])('adds %s', (text, expected) => {
  expect(added(text)).toBe(expected);
});

it('uses the last day of the month when the target month is shorter', () => {
  expect(added('P1M')).toBe('2026-02-28T12:00:00.000Z');
  expect(added('P3M')).toBe('2026-04-30T12:00:00.000Z');
  expect(added('P1Y', new Date('2028-02-29T00:00:00Z'))).toBe('2029-02-28T00:00:00.000Z');
});

it.each([
  ...[
    '',
    'P',
    'PT',
    'P1',
    '1D',
    'P-1D',
    '-P1D',
    'P1.5D',
    'PT1',
    'P1H',
    'PT1D',
    'p1d',
    ' P1D',
    'P1D ',
  ],
  ...['P1M1Y', 'P1DT', 'PT1S1M', 'P١D', 'P1D\n', `P${'9'.repeat(400)}D`],
])('refuses %j', (text) => {
  expect(added(text)).toBeNull();
});

it('never throws, and never returns an earlier time', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'PTYMWDHS0123456789.') }), (text) => {
      const moved = addDuration(from, text);
      if (moved) expect(moved.getTime()).toBeGreaterThanOrEqual(from.getTime());
    }),
  );
});

it('adds days, hours, minutes and seconds exactly', () => {
  const number = fc.nat({ max: 5_000 });
  fc.assert(
    fc.property(number, number, number, number, (days, hours, minutes, seconds) => {
      const moved = addDuration(from, `P${days}DT${hours}H${minutes}M${seconds}S`)!;
      const passed = ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
      expect(moved.getTime() - from.getTime()).toBe(passed * 1_000);
    }),
  );
});
