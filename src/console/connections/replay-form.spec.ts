import { describe, expect, it } from '@jest/globals';
import { readLocalTime, readReplayForm } from './replay-form.js';

describe('the form of a replay', () => {
  it('is about dead deliveries unless it names a time', () => {
    const none = { eventType: undefined, since: null, after: null };
    expect(readReplayForm(new URLSearchParams(''))).toEqual({ what: 'dead', ...none });
    expect(readReplayForm(new URLSearchParams('after=7&since=2026-11-24T10:00'))).toEqual({
      ...{ what: 'dead', ...none },
    });
    expect(
      readReplayForm(
        new URLSearchParams('what=since&since=2026-11-24T10:00&eventType=charge.paid&after=7'),
      ),
    ).toEqual({
      ...{ what: 'since', eventType: 'charge.paid', after: 7n },
      since: new Date('2026-11-24T13:00:00Z'),
    });
  });

  it.each(['', 'now', '2026-11-24', '2026-13-01T10:00', '2026-11-24T25:00', '2026-11-24T10:00Z'])(
    'has no time in %p',
    (text) => {
      expect(readLocalTime(text)).toBeNull();
    },
  );

  it('reads seconds', () => {
    expect(readLocalTime('2026-11-24T10:00:05')).toEqual(new Date('2026-11-24T13:00:05Z'));
  });
});
