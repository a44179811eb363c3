// What is delivered once more to an endpoint, as the form says it: its dead deliveries, or every
// event since a time in São Paulo.
import { typedDay } from '../typed-day.js';
import { eventTypes, type EventType } from '../../events/event-types.js';

export interface ReplayForm {
  what: 'dead' | 'since';
  eventType: EventType | undefined;
  /** Null if no valid time was given, and for dead deliveries. */
  since: Date | null;
  /** Goes on after a position where an earlier replay ended; null at first. */
  after: bigint | null;
}

export function readReplayForm(form: URLSearchParams): ReplayForm {
  const after = form.get('after') ?? '';
  const what = form.get('what') === 'since' ? 'since' : 'dead';
  return {
    what,
    eventType: eventTypes.find((type) => type === form.get('eventType')),
    since: what === 'since' ? readLocalTime(form.get('since') ?? '') : null,
    after: what === 'since' && /^\d{1,18}$/.test(after) ? BigInt(after) : null,
  };
}

/** São Paulo has kept UTC−3 without daylight saving time since 2019. */
const offset = '-03:00';

/** A time as a person types it. Null for what is no time. */
export function readLocalTime(typed: string): Date | null {
  const text = typedDay(typed);
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/.test(text)) return null;
  const seconds = text.length === 'yyyy-mm-ddThh:mm'.length ? ':00' : '';
  const time = new Date(`${text}${seconds}${offset}`);
  return Number.isNaN(time.getTime()) ? null : time;
}
