// The published example: what any verifier of the format must say of it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { isIncluded, readStatement, verifyChain, type ProvenLeaf } from './index.js';

const folder = join(import.meta.dirname, '../../../docs/reference');
const file = readFileSync(join(folder, 'certificates.jsonl'), 'utf8');
const records = file.trim().split('\n');
const page = readFileSync(join(folder, 'certificates.md'), 'utf8');
const decisions = readFileSync(join(folder, 'decisions.jsonl'), 'utf8').trim().split('\n');
const statedIn = (pattern: RegExp) => pattern.exec(page)?.[1] ?? '';

it('holds by the head and the keys that the page states', async () => {
  const head = statedIn(/--head ([0-9a-f]{64}) /);
  const key = statedIn(/--key ([\w-]{43}) /);
  const verified = await verifyChain(records, { head, key, decisions });
  const expected = { findings: [], certificates: 4, lines: 7, decisions: 3, isHeadLast: true };
  expect(verified).toMatchObject(expected);
  expect(verified.decisionsInFile).toBe(3);
  expect(verified.keys).toHaveLength(2);
  expect(verified.keys[0]).toBe(key);
});

it('counts the decisions that are certified, and names what differs', async () => {
  const key = statedIn(/--key ([\w-]{43}) /);
  const found = async (chain: string[], given: string[], by: object = { key }) => {
    const one = await verifyChain(chain, { ...by, decisions: given });
    return [...one.findings.map(({ code, where }) => `${code} ${where}`), one.decisions];
  };
  // A log that was exported later goes on after those that are certified.
  expect(await found(records, [...decisions, '{}', '{}'])).toEqual([3]);
  expect(await found(records, decisions.slice(0, 2))).toEqual(['decisions --decisions', 2]);
  expect(await found(records, [...decisions.slice(1), '{}'])).toContain(
    'decisions #3 2026-02-02 1–3',
  );
  const spaced = decisions.map((text) => text.replace(',', ', '));
  expect(await found(records, spaced)).toContain('unreadable --decisions row 1');
  const links = records.map((text) => JSON.parse(text)).filter(({ certificate }) => certificate);
  expect(await found(records, decisions, { head: links[0].hash })).toEqual([1]);
});

it('goes on after days of the former format', async () => {
  const former = readFileSync(join(folder, 'certificates-1.jsonl'), 'utf8').trim().split('\n');
  const expected = { findings: [], certificates: 2, lines: 2, unproven: 1 };
  expect(await verifyChain(former)).toMatchObject(expected);
});

it('proves by the neighbours of an nsu that the day does not have it', () => {
  const proof = JSON.parse(readFileSync(join(folder, 'proof.json'), 'utf8')) as {
    leaves: (ProvenLeaf & { nsu: number })[];
  } & Record<'hash' | 'statementRoot', string> &
    Record<'lines' | 'nsu', number>;
  const link = records.find((record) => record.includes(`"hash":"${proof.hash}"`));
  const { statementRoot, lines } = JSON.parse(JSON.parse(link!).certificate);
  expect({ statementRoot, lines }).toEqual({
    ...{ statementRoot: proof.statementRoot, lines: proof.lines },
  });
  const [below, above] = proof.leaves;
  expect(above!.index).toBe(below!.index + 1);
  expect([below!.nsu < proof.nsu, proof.nsu < above!.nsu]).toEqual([true, true]);
  for (const leaf of proof.leaves) expect(isIncluded(leaf, lines, statementRoot)).toBe(true);
});

it.each([
  ['OFX', '<OFX><STMTTRN><DTPOSTED>20260203120000[-3:BRT]<TRNAMT>50.00<FITID>8'],
  ['JSON', '[{"nsu":8,"amount":50.0,"createdAt":"2026-02-03T15:00:00Z","type":{"isCredit":true}}]'],
  ['CSV', '\uFEFFnsu,createdAt,amount\r\n8,2026-02-03T15:00:00Z,50.00\r\n'],
])('reads the %s of a bank', async (_format, text) => {
  const statement = readStatement(text);
  expect(statement).toEqual([{ nsu: 8n, cents: 5_000n, date: '2026-02-03' }]);
  const { findings } = await verifyChain(records, { statement });
  // The bank shows no other line of that day.
  expect(findings.map(({ code, where }) => `${code} ${where}`)).toEqual([
    ...['not_at_bank nsu 3', 'not_at_bank nsu 7'],
  ]);
});

it.each([
  ['', 'row 1'],
  ['{"a":1}', 'row 1'],
  ['nsu;amount\n1;2', 'row 1'],
  ['nsu;createdAt;amount\n1;2026-02-02;1\n1;x;2', 'row 3'],
  ['nsu;createdAt;amount\n1;02/03/2026;2', 'row 2'],
  ['nsu;createdAt;amount\n1;2026-02-30;2', 'row 2'],
  ['nsu,createdAt,amount\n1,2026-02-02,"10,50"', 'row 2'],
  ['[{"nsu":1}]', 'row 1'],
  ['<OFX><STMTTRN><DTPOSTED>20260230<TRNAMT>1.00<FITID>8', 'row 1'],
])('refuses %j as a statement', (text, row) =>
  expect(() => readStatement(text)).toThrow(`--statement ${row}`),
);

it.each([
  ['2026-02-03', '2026-02-03'],
  ['2026-02-03T02:59', '2026-02-02'],
  ['2026-02-03T00:00:00-03:00', '2026-02-03'],
])('reads %s as of the statement day %s', (at, date) => {
  expect(readStatement(`nsu,createdAt,amount\n8,${at},-1`)).toEqual([
    { nsu: 8n, cents: -100n, date },
  ]);
});

it('says amounts in reais', async () => {
  const statement = readStatement('nsu,createdAt,amount\n8,2026-02-03,-0.05');
  const [first] = (await verifyChain(records, { statement })).findings;
  expect(first).toMatchObject({ code: 'other_at_bank', expected: '-0.05', actual: '50.00' });
});

it('has fewer than 600 lines of code', () => {
  const files = readdirSync(import.meta.dirname).filter((name) => /(?<!\.spec)\.ts$/.test(name));
  const lines = files.flatMap((name) =>
    readFileSync(join(import.meta.dirname, name), 'utf8').split('\n'),
  );
  const code = lines.filter((line) => !/^\s*(?:\/\/|\/?\*|$)/.test(line));
  expect(code.length).toBeLessThan(600);
});
