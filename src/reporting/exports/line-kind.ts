// What kind of movement a line is, for the codes of OFX and CNAB 240: by its classification, or
// else by the words of the bank's type name, which is open text (English or Portuguese).
import { billWords, feeWords, isUndoingType, slipWords } from '../../bank-contract/line-types.js';
import { asciiOf, type ExportedLine } from './exported-line.js';

export const lineKinds = [
  'reversal',
  'fee',
  'income_tax',
  'financial_tax',
  'tax',
  'bank_slip',
  'bill',
  'own_transfer',
  'transfer',
  'other',
] as const;
export type LineKind = (typeof lineKinds)[number];

/** In order of precedence: `DEBIT_PIX_FEE` is a fee. A reversal comes first. */
const kindsByWord: readonly [LineKind, readonly string[]][] = [
  ['fee', feeWords.flatMap((word) => [word, `${word}S`])],
  ['income_tax', ['IRRF', 'IR']],
  ['financial_tax', ['IOF']],
  ['tax', ['TAX', 'TAXES', 'IMPOSTO', 'IMPOSTOS', 'TRIBUTO', 'TRIBUTOS', 'DARF']],
  ['bank_slip', slipWords],
  ['bill', billWords],
  ['own_transfer', ['INTERNAL', 'INTERNA']],
  ['transfer', ['PIX', 'TED', 'DOC', 'EXTERNAL', 'TRANSFER', 'TRANSFERENCIA']],
];

const kindsByClassification: Readonly<Record<string, LineKind>> = {
  fee: 'fee',
  tariff: 'fee',
  own_account_transfer: 'own_transfer',
};

type KnownLine = Pick<ExportedLine, 'typeName' | 'classification' | 'billCode'>;

export function kindOfLine({ typeName, classification, billCode }: KnownLine): LineKind {
  if (isUndoingType(typeName)) return 'reversal';
  const words = asciiOf(typeName)
    .toUpperCase()
    .split(/[^A-Z]+/);
  const [named] = kindsByWord.find(([, some]) => some.some((word) => words.includes(word))) ?? [];
  const classified = classification === null ? undefined : kindsByClassification[classification];
  if (classified) return classified;
  return named === 'bill' && isTaxBill(billCode) ? 'tax' : (named ?? 'other');
}

/**
 * Whether a bar code is of a tax: in utility bills, which begin with 8, the second digit is 1 for
 * city halls, 5 for government bodies and 7 for traffic fines (FEBRABAN, layout de arrecadação).
 */
function isTaxBill(billCode: string | null): boolean {
  return billCode !== null && /^8[157]/.test(billCode);
}
