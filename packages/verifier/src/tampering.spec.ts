// The published example with figures that somebody who has the keys made up and signed again: what
// the verifier names.
import { generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { readStatement, verifyChain } from './index.js';
import { sha256, Tree } from './merkle.js';
import { keyIdOf } from './signatures.js';

/* eslint-disable-next-line @typescript-eslint/no-explicit-any -- a forger writes anything */
type Made = any;
interface MadeLink {
  certificate: Made;
  lines: Made[];
  earlier: Made[];
  text?: string;
}

const reference = join(import.meta.dirname, '../../../docs/reference');
const textOf = (name: string) => readFileSync(join(reference, name), 'utf8');
const vector = textOf('certificates.jsonl').trim().split('\n');
const bank = textOf('bank-statement.csv');

const canonical = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value, (_name, one: unknown) => sorted(one));
const sorted = (one: unknown) =>
  typeof one === 'object' && one !== null && !Array.isArray(one)
    ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
    : one;

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const { x = '' } = publicKey.export({ format: 'jwk' });
const key = { endorsement: null, id: keyIdOf({ id: '', x, endorsement: null }), x };

function links(): MadeLink[] {
  const made: MadeLink[] = [];
  for (const record of vector.slice(1).map((text) => JSON.parse(text) as Record<string, string>))
    if (record['certificate'])
      made.push({ certificate: JSON.parse(record['certificate']), lines: [], earlier: [] });
    else if (record['line']) made.at(-1)!.lines.push(JSON.parse(record['line']));
    else made.at(-1)!.earlier.push(JSON.parse(record['earlier']!));
  return made;
}

/** The file with the changes, each root, hash and signature as they must be. */
function forge(change: (made: MadeLink[]) => void): { records: string[]; hashes: string[] } {
  const made = links();
  change(made);
  const records = [vector[0]!];
  const hashes: string[] = [];
  for (const { certificate: one, lines, earlier, text: given } of made) {
    const [ofDay, before] = [lines.map(canonical), earlier.map(canonical)];
    if (one.format.endsWith('/2'))
      Object.assign(one, { key, statementRoot: new Tree(ofDay).root() });
    if (one.earlier?.statementRoot) one.earlier.statementRoot = new Tree(before).root();
    one.previousHash = hashes.at(-1) ?? one.previousHash;
    const certificate = given ?? canonical(one);
    hashes.push(sha256(certificate).toString('hex'));
    const signature = sign(null, Buffer.from(certificate), privateKey).toString('base64url');
    records.push(JSON.stringify({ certificate, hash: hashes.at(-1), signature }));
    records.push(...before.map((text) => JSON.stringify({ earlier: text })));
    records.push(...ofDay.map((text) => JSON.stringify({ line: text })));
  }
  return { records, hashes };
}

async function found(change: (made: MadeLink[]) => void, headAt = 0): Promise<string[]> {
  const { records, hashes } = forge(change);
  const given = { key: key.id, head: hashes.at(headAt - 1) };
  const { findings } = await verifyChain(records, given);
  return findings.map(({ code, where }) => `${code} ${where}`);
}

/** Line 2 left out everywhere, with figures that fit, and its effect accepted at a line. */
const leftOut = (nsu: string, amount: string) => (made: MadeLink[]) => {
  const [first, second, revised, last] = made as [MadeLink, MadeLink, MadeLink, MadeLink];
  for (const { certificate: one, lines } of [first, revised]) {
    lines.shift();
    Object.assign(one, { lines: lines.length, firstNsu: '4' });
  }
  const accept = (one: Made, figures: object, credits: string | null) => {
    Object.assign(one, figures);
    if (credits !== null) Object.assign(one.classified.accepted, { count: one.lines, credits });
    const item = { amount, breakId: 'x', kind: 'accepted_difference', nsu, reason: 'bank error' };
    one.reconcilingItems.push({ ...item, occurredAt: '2026-02-03T10:00:00.000Z' });
  };
  accept(first.certificate, { credits: '0.00', closing: '106.80' }, '0.00');
  accept(second.certificate, { opening: '106.80', closing: '154.00' }, null);
  accept(revised.certificate, { credits: '0.40', closing: '107.20' }, '0.40');
  accept(last.certificate, { opening: '107.20', closing: '154.00' }, null);
};

