// The result of an upload as a CSV file: what became of each row.
import type { FieldErrors } from '../../bank-contract/field-errors.js';
import { csvFile } from '../../reporting/exports/csv-file.js';
import { strangerColumn, textColumn, type Table } from '../../reporting/exports/table.js';
import { fieldErrorsIn } from '../problems.js';
import type { Language } from '../texts/languages.js';

export interface ResultRow {
  line: number;
  reference: string | null;
  state: string;
  code: string | null;
  errors: FieldErrors | null;
  operationId: string | null;
  operationState: string | null;
}

/** Spreadsheets in Portuguese separate cells by semicolons. */
export function resultFile(language: Language) {
  const table: Table<ResultRow> = {
    title: 'Resultado',
    columns: [
      textColumn('line', 'Linha', ({ line }) => String(line)),
      strangerColumn('reference', 'Identificação', ({ reference }) => reference),
      textColumn('state', 'Situação', ({ state }) => state),
      textColumn('code', 'Código', ({ code }) => code),
      strangerColumn('errors', 'Erros', ({ errors }) =>
        errors === null ? null : fieldErrorsIn(language, errors).join(' | '),
      ),
      textColumn('operationId', 'Operação', ({ operationId }) => operationId),
      textColumn('operationState', 'Situação da operação', ({ operationState }) => operationState),
    ],
  };
  return csvFile(table, language === 'pt' ? 'semicolon' : 'comma');
}
