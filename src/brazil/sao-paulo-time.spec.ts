import { describe, expect, it } from '@jest/globals';
import { saoPauloTime } from './sao-paulo-time.js';

describe('the local time in São Paulo', () => {
  it.each([
    ['2026-11-21T02:59:59.999Z', '20261120235959', -3],
    ['2026-11-21T03:00:00.000Z', '20261121000000', -3],
    ['2018-12-01T01:59:59Z', '20181130235959', -2],
    ['2018-12-01T02:00:00Z', '20181201000000', -2],
    ['2019-02-17T01:59:59Z', '20190216235959', -2],
    ['2019-02-17T02:00:00Z', '20190216230000', -3],
    ['2024-02-29T15:30:00Z', '20240229123000', -3],
  ])('at %s is %s', (instant, digits, offsetHours) => {
    expect(saoPauloTime(new Date(instant))).toEqual({ digits, offsetHours });
  });
});
