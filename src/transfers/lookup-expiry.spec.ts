import { describe, expect, it } from '@jest/globals';
import { buildEndToEndId } from '../brazil/end-to-end-id.js';
import { lookupExpiry } from './lookup-expiry.js';

const noon = new Date('2026-05-15T12:00:30Z');
const idAt = (at: string) =>
  buildEndToEndId({ kind: 'E', ispb: '99999999', at: new Date(at), sequence: 'abcdefghijk' });

describe('lookupExpiry', () => {
  it.each([
    ['the minute of its id', idAt('2026-05-15T12:00:00Z'), '2026-05-16T00:00:00.000Z'],
    ['an older id', idAt('2026-05-15T11:00:00Z'), '2026-05-15T23:00:00.000Z'],
    [
      'the look-up, where the id is ahead',
      idAt('2026-05-15T18:00:00Z'),
      '2026-05-16T00:00:30.000Z',
    ],
    ['the look-up, where the id tells no time', 'opaque', '2026-05-16T00:00:30.000Z'],
  ])('is twelve hours after %s', (_, id, expected) =>
    expect(lookupExpiry(id, noon).toISOString()).toBe(expected),
  );
});
