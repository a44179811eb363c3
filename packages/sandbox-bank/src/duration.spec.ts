import { fromWire, toWire } from './amounts.js';
import { isoDuration } from './duration.js';

describe('a duration', () => {
  it.each([
    ['2 days', 'P2D'],
    ['1 day', 'P1D'],
    ['90 minutes', 'PT90M'],
    ['1 hour 30 minutes', 'PT1H30M'],
    ['1 week 2 hours', 'P1WT2H'],
    ['30 minutes 1 day', 'P1DT30M'],
    ['P1M', 'P1M'],
    ['PT0.5S', 'PT0.5S'],
  ])('%s is %s', (text, iso) => expect(isoDuration(text)).toBe(iso));

  it.each(['', 'two days', '2days', '-1 day', '1.5 days', '1 day 1 day', '2 days ', '1 fortnight'])(
    '%j is refused',
    (text) => expect(() => isoDuration(text)).toThrow(TypeError),
  );
});

describe('an amount', () => {
  it.each(['0.01', '149.90', '99999999999.99', '999999999999.99', '0.29', '10.00'])(
    '%s is the same after the way to the bank and from it',
    (amount) => {
      const sent = JSON.stringify(toWire({ amount, payer: { name: '5.00' } }));
      expect(sent).toContain('"name":"5.00"');
      expect(fromWire(sent)).toEqual({ amount, payer: { name: '5.00' } });
    },
  );

  it.each(['1.001', '', 'NaN', '-1.00', '01.00', '1e3', '1,00', '1000000000000.00'])(
    '%j is refused',
    (amount) => expect(() => toWire({ items: [{ amount }] })).toThrow(TypeError),
  );

  it('is left alone where there is none, and a text that is no JSON too', () => {
    expect(fromWire('{"amount":null}')).toEqual({ amount: null });
    expect([fromWire('Updated'), fromWire('')]).toEqual(['Updated', null]);
  });
});
