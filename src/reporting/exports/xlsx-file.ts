// Writes XLSX files (ECMA-376) with one sheet, row by row, as people open them: Portuguese titles
// and labels, amounts as numbers, days and São Paulo times as dates. A text is never a formula.
import { daysBetween, type PlainDate } from '../../brazil/calendar.js';
import { saoPauloOffsetMs } from '../../brazil/sao-paulo-time.js';
import { formatReaisWithTwoDecimals } from '../../brazil/cents.js';
import { unreachable } from '../../platform/errors.js';
import { columnName } from '../../platform/files/xlsx-archive.js';
import type { ExportFile } from './exported-line.js';
import type { Table, TableColumn } from './table.js';
import { zipContainer } from './zip-container.js';

/** A sheet has 1,048,576 rows, and the first has the titles. */
export const maxSheetRows = 1_048_575;
/** A cell has at most so many characters. */
const maxCellLength = 32_767;
/** A number has so many exact digits in a sheet. A longer one is text. */
const maxExactDigits = 15;

const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const packages = 'http://schemas.openxmlformats.org/package/2006';
const documents = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const types = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** The styles by their positions in styles.xml. */
const style = { title: 1, money: 2, day: 3, instant: 4, number: 5, text: 6 } as const;

export function xlsxFile<Row>({ title, columns }: Table<Row>): ExportFile<Row> {
  const names = columns.map((_, index) => columnName(index));
  let rows = 1;
  const rowOf = (cells: string[]) => `<row r="${rows}">${cells.join('')}</row>`;
  return {
    contentType: `${types}.sheet`,
    extension: 'xlsx',
    encoding: 'utf8',
    container: zipContainer(partsOf(title), 'xl/worksheets/sheet1.xml'),
    head: () =>
      `${xml}<worksheet xmlns="${main}"><sheetViews><sheetView workbookViewId="0">` +
      '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>' +
      `</sheetView></sheetViews><cols>${columns.map(widthOf).join('')}</cols><sheetData>` +
      rowOf(columns.map((column, index) => textCell(`${names[index]}1`, column.title, 'title'))),
    row: (row) => {
      rows += 1;
      return rowOf(columns.map((column, index) => cellOf(column, row, `${names[index]}${rows}`)));
    },
    foot: () =>
      `</sheetData><autoFilter ref="A1:${names.at(-1)}${rows}"/>` +
      '<pageMargins left="0.4" right="0.4" top="0.5" bottom="0.5" header="0.3" footer="0.3"/>' +
      '<pageSetup paperSize="9" orientation="landscape"/></worksheet>',
  };
}

function cellOf<Row>(column: TableColumn<Row>, row: Row, at: string): string {
  switch (column.kind) {
    case 'text':
    case 'stranger': {
      const value = column.value(row);
      return value === null ? '' : textCell(at, column.labels?.[value] ?? value, 'text');
    }
    case 'money': {
      const cents = column.value(row);
      return cents === null ? '' : numberCell(at, formatReaisWithTwoDecimals(cents), 'money');
    }
    case 'number': {
      const digits = column.value(row)?.toString() ?? '';
      if (digits === '') return '';
      const isExact = digits.length <= maxExactDigits;
      return isExact ? numberCell(at, digits, 'number') : textCell(at, digits, 'text');
    }
    case 'day': {
      const day = column.value(row);
      return day === null ? '' : numberCell(at, String(serialOf(day)), 'day');
    }
    case 'instant': {
      const instant = column.value(row);
      return instant === null ? '' : numberCell(at, serialOfInstant(instant), 'instant');
    }
    default:
      return unreachable(column);
  }
}

function numberCell(at: string, value: string, of: keyof typeof style): string {
  return `<c r="${at}" s="${style[of]}"><v>${value}</v></c>`;
}

function textCell(at: string, text: string, of: keyof typeof style): string {
  const value = xmlText(text.slice(0, maxCellLength));
  if (value === '') return '';
  return `<c r="${at}" s="${style[of]}" t="inlineStr"><is><t xml:space="preserve">${value}</t></is></c>`;
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/**
 * Without the characters that XML forbids. Programs read `_x0041_` in a text as `A`, so its first
 * character is written in that way itself.
 */
function xmlText(text: string): string {
  return text
    .replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '')
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
    .replace(/[&<>]/g, (character) => entities[character] ?? '');
}

/** Days count from 1899-12-30 in a sheet; 1970-01-01 is day 25569. */
const firstUnixDay = 25_569;
const dayMs = 86_400_000;

function serialOf(day: PlainDate): number {
  return daysBetween('1970-01-01', day) + firstUnixDay;
}

/**
 * The time in São Paulo: a sheet has no time zones. Rounded up, because some readers cut off what
 * is less than a millisecond.
 */
function serialOfInstant(instant: Date): string {
  const localMs = instant.getTime() + saoPauloOffsetMs(instant);
  return (Math.ceil((localMs / dayMs + firstUnixDay) * 1e9) / 1e9).toFixed(9);
}

const widths = { text: 22, stranger: 32, money: 16, number: 14, day: 12, instant: 20 } as const;

function widthOf<Row>({ kind }: TableColumn<Row>, index: number): string {
  return `<col min="${index + 1}" max="${index + 1}" width="${widths[kind]}" customWidth="1"/>`;
}

function partsOf(title: string): { name: string; text: string }[] {
  const relation = (type: string, target: string, id: number) =>
    `<Relationship Id="rId${id}" Type="${documents}/${type}" Target="${target}"/>`;
  const relations = (...list: string[]) =>
    `${xml}<Relationships xmlns="${packages}/relationships">${list.join('')}</Relationships>`;
  const override = (name: string, type: string) =>
    `<Override PartName="${name}" ContentType="${types}.${type}+xml"/>`;
  return [
    {
      name: '[Content_Types].xml',
      text:
        `${xml}<Types xmlns="${packages}/content-types">` +
        '<Default Extension="xml" ContentType="application/xml"/><Default Extension="rels" ' +
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
        override('/xl/workbook.xml', 'sheet.main') +
        override('/xl/styles.xml', 'styles') +
        `${override('/xl/worksheets/sheet1.xml', 'worksheet')}</Types>`,
    },
    { name: '_rels/.rels', text: relations(relation('officeDocument', 'xl/workbook.xml', 1)) },
    {
      name: 'xl/_rels/workbook.xml.rels',
      text: relations(
        relation('worksheet', 'worksheets/sheet1.xml', 1),
        relation('styles', 'styles.xml', 2),
      ),
    },
    {
      name: 'xl/workbook.xml',
      text:
        `${xml}<workbook xmlns="${main}" xmlns:r="${documents}"><sheets>` +
        `<sheet name="${xmlText(title)}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    },
    { name: 'xl/styles.xml', text: styles },
  ];
}

const formats = [0, 0, 4, 164, 165, 1, 49];

const styles =
  `${xml}<styleSheet xmlns="${main}"><numFmts count="2">` +
  '<numFmt numFmtId="164" formatCode="dd/mm/yyyy"/>' +
  '<numFmt numFmtId="165" formatCode="dd/mm/yyyy\\ hh:mm:ss"/></numFmts>' +
  '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>' +
  '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>' +
  '<fills count="2"><fill><patternFill patternType="none"/></fill>' +
  '<fill><patternFill patternType="gray125"/></fill></fills>' +
  '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
  '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
  `<cellXfs count="${formats.length}">${formats
    .map(
      (format, index) =>
        `<xf numFmtId="${format}" fontId="${index === style.title ? 1 : 0}" fillId="0" ` +
        `borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/>`,
    )
    .join('')}</cellXfs></styleSheet>`;
