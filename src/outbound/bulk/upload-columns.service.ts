// Finds how a chosen file is read: with the field names of the API, or as a foreign table by the
// mapping that the account has made of the same headers. Nothing of a file's text is stored with a
// mapping.
import { Injectable } from '@nestjs/common';
import { fieldError } from '../../bank-contract/field-errors.js';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import { refuseInvalid } from '../../platform/errors.js';
import { isJsonObject } from '../../platform/json/exact-json.js';
import { Database } from '../../platform/postgres/database.service.js';
import { SecretBox } from '../../platform/secret-box.js';
import { pausesBetweenSlices, Slots } from '../../platform/slots.js';
import { rememberMapping } from './bulk.queries.js';
import type { BulkKind } from './bulk.schema.js';
import type { ChosenFile } from './chosen-files.service.js';
import {
  columnFields,
  kindOfTarget,
  mappingErrors,
  targetFields,
  type ColumnField,
  type ColumnMapping,
  type MappingTarget,
} from './column-mapping.js';
import {
  ColumnValues,
  findHeader,
  guessColumns,
  guessTarget,
  headerOrder,
  kindOfOwnNames,
  plainHeaders,
  textOfCell,
  type ColumnType,
} from './column-words.js';
import { headerProblem } from './csv-record.js';
import type { Cell, CellStyle } from './spreadsheet-cell.js';
import { readRows, readTableRows, refuseChoiceOfSheet, type FileReading } from './upload-reader.js';
import { unreadableFile } from './upload-text.js';
import type { SheetRow } from './xlsx-sheet.js';

/** Titles may stand above the header. */
const mostFirstRows = 20;
const samplesOfColumn = 3;

/** A table whose columns are not named as the API names its fields. */
export interface ForeignTable {
  line: number;
  headers: readonly string[];
  columns: readonly ShownColumn[];
  /** As the account has mapped the same headers, else as they are guessed. */
  target: MappingTarget | null;
  fields: readonly (ColumnField | null)[];
}

export interface ShownColumn {
  header: string;
  samples: readonly string[];
  type: ColumnType;
  /** How all of its amounts or days are written. */
  style: CellStyle['shown'];
}

/** `kind` is null where a person must say what the file holds. */
export interface UploadPlan {
  kind: BulkKind | null;
  reading: FileReading;
  table: ForeignTable | null;
}

export interface FileChoice {
  reading: FileReading;
  /** As the person says; null: by the columns. */
  kind: BulkKind | null;
}

@Injectable()
export class UploadColumns {
  private readonly reading = new Slots(2);

  constructor(
    private readonly database: Database,
    private readonly secretBox: SecretBox,
  ) {}

  /** Throws `validation_failed` where the file cannot be read. */
  async plan(accountId: number, file: ChosenFile, choice: FileChoice): Promise<UploadPlan> {
    refuseChoiceOfSheet(choice.reading);
    return this.reading.run(async () => {
      const reading = { ...choice.reading, day: file.day };
      if (reading.format === 'ndjson')
        return { kind: choice.kind ?? (await kindOfLines(file, reading)), reading, table: null };
      const found = await readTable(file, reading);
      if ('kind' in found) return { kind: choice.kind ?? found.kind, reading, table: null };
      const known = await this.findMapping(accountId, found.headers);
      const kind = known && kindOfTarget[known.target];
      // A person who says another kind is asked what its columns are.
      if (!known || !kind || (choice.kind !== null && choice.kind !== kind))
        return { kind: null, reading, table: { ...found, ...targetOf(choice.kind) } };
      const mapping: ColumnMapping = { ...known, line: found.line };
      return { kind, reading: { ...reading, mapping }, table: { ...found, ...known } };
    });
  }

  /** The latest mapping of the same headers stands. Throws `validation_failed`. */
  async remember(
    { accountId, actor }: Pick<Caller, 'accountId' | 'actor'>,
    { headers }: ForeignTable,
    { target, fields }: Pick<ColumnMapping, 'target' | 'fields'>,
  ): Promise<void> {
    refuseInvalid(mappingErrors({ target, fields }));
    await rememberMapping(this.database.prisma, {
      ...{ accountId, actor, target },
      headersHash: this.hashOf(headers),
      fields: headerOrder(headers).map((at) => fields[at] ?? ''),
    });
  }

