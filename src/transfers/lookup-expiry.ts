import { parseEndToEndId } from '../brazil/end-to-end-id.js';

/** The SPI takes an id whose own time differs by no more than this. */
const toleranceMs = 12 * 3_600_000;

/** Until when a look-up can begin a transfer: twelve hours after it, and after the time that its id tells. */
export function lookupExpiry(endToEndId: string, lookedUpAt: Date): Date {
  const told = parseEndToEndId(endToEndId)?.at ?? lookedUpAt;
  return new Date(Math.min(told.getTime(), lookedUpAt.getTime()) + toleranceMs);
}
