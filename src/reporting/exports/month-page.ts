// Renders the monthly report as one HTML page in Portuguese that loads nothing else, to be read,
// printed or saved as PDF.
import { printCount, printDay, printReais, printTime } from '../../brazil/printed-text.js';
import { nameOfKind } from '../../reconciliation/decide/break-kinds.js';
import type { ReportDay } from './month-days.js';

export interface MonthReport {
  slug: string;
  /** yyyy-mm. */
  month: string;
  /** By the bank's clock. A day that is not over has no certificate yet. */
  today: string;
  generatedAt: Date;
  openingCents: bigint;
  days: readonly ReportDay[];
  explanations: ReadonlyMap<string, bigint>;
  breaks: readonly { kind: string; breaks: bigint; amountCents: bigint; openedAt: Date }[];
}

const months = [
  ...['janeiro', 'fevereiro', 'março', 'abril', 'maio', 'junho'],
  ...['julho', 'agosto', 'setembro', 'outubro', 'novembro', 'dezembro'],
];

const explanationNames: [string, string][] = [
  ['matched', 'Conciliados'],
  ['classified', 'Classificados'],
  ['in_break', 'Em divergência'],
  ['pending', 'Pendentes'],
];

export function monthPage(report: MonthReport): string {
  const title = `Fechamento de ${months[Number(report.month.slice(5)) - 1]} de ${report.month.slice(0, 4)}`;
  return `<!DOCTYPE html>
<html lang="pt-BR"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(`${title} – ${report.slug}`)}</title>
<style>${style}</style></head><body>
<header><h1>${escape(title)}</h1>
<p>Conta <strong>${escape(report.slug)}</strong> · emitido em ${escape(printTime(report.generatedAt))} (horário de São Paulo)</p></header>
${figures(report)}
<section><h2>Saldo ao fim de cada dia</h2>
${balanceChart(report.days.map(({ day, closingCents }) => ({ day, cents: closingCents })))}</section>
${explanationTable(report)}
${breakTable(report)}
${dayTable(report)}
<footer>Cada dia do extrato vai das 03:00 às 03:00 UTC. O código do certificado é o seu SHA-256 na cadeia de fechamentos da conta.</footer>
</body></html>
`;
}

function figures({ openingCents, days }: MonthReport): string {
  const sum = (pick: (day: ReportDay) => bigint) =>
    days.reduce((total, day) => total + pick(day), 0n);
  const closing = days.at(-1)?.closingCents ?? openingCents;
  const cells: [string, string][] = [
    ['Saldo inicial', printReais(openingCents)],
    ['Créditos', printReais(sum(({ creditCents }) => creditCents))],
    ['Débitos', printReais(sum(({ debitCents }) => debitCents))],
    ['Saldo final', printReais(closing)],
    ['Lançamentos', printCount(sum(({ lines }) => lines))],
  ];
  return `<dl class="figures">${cells
    .map(([name, value]) => `<div><dt>${escape(name)}</dt><dd>${escape(value)}</dd></div>`)
    .join('')}</dl>`;
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

function explanationTable({ explanations }: MonthReport): string {
  const rows = explanationNames.map(([state, name]) => [
    escape(name),
    printCount(explanations.get(state) ?? 0n),
  ]);
  return `<section><h2>Lançamentos por situação</h2>${table(['Situação', 'Lançamentos'], rows)}</section>`;
}

function breakTable({ breaks }: MonthReport): string {
  const rows = breaks.map(({ kind, breaks: count, amountCents, openedAt }) => [
    escape(nameOfKind(kind, 'pt')),
    printCount(count),
    printReais(amountCents),
    escape(printTime(openedAt)),
  ]);
  const body =
    rows.length === 0
      ? '<p>Nenhuma divergência em aberto.</p>'
      : table(['Divergência', 'Quantidade', 'Valor', 'Aberta desde'], rows);
  return `<section><h2>Divergências em aberto</h2>${body}</section>`;
}

function dayTable({ days, today }: MonthReport): string {
  const rows = days.map((day) => [
    printDay(day.day),
    printCount(day.lines),
    printReais(day.creditCents),
    printReais(day.debitCents),
    printReais(day.closingCents),
    certificateCell(day, today),
  ]);
  const heads = ['Dia', 'Lançamentos', 'Créditos', 'Débitos', 'Saldo final', 'Certificado'];
  return `<section class="days"><h2>Dias</h2>${table(heads, rows)}</section>`;
}

function certificateCell({ day, certificate }: ReportDay, today: string): string {
  if (certificate === null)
    return day >= today
      ? '<span class="open">dia em curso</span>'
      : '<strong class="missing">sem certificado</strong>';
  const amended = certificate.revision > 1 ? ` (retificação ${certificate.revision - 1})` : '';
  const differs = certificate.agrees ? '' : ' <strong class="missing">difere do extrato</strong>';
  return `<code>${escape(certificate.hash)}</code>${escape(amended)}${differs}`;
}

/** The cells are HTML already. Columns of numbers are right-aligned. */
function table(heads: string[], rows: string[][]): string {
  const isNumber = (cell: string) => /^(R\$\u00a0)?-?[\d.,]+$/.test(cell);
  const classes = rows[0]?.map((cell) => (isNumber(cell) ? ' class="number"' : '')) ?? [];
  const row = (tag: string, cells: string[]) =>
    `<tr>${cells.map((cell, index) => `<${tag}${classes[index] ?? ''}>${cell}</${tag}>`).join('')}</tr>`;
  return (
    `<table><thead>${row('th', heads.map(escape))}</thead>` +
    `<tbody>${rows.map((cells) => row('td', cells)).join('\n')}</tbody></table>`
  );
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
code{font-size:.68rem;word-break:break-all}
.missing{color:#a40000}.open{color:#555}
svg{width:100%;height:auto}svg text{font-size:10px;fill:#555}
svg polyline{fill:none;stroke:#14532d;stroke-width:1.8}svg circle{fill:#14532d}svg .axis{stroke:#d4d8dd}
footer{margin-top:2rem;font-size:.75rem;color:#555}
@page{size:A4;margin:14mm 14mm 16mm;@bottom-right{content:counter(page) " / " counter(pages);font:8pt sans-serif;color:#555}}
@media print{
body{margin:0;max-width:none;padding:0;font-size:10pt}h1{font-size:16pt}h2{font-size:11pt;margin:1.2rem 0 .4rem;break-after:avoid}
.figures{grid-template-columns:repeat(5,auto);gap:.3rem}.figures div{padding:.4rem}dd{font-size:8.5pt}
table{font-size:8pt}th,td{padding:.14rem .4rem}thead{display:table-header-group}
tr,svg,.figures{break-inside:avoid}.days{break-before:page}
code{display:block;width:32ch;font-size:6.5pt;line-height:1.2}.missing{white-space:nowrap}
footer{margin-top:1rem}
}
`;