it('holds with nothing changed', async () => {
  expect(await found(() => undefined)).toEqual([]);
});

it.each<[string, string, (made: Made[]) => void]>([
  [
    'an added line that no revision names',
    'figure #3 2026-02-02 added',
    (made) => {
      made[2].certificate.added = [];
    },
  ],
  [
    'an earlier line that a revision changed',
    'line_changed #3 2026-02-02 nsu 1',
    (made) => {
      Object.assign(made[2].earlier[0], { amount: '3.00', balancePrevious: '104.00' });
    },
  ],
  [
    'earlier lines that a revision lost',
    'line_changed #3 2026-02-02 nsu 1',
    (made) => {
      made[2].earlier = [];
      made[2].certificate.earlier = null;
    },
  ],
  [
    'an earlier line that a revision added',
    'figure #3 2026-02-02 added',
    (made) => {
      const line = { ...made[2].earlier[0], nsu: '0', balancePrevious: '90.00', amount: '10.00' };
      made[2].earlier.unshift({ ...line, currentBalance: '100.00' });
      made[2].certificate.earlier.lines = 2;
    },
  ],
  [
    'the amount of an earlier line',
    'figure nsu 1 currentBalance',
    (made) => {
      for (const at of [0, 2]) made[at].earlier[0].amount = '8.00';
    },
  ],
  [
    'a balance',
    'figure #1 2026-02-02 balance',
    (made) => {
      made[0].certificate.balance = '115.20';
    },
  ],
  [
    'reconciling items that are left out',
    'figure #3 2026-02-02 nsu 6',
    (made) => {
      made[2].certificate.reconcilingItems = [];
    },
  ],
  [
    'an item of a line that is none',
    'figure #3 2026-02-02 nsu 99',
    (made) => {
      made[2].certificate.reconcilingItems[1].nsu = '99';
    },
  ],
  [
    'the last line by nsu',
    'figure #1 2026-02-02 lastNsu',
    (made) => {
      made[0].certificate.lastNsu = '9';
    },
  ],
  [
    'counts by outcome',
    'figure #1 2026-02-02 lines',
    (made) => {
      made[0].certificate.matched.count = 1;
    },
  ],
  [
    'sums by outcome',
    'figure #2 2026-02-03 credits',
    (made) => {
      made[1].certificate.matched.credits = '1.00';
    },
  ],
  [
    'the opening of an amended day',
    'figure #2 2026-02-03 opening',
    (made) => {
      Object.assign(made[1].certificate, { opening: '116.81', closing: '164.01' });
    },
  ],
  [
    'a root of as many decisions',
    'figure #4 2026-02-03 decisions',
    (made) => {
      made[2].certificate.decisions.root = '0'.repeat(64);
    },
  ],
  [
    'fewer decisions',
    'decisions #4 2026-02-03',
    (made) => {
      made[3].certificate.decisions.count = 2;
    },
  ],
  [
    'a field that a line has twice',
    'unreadable #1 2026-02-02 nsu 2 (row 4)',
    (made) => {
      const text = canonical(made[0].lines[0]);
      made[0].lines[0] = text.replace('"amount"', '"amount":"99.00","amount"');
    },
  ],
  [
    'a field that a certificate has twice',
    'unreadable #2 (row 6)',
    (made) => {
      const text = canonical({ ...made[1].certificate, key });
      made[1].text = text.replace('"credits"', '"credits":"99.00","credits"');
    },
  ],
  ['an accepted difference of another amount', 'balance_chain nsu 3', leftOut('3', '9.00')],
  ['an accepted difference at no line', 'figure #4 2026-02-03 nsu 777', leftOut('777', '10.00')],
])('finds %s', async (_name, finding, change) => {
  expect(await found(change, 1)).toContain(finding);
});

