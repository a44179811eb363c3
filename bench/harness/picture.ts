// Draws the figures of a bench: a bar for each median, and a line from the lowest to the highest.
import type { BenchResult } from './report.js';
import { formatFigure } from './rounds.js';

const width = 760;
const labelWidth = 260;
const figureWidth = 110;
const rowHeight = 34;
const barHeight = 16;
const top = 44;
const colors = { product: '#2f6fde', yardstick: '#8a94a6', range: '#d9822b' };

export function drawFigures({ id, title, unit, figures, goals }: BenchResult): string {
  const rows = Object.entries(figures);
  const longest = Math.max(...rows.map(([, { max }]) => max)) || 1;
  const scale = (width - labelWidth - figureWidth) / longest;
  const isProduct = (name: string) => goals.some(({ of }) => of === name);
  const bars = rows.map(([name, { median, min, max }], index) => {
    const middle = top + index * rowHeight + rowHeight / 2;
    const color = isProduct(name) ? colors.product : colors.yardstick;
    const [from, to] = [min, max].map((figure) => labelWidth + figure * scale);
    const bar =
      `<rect x="${labelWidth}" y="${middle - barHeight / 2}" height="${barHeight}" rx="2" ` +
      `width="${(median * scale).toFixed(1)}" fill="${color}"/>`;
    const range =
      `<line x1="${from?.toFixed(1)}" x2="${to?.toFixed(1)}" y1="${middle}" y2="${middle}" ` +
      `stroke="${colors.range}" stroke-width="2"/>`;
    const label = text(labelWidth - 10, middle + 4, name, 'end');
    const figure = text(Number(to) + 8, middle + 4, formatFigure(median), 'start');
    return [label, bar, range, figure].join('\n  ');
  });
  const height = top + rows.length * rowHeight + 12;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ` +
      `font-family="system-ui, sans-serif" font-size="13">`,
    `  <rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `  <text x="12" y="24" font-size="15" font-weight="600" fill="#1c2430">` +
      `${escape(`${id}: ${title}, ${unit}`)}</text>`,
    `  ${bars.join('\n  ')}`,
    '</svg>',
    '',
  ].join('\n');
}

function text(x: number, y: number, content: string, anchor: 'start' | 'end'): string {
  return (
    `<text x="${x.toFixed(1)}" y="${y}" text-anchor="${anchor}" fill="#1c2430">` +
    `${escape(content)}</text>`
  );
}

function escape(content: string): string {
  return content.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');
}
