// '2 days' as the bank's clock reads it: 'P2D'.

const units = {
  ...{ year: ['date', 'Y'], month: ['date', 'M'], week: ['date', 'W'], day: ['date', 'D'] },
  ...{ hour: ['time', 'H'], minute: ['time', 'M'], second: ['time', 'S'] },
} as const;
type Unit = keyof typeof units;
const names = Object.keys(units) as Unit[];

const part = new RegExp(`([0-9]+) (${names.join('|')})s?`, 'g');
const whole = new RegExp(`^[0-9]+ (?:${names.join('|')})s?(?: [0-9]+ (?:${names.join('|')})s?)*$`);

/**
 * From '2 days' or '1 hour 30 minutes', or ISO 8601 as it is. Throws TypeError for another text and
 * for a unit that is named twice.
 */
export function isoDuration(text: string): string {
  if (/^P[0-9A-Z.,]+$/.test(text)) return text;
  const parts = new Map(
    [...text.matchAll(part)].map(([, count, unit]) => [unit as Unit, count as string]),
  );
  if (!whole.test(text) || parts.size < [...text.matchAll(part)].length)
    throw new TypeError(`"${text}" is no duration: write "2 days", "1 hour 30 minutes" or "P2D".`);
  const written = (place: 'date' | 'time') =>
    names
      .filter((unit) => units[unit][0] === place && parts.has(unit))
      .map((unit) => `${parts.get(unit)}${units[unit][1]}`)
      .join('');
  const time = written('time');
  return `P${written('date')}${time && `T${time}`}`;
}
