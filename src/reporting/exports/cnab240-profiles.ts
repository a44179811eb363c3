// What differs between banks in a CNAB 240 file of the statement. FEBRABAN leaves these constants
// to each bank, and programs compare them. Sources: files of Itaú (2013, in autogeral/CNAB) and of
// Santander (2026); the batch of Caixa's manual v005 (May 2022); for the others, the layouts of
// marcodpt/cnab.

export interface CnabProfile {
  /** Positions 164–166 and 167–171 of the file header. */
  fileLayout: string;
  density: string;
  /** Positions 14–16 of the batch header. */
  batchLayout: string;
  /** Whether the account's check digit stands at 72 alone, and not at 71. */
  hasLastCheckDigit: boolean;
  /** The agreement, positions 33–52, of headers and trailer, and of an entry. */
  agreement: (text: string) => { header: string; entry: string };
  /** Positions 15–17 of an entry. */
  entryCode: string;
  /** Positions 112–133 of an entry: kind and content of its complement, for none. */
  noComplement: string;
  /** Position 134 of an entry: whether it is exempt from CPMF, a tax that ended in 2007. */
  isExempt: 'S' | 'N';
  /** Whether an entry states the day of its posting, 135–142, beside its own day. */
  hasPostingDay: boolean;
  /** Positions 213–240 of the batch trailer. */
  trailerEnd: string;
}

const leftAligned = (text: string) => {
  const field = text.padEnd(20);
  return { header: field, entry: field };
};

const febraban: CnabProfile = {
  fileLayout: '103',
  density: '00000',
  batchLayout: '033',
  hasLastCheckDigit: false,
  agreement: leftAligned,
  entryCode: '   ',
  noComplement: `00${' '.repeat(20)}`,
  isExempt: 'N',
  hasPostingDay: true,
  trailerEnd: ' '.repeat(28),
};

const zeros = { noComplement: '0'.repeat(22) };

/** Itaú has five characters for the agreement, at the end of the field. */
function lastFive(text: string) {
  if (text.length > 5) return leftAligned(text);
  const last = text.padEnd(5);
  return { header: `${' '.repeat(15)}${last}`, entry: `000000${' '.repeat(9)}${last}` };
}

/** By bank code (COMPE). */
const profiles: Readonly<Record<string, CnabProfile>> = {
  // Banco do Brasil.
  '001': { ...febraban, ...zeros, fileLayout: '089', density: '06250', batchLayout: '032' },
  // Santander.
  '033': { ...febraban, fileLayout: '082', density: '01600' },
  // Caixa.
  '104': { ...febraban, fileLayout: '089', density: '06250' },
  // Bradesco.
  '237': {
    ...febraban,
    ...zeros,
    fileLayout: '050',
    batchLayout: '050',
    entryCode: 'O  ',
    trailerEnd: '0'.repeat(28),
  },
  // Itaú.
  '341': {
    ...febraban,
    fileLayout: '050',
    batchLayout: '031',
    hasLastCheckDigit: true,
    agreement: lastFive,
    entryCode: '1  ',
    noComplement: ' '.repeat(22),
    isExempt: 'S',
    hasPostingDay: false,
    trailerEnd: '0'.repeat(28),
  },
};

export function cnabProfileOf(bankCode: string): CnabProfile {
  return profiles[bankCode] ?? febraban;
}
