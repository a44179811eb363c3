// The monthly report as a PDF document: the texts of the page on A4 pages, in the terms of pdfmake.
import { reportTexts, type ReportCell, type ReportSection } from '../exports/month-sections.js';
import type { MonthFigures } from '../exports/month-figures.js';

const colours = { bad: '#a40000', total: '#1b1f24', plain: '#1b1f24' } as const;

export function monthPdf(figures: MonthFigures) {
  const { title, account, issued, facts, sections, foot } = reportTexts(figures);
  return {
    pageSize: 'A4',
    pageMargins: [32, 36, 32, 40],
    info: { title: `${title} – ${account}`, creationDate: figures.generatedAt },
    defaultStyle: { font: 'Roboto', fontSize: 8 },
    footer: (page: number, pages: number) => ({
      ...{ text: `${page} / ${pages}`, alignment: 'right', fontSize: 7, margin: [32, 12] },
    }),
    content: [
      { text: title, fontSize: 16, bold: true },
      { text: `Conta ${account} · ${issued}`, margin: [0, 2, 0, 10] },
      {
        layout: 'noBorders',
        table: {
          widths: facts.map(() => '*'),
          body: [
            facts.map(([name]) => ({ text: name, color: '#555555' })),
            facts.map(([, value]) => ({ text: value, bold: true, fontSize: 9 })),
          ],
        },
      },
      ...sections.flatMap(sectionOf),
      { text: foot, fontSize: 7, color: '#555555', margin: [0, 12, 0, 0] },
    ],
  };
}

function sectionOf({ title, note, columns, rows, empty }: ReportSection) {
  const headline = { text: title, fontSize: 11, bold: true, margin: [0, 12, 0, 2] };
  const remarks = [note, ...(rows.length === 0 ? [empty] : [])].filter(
    (text) => text !== undefined,
  );
  return [
    { ...headline, headlineLevel: 1 },
    ...remarks.map((text) => ({ text, color: '#555555', margin: [0, 0, 0, 3] })),
    ...(rows.length === 0
      ? []
      : [
          {
            layout: 'lightHorizontalLines',
            fontSize: 7,
            table: {
              headerRows: 1,
              dontBreakRows: true,
              widths: columns.map(({ is }) => (is === 'code' ? 118 : 'auto')),
              body: [
                columns.map((column) => ({ ...cellOf(column.title, column.is), bold: true })),
                ...rows.map((cells) =>
                  cells.map((cell, index) => cellOf(cell, columns[index]?.is ?? 'text')),
                ),
              ],
            },
          },
        ]),
  ];
}

function cellOf(cell: ReportCell, is: ReportSection['columns'][number]['is']) {
  const { text, tone } = typeof cell === 'string' ? { text: cell, tone: 'plain' as const } : cell;
  if (is === 'code') return { text: text.replace(/(.{32})(?=.)/g, '$1\n'), fontSize: 5.5 };
  const alignment = is === 'number' ? 'right' : 'left';
  return { text, alignment, color: colours[tone], bold: tone === 'total', noWrap: is === 'number' };
}
