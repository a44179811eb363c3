// The balance at the end of each day, drawn: a page that is printed takes it along.
import { formatReal } from './real-text.js';

const size = { width: 720, height: 180, left: 110, right: 12, top: 14, bottom: 26 };

export function balanceDrawing(points: readonly { day: string; cents: bigint }[]): string {
  if (points.length === 0) return '';
  const cents = points.map((point) => point.cents);
  const zero = 0n;
  // Zero is always in the picture, so that a small change does not look like a great one.
  const highest = [...cents, zero].reduce((a, b) => (a > b ? a : b));
  const lowest = [...cents, zero].reduce((a, b) => (a < b ? a : b));
  const span = highest === lowest ? 1n : highest - lowest;
  const plotHeight = size.height - size.top - size.bottom;
  const plotWidth = size.width - size.left - size.right;
  // The share is exact to a millionth before it becomes a place on paper.
  const y = (value: bigint) =>
    size.top + plotHeight * (1 - Number(((value - lowest) * 1_000_000n) / span) / 1_000_000);
  const x = (index: number) =>
    size.left + (points.length === 1 ? plotWidth / 2 : (plotWidth * index) / (points.length - 1));
  const place = (value: number) => value.toFixed(1);
  const line = points.map(({ cents: value }, index) => `${place(x(index))},${place(y(value))}`);
  const marks = [...new Set([highest, zero, lowest])].map(
    (value) =>
      `<line class="axis" x1="${size.left}" x2="${size.width - size.right}" y1="${place(y(value))}" y2="${place(y(value))}"/>` +
      `<text x="${size.left - 8}" y="${place(y(value) + 4)}" text-anchor="end">${formatReal(value)}</text>`,
  );
  const days = points.map(({ day, cents: value }, index) => {
    const shown = index === 0 || index === points.length - 1 || (index + 1) % 5 === 0;
    const isCrowded = shown && index !== points.length - 1 && points.length - 1 - index < 2;
    const dot = `<circle cx="${place(x(index))}" cy="${place(y(value))}" r="2.5"/>`;
    return shown && !isCrowded
      ? `${dot}<text x="${place(x(index))}" y="${size.height - 8}" text-anchor="middle">${day.slice(8)}</text>`
      : dot;
  });
  return (
    `<svg viewBox="0 0 ${size.width} ${size.height}" role="img" aria-label="Saldo ao fim de cada dia">` +
    `${marks.join('')}<polyline points="${line.join(' ')}"/>${days.join('')}</svg>`
  );
}
