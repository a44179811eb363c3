// Days, months and times as people type them: `29/11/2026`, `11/2026`, `29/11/2026 14:30`, or as
// the API has them. A browser's own field would be in the browser's language, not the reader's.
import { parsePlainDate } from '../brazil/calendar.js';
import type { Language } from './texts/languages.js';

/** What a field of a form or a filter asks for. */
export type DayKind = 'date' | 'month' | 'datetime';

/** As the API has it. What is no day stays text, which the schema of the request refuses. */
export function typedDay(text: string): string {
  const typed = text.trim();
  const [, day, month = '', year, time] =
    /^(?:(\d{1,2})\/)?(\d{1,2})\/(\d{4})(?:[ T](\d\d:\d\d))?$/.exec(typed) ?? [];
  if (year === undefined) return typed.replace(/^(\d{4}-\d\d-\d\d) (?=\d\d:\d\d)/, '$1T');
  const date = [year, month, ...(day === undefined ? [] : [day])].map((part) =>
    part.padStart(2, '0'),
  );
  return [date.join('-'), ...(time === undefined ? [] : [time])].join('T');
}

/** The month that an address asks for; null without one. */
export function askedMonth(query: URLSearchParams): string | null {
  const month = typedDay(query.get('month') ?? '');
  return parsePlainDate(`${month}-01`) === null ? null : month;
}

/** As a field shows a stored day to its reader. What is no day stays as it is. */
export function writeTypedDay(text: string, language: Language): string {
  const [, year, month, day, time] =
    /^(\d{4})-(\d\d)(?:-(\d\d))?(?:T(\d\d:\d\d))?$/.exec(text) ?? [];
  if (year === undefined) return text;
  const parts = [year, month, day].filter((part) => part !== undefined);
  const date = language === 'pt' ? parts.toReversed().join('/') : parts.join('-');
  return time === undefined ? date : `${date} ${time}`;
}
