// The file of journal entries for Calima, by the columns that its help names
// (docs/how-to/journal.md has them). It names neither a head nor an encoding: none, and ASCII.
import { printDay } from '../../brazil/printed-text.js';
import { moneyCell } from '../exports/csv-file.js';
import { asciiOf, type ExportFile } from '../exports/exported-line.js';
import type { PostingSum } from './journal.js';
import { historyOf } from './journal-table.js';

export const calimaFile: ExportFile<PostingSum> = {
  contentType: 'text/csv; charset=us-ascii; header=absent',
  extension: 'csv',
  encoding: 'latin1',
  head: () => '',
  row: (sum) => {
    const { day, amountCents, debitCode, creditCode, isCredit, costCentre } = sum;
    const amount = moneyCell(amountCents, 'people');
    // The bank account has no cost centre.
    const costCentres = isCredit ? ['', costCentre] : [costCentre, ''];
    const cells = [
      printDay(day),
      amount,
      debitCode,
      creditCode,
      '',
      historyOf(sum),
      ...costCentres,
    ];
    return `${cells.map(plain).join(';')}\r\n`;
  },
  foot: () => '',
};

/** Without what a reader may take for a separator, a quote or the start of a formula. */
function plain(text: string | null): string {
  return asciiOf(text ?? '')
    .replace(/[;"\s]+/g, ' ')
    .replace(/^[ =+\-@]+/, '')
    .trim();
}
