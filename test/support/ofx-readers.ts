// Reads OFX files with packages and a program that others wrote.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import nodeOfxParser from 'node-ofx-parser';
import { Ofx } from 'ofx-data-extractor';
import { parseSync } from 'ofx-js';

export interface ReadTransaction {
  type: string;
  amount: number;
  fitId: string;
  reference: string | undefined;
  name: string | undefined;
  memo: string;
}

export interface ReadStatement {
  bank: string;
  account: string;
  until: string;
  balance: number;
  transactions: ReadTransaction[];
}

/* oxlint-disable typescript/no-explicit-any -- The readers return untyped trees. */

function statementOf({ OFX }: any, listName = 'STMTTRN'): ReadStatement {
  const statement = OFX.BANKMSGSRSV1.STMTTRNRS.STMTRS;
  const list = statement.BANKTRANLIST[listName] ?? [];
  const transactions: any[] = Array.isArray(list) ? list : [list];
  return {
    bank: OFX.SIGNONMSGSRSV1.SONRS.FI.ORG,
    account: `${statement.BANKACCTFROM.BANKID}/${statement.BANKACCTFROM.ACCTID}`,
    until: statement.BANKTRANLIST.DTEND,
    balance: Number(statement.LEDGERBAL.BALAMT),
    transactions: transactions.map((one) => ({
      type: one.TRNTYPE,
      amount: Number(one.TRNAMT),
      fitId: String(one.FITID),
      reference: one.REFNUM,
      name: one.NAME,
      memo: one.MEMO,
    })),
  };
}

/* oxlint-enable typescript/no-explicit-any */

/** The readers of the npm registry, by their names. */
export const ofxReaders: [string, (text: string) => ReadStatement][] = [
  ['ofx-js', (text) => statementOf(parseSync(text))],
  ['node-ofx-parser', (text) => statementOf(nodeOfxParser.parse(text))],
  // This reader names the list of transactions differently.
  ['ofx-data-extractor', (text) => statementOf(new Ofx(text).toJson(), 'STRTTRN')],
];

/** Whether the machine has `ofxdump` of libofx (Debian's package `ofx`). */
export const hasOfxDump = spawnSync('ofxdump', ['--version']).error === undefined;

/** The fields that `ofxdump` prints of a file, each as a list of its values in their order. */
export function dumpOfx(file: Buffer): (field: string) => string[] {
  const folder = mkdtempSync(join(tmpdir(), 'concilia-ofx-'));
  try {
    const path = join(folder, 'statement.ofx');
    writeFileSync(path, file);
    const { status, stdout, stderr } = spawnSync('ofxdump', [path], {
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
    });
    if (status !== 0) throw new Error(`ofxdump failed: ${stderr.slice(0, 1_000)}`);
    const lines = stdout.split('\n').map((line) => line.trim());
    return (field) =>
      lines
        .filter((line) => line.startsWith(`${field}:`))
        .map((line) => line.slice(field.length + 2));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
