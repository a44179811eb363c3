// LEIA-ME.txt of a bundle: what each file is, with its SHA-256 and its sums.
import { printCount, printReais } from '../../brazil/printed-text.js';
import { reportTexts } from '../exports/month-sections.js';
import type { MonthFigures } from '../exports/month-figures.js';

export const chainName = 'cadeia-de-certificados';
export const decisionsName = 'decisoes';

/** The rows of a table and the sums of their amounts, by sign. */
export interface FileSums {
  rows: bigint;
  creditCents: bigint;
  /** Not negative. */
  debitCents: bigint;
  /** Each row is a debit and a credit of its amount. */
  isDoubleEntry: boolean;
}

export interface WrittenFile {
  name: string;
  /** What it is, in Portuguese. */
  about: string;
  sha256: string;
  /** Of tables. */
  sums: FileSums | null;
}

/** For Notepad too: with a byte order mark, and lines that end in CR and LF. */
export function readmeText(figures: MonthFigures, files: readonly WrittenFile[]): string {
  const { title, account, issued, facts } = reportTexts(figures);
  const lines = [
    `${title} – conta ${account}`,
    issued.replace(/^e/, 'E'),
    '',
    ...facts.map(([name, value]) => `${name}: ${value}`),
    '',
    'Os arquivos .csv abrem no Excel: ponto e vírgula entre as colunas, vírgula nos centavos.',
    'Débitos são negativos. Confira um arquivo pelo seu SHA-256.',
    ...files.flatMap(({ name, about, sha256, sums }) => [
      '',
      name,
      `  ${about}`,
      ...(sums ? [`  ${sumsText(sums)}`] : []),
      `  SHA-256 ${sha256}`,
    ]),
    ...verificationOf(files),
  ];
  return `\u{FEFF}${lines.join('\r\n')}\r\n`.replaceAll('\u00a0', ' ');
}

function sumsText({ rows, creditCents, debitCents, isDoubleEntry }: FileSums): string {
  const lines = `${printCount(rows)} ${rows === 1n ? 'linha' : 'linhas'}`;
  if (isDoubleEntry) return `${lines}; total ${printReais(creditCents)}, a débito e a crédito`;
  return (
    `${lines}; créditos ${printReais(creditCents)}; débitos ${printReais(-debitCents)}; ` +
    `líquido ${printReais(creditCents - debitCents)}`
  );
}

/** The report of the verifier is worth something where the auditor runs it. */
function verificationOf(files: readonly WrittenFile[]): string[] {
  const find = (start: string) => files.find(({ name }) => name.startsWith(start))?.name;
  const chain = find(chainName);
  if (chain === undefined) return [];
  return [
    '',
    'Para verificar, em outro computador:',
    `  npx @concilia/verifier ${chain} --decisions ${find(decisionsName)} \\`,
    '    --head ELO --key CHAVE --statement EXTRATO --lang pt',
    'Receba o ELO e a CHAVE por outro meio que este arquivo, e o EXTRATO do próprio banco.',
  ];
}
