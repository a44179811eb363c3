// Renders the monthly report as one HTML page in Portuguese that loads nothing else, to be read,
// printed or saved as PDF.
import { printReais } from '../../brazil/printed-text.js';
import type { MonthFigures } from './month-figures.js';
import { reportTexts, type ReportCell, type ReportSection } from './month-sections.js';

export function monthPage(figures: MonthFigures): string {
  const { title, account, issued, facts, sections, foot } = reportTexts(figures);
  const [money, ...others] = sections.map(sectionOf);
  return `<!DOCTYPE html>
<html lang="pt-BR"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(`${title} – ${account}`)}</title>
<style>${style}</style></head><body>
<header><h1>${escape(title)}</h1>
<p>Conta <strong>${escape(account)}</strong> · ${escape(issued)}</p></header>
<dl class="figures">${facts
    .map(([name, value]) => `<div><dt>${escape(name)}</dt><dd>${escape(value)}</dd></div>`)
    .join('')}</dl>
${money}
<section><h2>Saldo ao fim de cada dia</h2>
${balanceChart(figures.days.map(({ day, closingCents }) => ({ day, cents: closingCents })))}</section>
${others.join('\n')}
<footer>${escape(foot)}</footer>
</body></html>
`;
}

const chartSize = { width: 720, height: 180, left: 130, right: 12, top: 14, bottom: 26 };

/** The balance at the end of each day as an SVG inside the page, so that it is printed too. */
function balanceChart(points: readonly { day: string; cents: bigint }[]): string {
  if (points.length === 0) return '';
  const cents = points.map((point) => point.cents);
  const zero = 0n;
  // The axis always contains zero, so that a small change does not look like a large one.
  const highest = [...cents, zero].reduce((a, b) => (a > b ? a : b));
  const lowest = [...cents, zero].reduce((a, b) => (a < b ? a : b));
  const span = highest === lowest ? 1n : highest - lowest;
  const plotHeight = chartSize.height - chartSize.top - chartSize.bottom;
  const plotWidth = chartSize.width - chartSize.left - chartSize.right;
  // The ratio is exact to a millionth before it is converted to a coordinate.
  const y = (value: bigint) =>
    chartSize.top + plotHeight * (1 - Number(((value - lowest) * 1_000_000n) / span) / 1_000_000);
  const x = (index: number) =>
    chartSize.left +
    (points.length === 1 ? plotWidth / 2 : (plotWidth * index) / (points.length - 1));
  const coordinate = (value: number) => value.toFixed(1);
  const line = points.map(
    ({ cents: value }, index) => `${coordinate(x(index))},${coordinate(y(value))}`,
  );
  const marks = [...new Set([highest, zero, lowest])].map(
    (value) =>
      `<line class="axis" x1="${chartSize.left}" x2="${chartSize.width - chartSize.right}" y1="${coordinate(y(value))}" y2="${coordinate(y(value))}"/>` +
      `<text x="${chartSize.left - 8}" y="${coordinate(y(value) + 4)}" text-anchor="end">${printReais(value)}</text>`,
  );
  const days = points.map(({ day, cents: value }, index) => {
    const isLabelled = index === 0 || index === points.length - 1 || (index + 1) % 5 === 0;
    const isCrowded = isLabelled && index !== points.length - 1 && points.length - 1 - index < 2;
    const dot = `<circle cx="${coordinate(x(index))}" cy="${coordinate(y(value))}" r="2.5"/>`;
    return isLabelled && !isCrowded
      ? `${dot}<text x="${coordinate(x(index))}" y="${chartSize.height - 8}" text-anchor="middle">${day.slice(8)}</text>`
      : dot;
  });
  return (
    `<svg viewBox="0 0 ${chartSize.width} ${chartSize.height}" role="img" aria-label="Saldo ao fim de cada dia">` +
    `${marks.join('')}<polyline points="${line.join(' ')}"/>${days.join('')}</svg>`
  );
}

function sectionOf({ title, note, columns, rows, empty }: ReportSection): string {
  const row = (tag: string, cells: readonly ReportCell[]) =>
    `<tr>${cells
      .map((cell, index) => `<${tag} class="${columns[index]?.is}">${textOf(cell)}</${tag}>`)
      .join('')}</tr>`;
  const heads = columns.map((column) => column.title);
  const body =
    rows.length === 0 && empty !== undefined
      ? `<p>${escape(empty)}</p>`
      : `<table><thead>${row('th', heads)}</thead>` +
        `<tbody>${rows.map((cells) => row('td', cells)).join('\n')}</tbody></table>`;
  const remark = note === undefined ? '' : `<p class="note">${escape(note)}</p>`;
  return `<section><h2>${escape(title)}</h2>${remark}${body}</section>`;
}

function textOf(cell: ReportCell): string {
  if (typeof cell === 'string') return escape(cell);
  return `<strong class="${cell.tone}">${escape(cell.text)}</strong>`;
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

const style = `
*{box-sizing:border-box}
body{font:14px/1.45 system-ui,sans-serif;color:#1b1f24;max-width:60rem;margin:2rem auto;padding:0 1.5rem}
h1{font-size:1.6rem;margin:0}h2{font-size:1.05rem;margin:1.8rem 0 .5rem}
header p{margin:.2rem 0 1.2rem;color:#555}
.figures{display:grid;grid-template-columns:repeat(5,1fr);gap:.6rem;margin:0}
.figures div{border:1px solid #d4d8dd;border-radius:4px;padding:.5rem .7rem}
dt{font-size:.75rem;color:#555}dd{margin:0;font-weight:600;font-variant-numeric:tabular-nums;white-space:nowrap}
table{border-collapse:collapse;width:100%;font-size:.85rem}
th{text-align:left;border-bottom:2px solid #1b1f24;padding:.25rem .5rem;white-space:nowrap}
td{border-bottom:1px solid #e3e6ea;padding:.25rem .5rem;vertical-align:top}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td.code{font:.68rem monospace;word-break:break-all;min-width:16ch}
.bad{color:#a40000;font-weight:600}.note{margin:.2rem 0 .5rem;font-size:.8rem;color:#555}
section{overflow-x:auto}
svg{width:100%;height:auto}svg text{font-size:10px;fill:#555}
svg polyline{fill:none;stroke:#14532d;stroke-width:1.8}svg circle{fill:#14532d}svg .axis{stroke:#d4d8dd}
footer{margin-top:2rem;font-size:.75rem;color:#555}
@page{size:A4;margin:14mm 14mm 16mm;@bottom-right{content:counter(page) " / " counter(pages);font:8pt sans-serif;color:#555}}
@media print{
body{margin:0;max-width:none;padding:0;font-size:10pt}h1{font-size:16pt}h2{font-size:11pt;margin:1.2rem 0 .4rem;break-after:avoid}
.figures{grid-template-columns:repeat(5,auto);gap:.3rem}.figures div{padding:.4rem}dd{font-size:8.5pt}
table{font-size:8pt}th,td{padding:.14rem .4rem}thead{display:table-header-group}
tr,svg,.figures{break-inside:avoid}section{overflow:visible}
td.code{font-size:6pt;line-height:1.2;width:32ch}
footer{margin-top:1rem}
}
`;