it('lists each difference that persons accepted, and lines that came after the head', async () => {
  const { records, hashes } = forge(leftOut('3', '10.00'));
  const verified = await verifyChain(records, { head: hashes[0] });
  expect(verified).toMatchObject({ findings: [], accepted: ['nsu 3 10.00'] });
  expect(verified).toMatchObject({
    ...{ headAt: 1, isHeadLast: false, beyondHead: '#2–4' },
    revisions: ['#3 2026-02-02 nsu 6', '#4 2026-02-03 nsu 7'],
  });
  const byBoth = await verifyChain(records, { head: hashes[0], key: key.id });
  expect(byBoth).toMatchObject({ beyondHeadByKey: '#2–4' });
});

it('names a certificate, a line or a row that cannot be read, and nothing that follows', async () => {
  const unreadable = async (change: (made: Made[]) => void) => found(change);
  expect(
    await unreadable((made) => {
      made[0].certificate.sequence = '1';
    }),
  ).toEqual(['unreadable #1 (row 2)']);
  expect(
    await unreadable((made) => {
      made[1].lines[0].amount = '1e1';
    }),
  ).toEqual(['unreadable #2 2026-02-03 nsu 3 (row 7)']);
  const rows = vector.with(5, 'null');
  await expect(verifyChain(rows)).rejects.toThrow('CERTIFICATES row 6');
});

it.each<[string, string, (rows: string[]) => string[]]>([
  ['a line before the first certificate', 'row 2', (rows) => rows.toSpliced(1, 0, rows[3]!)],
  ['an earlier line of another day', 'row 7', (rows) => rows.toSpliced(6, 0, rows[2]!)],
  ['a file without a certificate', 'CERTIFICATES', (rows) => rows.slice(0, 1)],
  ['an empty file', 'CERTIFICATES', () => []],
])('finds that no certificate covers %s', async (_name, where, change) => {
  const { findings } = await verifyChain(change(vector));
  expect(findings).toEqual([{ code: 'uncertified', where, expected: '', actual: '' }]);
});

it('finds an earlier line after a line, and a timestamp of something else', async () => {
  const moved = vector.toSpliced(2, 2, vector[3]!, vector[2]!);
  expect((await verifyChain(moved)).findings).toMatchObject([{ code: 'order', where: 'row 4' }]);
  const [hash, row] = [JSON.parse(vector[1]!).hash as string, vector[1]!.slice(0, -1)];
  const stamped = (bytes: Buffer) =>
    vector.with(1, `${row},"timestamp":"${bytes.toString('base64')}"}`);
  const held = await verifyChain(stamped(Buffer.from(`00${hash}00`, 'hex')));
  expect(held).toMatchObject({ findings: [], timestamps: 1 });
  const { findings } = await verifyChain(stamped(Buffer.from('AAAA')));
  expect(findings).toMatchObject([{ code: 'figure', where: '#1 2026-02-02 timestamp' }]);
});

it('says that the id of a key is not its own', async () => {
  const { records } = forge((made) => {
    made[1]!.text = canonical({ ...made[1]!.certificate, key: { ...key, id: 'x' } });
  });
  const codes = (await verifyChain(records)).findings.map(({ where }) => where);
  expect(codes).toContain('#2 2026-02-03 key.id');
});

it('says which days were compared with the bank, and which were not', async () => {
  const rows = bank.trim().split('\n');
  const compare = async (text: string[], chain = vector) =>
    verifyChain(chain, { statement: readStatement(text.join('\n')) });
  const whole = { findings: [], compared: '2026-02-01 … 2026-02-03 (7)', notCompared: '' };
  expect(await compare(rows)).toMatchObject(whole);
  const part = rows.filter((row) => !/,2026-02-0[12]/.test(row));
  const partly = { compared: '2026-02-03 (3)', notCompared: '2026-02-01 … 2026-02-02' };
  expect(await compare(part)).toMatchObject({ findings: [], ...partly });
  const other = [rows[0]!, '900,2026-01-01,1.00'];
  for (const text of [rows.slice(0, 1), other])
    expect((await compare(text)).findings).toMatchObject([{ code: 'nothing_compared' }]);
  const codes = async (added: string) =>
    (await compare([...rows, added])).findings.map(({ code, where }) => `${code} ${where}`);
  expect(await codes(rows[2]!)).toEqual(['twice nsu 2']);
  expect(await codes('0,2026-02-01T09:00:00Z,-5.00')).toEqual(['not_certified nsu 0']);
});
