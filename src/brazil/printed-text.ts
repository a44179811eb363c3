// Amounts, days and times as people in Brazil read them.
import type { Cents } from './cents.js';
import type { PlainDate } from './calendar.js';
import { saoPauloTime } from './sao-paulo-time.js';

/** `R$ -1.234,56`, with a non-breaking space. */
export function printReais(cents: Cents): string {
  const magnitude = cents < 0n ? -cents : cents;
  const fraction = String(magnitude % 100n).padStart(2, '0');
  return `R$\u00a0${cents < 0n ? '-' : ''}${printCount(magnitude / 100n)},${fraction}`;
}

/** `1.234`. */
export function printCount(count: bigint): string {
  return count.toString().replace(/\B(?=(\d{3})+$)/g, '.');
}

/** `21/11/2026`. */
export function printDay(day: PlainDate): string {
  return `${day.slice(8, 10)}/${day.slice(5, 7)}/${day.slice(0, 4)}`;
}

/** `21/11/2026 09:05` in São Paulo. */
export function printTime(instant: Date): string {
  const { digits } = saoPauloTime(instant);
  const day = `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6, 8)}`;
  return `${printDay(day)} ${digits.slice(8, 10)}:${digits.slice(10, 12)}`;
}