  private async findMapping(accountId: number, headers: readonly string[]) {
    const where = { accountId_headersHash: { accountId, headersHash: this.hashOf(headers) } };
    const stored = await this.database.prisma.bulkMapping.findUnique({ where });
    if (!stored) return null;
    const fields: (ColumnField | null)[] = headers.map(() => null);
    for (const [place, at] of headerOrder(headers).entries())
      fields[at] = columnFields.find((one) => one === stored.fields[place]) ?? null;
    return { target: stored.target, fields };
  }

  private hashOf(headers: readonly string[]): string {
    return this.secretBox.hash('bulk-headers', plainHeaders(headers).join('\n'));
  }
}

/** Of expected payments, the person says the direction. */
function targetOf(kind: BulkKind | null): { target?: MappingTarget } {
  return kind === null || kind === 'expected_payments' ? {} : { target: kind };
}

/** Throws `validation_failed` for a file without rows. */
async function kindOfLines(file: ChosenFile, reading: FileReading): Promise<BulkKind | null> {
  for await (const row of readRows(reading, file.chunks(), Infinity)) {
    const content = row.read();
    const request = 'request' in content ? content.request : null;
    return isJsonObject(request) ? kindOfOwnNames(Object.keys(request)) : null;
  }
  throw unreadableFile(fieldError('no_rows'));
}

/** The kind of a file with the field names of the API, else the whole table. */
async function readTable(
  file: ChosenFile,
  reading: FileReading,
): Promise<{ kind: BulkKind } | ForeignTable> {
  const pause = pausesBetweenSlices();
  let [first, rows] = [[] as SheetRow[], 0];
  let table: TableValues | null = null;
  for await (const row of readTableRows(reading, file.chunks())) {
    rows += 1;
    const kind = rows === 1 ? kindOfHeader(row) : null;
    if (kind !== null) return { kind };
    if (table) table.add(row.cells);
    else first.push(row);
    if (first.length === mostFirstRows) [table, first] = [tableOf(first), []];
    await pause();
  }
  if (rows < 2) throw unreadableFile(fieldError('no_rows'));
  return (table ?? tableOf(first)).described();
}

function kindOfHeader({ line, cells }: SheetRow): BulkKind | null {
  const names = cells.map((cell) => textOfCell(cell).trim());
  return headerProblem(names, line) === null ? kindOfOwnNames(names) : null;
}

/** Throws `validation_failed` where none of the rows is a header. */
function tableOf(rows: readonly SheetRow[]): TableValues {
  const at = findHeader(rows.map(({ cells }) => cells));
  const header = at === null ? undefined : rows[at];
  if (!header || at === null) throw unreadableFile(fieldError('header_missing'));
  const table = new TableValues(header);
  for (const { cells } of rows.slice(at + 1)) table.add(cells);
  return table;
}

class TableValues {
  private readonly headers: readonly string[];
  private readonly values: readonly ColumnValues[];

  constructor(private readonly header: SheetRow) {
    this.headers = header.cells.map((cell) => textOfCell(cell).trim());
    this.values = this.headers.map(() => new ColumnValues(samplesOfColumn));
  }

  add(cells: readonly Cell[]): void {
    for (const [at, column] of this.values.entries()) column.add(cells[at] ?? '');
  }

  described(): ForeignTable {
    const { headers, values } = this;
    const guessed = guessColumns(headers, values);
    const fields = guessed.map(({ field }) => field);
    const columns = guessed.map(({ type }, at) => ({
      ...{ header: headers[at] ?? '', samples: values[at]?.samples ?? [], type },
      style: type === 'amount' || type === 'day' ? (values[at]?.style.shown ?? null) : null,
    }));
    const target = guessTarget(headers, fields);
    const own = target && targetFields[target].fields;
    const used = fields.map((field) => (field && own?.includes(field) !== false ? field : null));
    return { line: this.header.line, headers, columns, target, fields: used };
  }
}
