// How the console writes amounts and times, in one way each.
import type { PlainDate } from '../brazil/calendar.js';
import { printCount, printReais } from '../brazil/printed-text.js';
import { punctuateTaxId } from '../access/counterparties/party.js';
import type { Cents } from '../brazil/cents.js';
import type { Language } from './texts/languages.js';

/** `R$ 1.234,56` in every language: an amount is compared with the bank's, which writes it so. */
export function formatAmount(cents: Cents): string {
  return cents < 0n ? `−${printReais(-cents)}` : printReais(cents);
}

/** A CPF or CNPJ with its punctuation, also where a part of it is masked. */
export function writeTaxId(taxId: string | null): string | null {
  return taxId && (punctuateTaxId(taxId) ?? taxId);
}

const timeZone = 'America/Sao_Paulo';
const locales: Record<Language, string> = { pt: 'pt-BR', en: 'en-GB' };
const times = new Map<string, Intl.DateTimeFormat>();

/** Date and time in São Paulo. */
export function formatTime(time: Date | null, language: Language): string {
  if (time === null) return '—';
  return formatOf(language, { dateStyle: 'short', timeStyle: 'medium' }).format(time);
}

/** The time of day in São Paulo. */
export function formatClock(time: Date, language: Language): string {
  return formatOf(language, { timeStyle: 'medium' }).format(time);
}

/** A calendar day, `23/11/2026`. */
export function formatDay(day: PlainDate, language: Language): string {
  return calendarFormat(language, { dateStyle: 'short' }).format(noonOf(day));
}

/** A calendar day without its year, for the axis of a chart: `23/11`, `23 Nov`. */
export function formatDayOfMonth(day: PlainDate, language: Language): string {
  const month = language === 'pt' ? '2-digit' : 'short';
  return calendarFormat(language, { day: '2-digit', month }).format(noonOf(day));
}

function noonOf(day: PlainDate): Date {
  return new Date(`${day}T12:00:00Z`);
}

function calendarFormat(language: Language, options: Intl.DateTimeFormatOptions) {
  return formatOf(language, { ...options, timeZone: 'UTC' });
}

export function formatCount(count: bigint | number): string {
  return printCount(BigInt(count));
}

/** `350 ms`, `2,4 s`, `12 min`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1_000;
  if (seconds < 120) return `${seconds.toFixed(1).replace('.', ',')} s`;
  return `${Math.round(seconds / 60)} min`;
}

/** Formats are slow to make. */
function formatOf(language: Language, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${language} ${JSON.stringify(options)}`;
  const known =
    times.get(key) ?? new Intl.DateTimeFormat(locales[language], { timeZone, ...options });
  times.set(key, known);
  return known;
}

/** Of a page: its tags, and characters that turn text around, hide, or control a device. */
const tagOrUnseen =
  /<(?:"[^"]*"|[^">])*>|(?![\t\n\r])\p{Cc}|[\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;

/** The page with such characters of its text named, so that none is obeyed. */
export function withUnseenNamed(html: string): string {
  return html.replace(tagOrUnseen, (found) => (found.startsWith('<') ? found : escapeOf(found)));
}

/** The escape of JSON for a character, in place of one that would not be seen as itself. */
export function escapeOf(character: string): string {
  const units = character.split('').map((unit) => unit.charCodeAt(0));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
