// Reads the rows of a spreadsheet of breaks in which people wrote their decisions. Only the id, the
// version, the decision and the reason are read: amounts never come from a file.
import { isUuid } from '../../platform/http/listing.js';
import { reasonText } from './breaks.schema.js';

/** The columns that are read back, by their names in both languages. */
export const decisionColumns = {
  id: ['id', 'id'],
  version: ['versao', 'version'],
  decision: ['decisao', 'decision'],
  reason: ['motivo', 'reason'],
} as const;

/** What people write, by what it does. No decision of a file sends money. */
export const decisionWords = { accept: ['aceitar', 'accept'], note: ['anotar', 'note'] } as const;
type FileAction = keyof typeof decisionWords;

export const maxFileDecisions = 1_000;

/** A spreadsheet reads some versions as numbers: in a file they begin with a letter. */
export const writtenVersion = (version: string): string => `v${version}`;

export interface FileDecision {
  line: number;
  id: string;
  version: string;
  action: FileAction;
  /** Null: that of the confirmation. */
  reason: string | null;
}

export interface RefusedRow {
  line: number;
  code: string;
}

/** Null for a row that cannot be read. */
type SheetRow = readonly [line: number, row: unknown];

/** Rows without a decision are left out. Of a break that stands in several rows, none counts. */
export function readDecisions(rows: readonly SheetRow[]): {
  decisions: FileDecision[];
  refused: RefusedRow[];
} {
  const written = rows.flatMap(([line, row]) => {
    const texts = { line, id: textIn(row, 'id').toLowerCase(), word: textIn(row, 'decision') };
    return texts.word === '' ? [] : [{ ...texts, row }];
  });
  const decisions: FileDecision[] = [];
  const refused: RefusedRow[] = rows
    .filter(([, row]) => row === null)
    .map(([line]) => ({ line, code: 'unreadable_row' }));
  for (const { line, id, word, row } of written) {
    const action = (Object.keys(decisionWords) as FileAction[]).find((one) =>
      (decisionWords[one] as readonly string[]).includes(word.toLowerCase()),
    );
    const version = textIn(row, 'version').replace(/^v/, '');
    const why = textIn(row, 'reason');
    const reason = why === '' ? null : (reasonText.safeParse(why).data ?? '');
    const isTwice = written.filter((one) => one.id === id).length > 1;
    const refuse = (code: string) => refused.push({ line, code });
    if (!isUuid(id) || version === '') refuse('row_without_break');
    else if (isTwice) refuse('row_twice');
    else if (!action) refuse('unknown_decision');
    else if (reason === '') refuse('wrong_reason');
    else decisions.push({ line, id, version, action, reason });
  }
  return { decisions, refused };
}

function textIn(row: unknown, name: keyof typeof decisionColumns): string {
  const cells = Object.entries(typeof row === 'object' && row !== null ? row : {});
  const names: readonly string[] = decisionColumns[name];
  const [, value] = cells.find(([head]) => names.includes(head.toLowerCase())) ?? [];
  return typeof value === 'string' ? value.replace(/\p{Cc}/gu, ' ').trim() : '';
}
