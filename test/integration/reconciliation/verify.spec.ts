import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { LosslessNumber } from 'lossless-json';
import { leafOfLine } from '../../../src/reconciliation/load/line-leaf.js';
import {
  listOutcomeLines,
  listStoredDecisions,
} from '../../../src/reconciliation/load/line-leaves.queries.js';
import { LineEraser } from '../../../src/reporting/day-closes/line-eraser.service.js';
import { resolveEndedStatementBreaks } from '../../../src/reconciliation/apply/break-writer.queries.js';
import { parseStatementLine } from '../../../src/statement/lines/statement-line.js';
import { recordLines } from '../../../src/statement/lines/line-recording.queries.js';
import { insertUnreadableLine } from '../../support/unreadable-lines.js';
import { ClosedDays, rewrittenHash, type TestLine } from '../../support/closed-days.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

const goLiveAt = new Date('2026-03-02T03:00:00Z');
const statementLines: TestLine[] = [
  // Before the first certified day.
  { nsu: -1, at: '2026-02-20T10:00:00Z', cents: 300 },
  { nsu: 0, at: '2026-02-21T10:00:00Z', cents: 20 },
  { nsu: 1, at: '2026-03-02T10:00:00Z', cents: 1_000 },
  { nsu: 2, at: '2026-03-02T11:00:00Z', cents: -250 },
  { nsu: 3, at: '2026-03-03T10:00:00Z', cents: 5_000 },
  { nsu: 4, at: '2026-03-04T10:00:00Z', cents: -5_000 },
  // After the last closed day.
  { nsu: 5, at: '2026-03-05T10:00:00Z', cents: 7 },
];
const updateLine = (set: string, nsu: number) =>
  `UPDATE statement_line SET ${set} WHERE account_id = $1 AND nsu = ${nsu}`;
const updateCertificate = (set: string, sequence: number) =>
  `UPDATE day_close SET ${set} WHERE account_id = $1 AND sequence = ${sequence}`;

const leaf = 'leaf of line and outcome';

/** The content hash of line -1 with `someone` replaced by `another`. */
const forgedHash = rewrittenHash(statementLines, -1);

/** Changes made without triggers, each with the first difference that verification reports. */
const tamperings: [change: string, sql: string, difference: object][] = [
  [
    'a changed amount',
    updateLine('amount_cents = 1001', 1),
    { nsu: 1n, field: 'amountCents', found: '1001' },
  ],
  [
    'a changed balance',
    updateLine('current_balance_cents = 0', 3),
    { nsu: 3n, field: 'currentBalanceCents' },
  ],
  ['a changed direction', updateLine('is_credit = true', 2), { nsu: 2n, field: 'isCredit' }],
  [
    'a changed time',
    updateLine(`occurred_at = '2026-03-02T12:00:00Z'`, 2),
    { nsu: 2n, field: 'occurredAt' },
  ],
  ['changed notes', updateLine(`notes = 'x'`, 2), { nsu: 2n, field: 'notes' }],
  [
    'a removed counterparty document',
    updateLine('counterparty_document = NULL', 1),
    { nsu: 1n, field: 'counterpartyDocument' },
  ],
  [
    'a changed text of the bank',
    updateLine(`content = replace(content, 'someone', 'another')`, 4),
    { nsu: 4n, field: 'content' },
  ],
  [
    'a changed text with its hash and column',
    updateLine(
      `content = replace(content, 'someone', 'another'),
       notes = replace(notes, 'someone', 'another'),
       content_hash = 'the-hash-of-it'`,
      4,
    ),
    { nsu: 4n, field: 'content' },
  ],
  ['a changed line after the last closed day', updateLine('amount_cents = 8', 5), { nsu: 5n }],
  [
    'a deleted line',
    'DELETE FROM statement_line WHERE account_id = $1 AND nsu = 2',
    { nsu: 3n, field: 'balance before' },
  ],
  [
    'a deleted last certified line, with all lines after it',
    'DELETE FROM statement_line WHERE account_id = $1 AND nsu >= 4',
    { nsu: 4n, field: 'line', found: 'none' },
  ],
  [
    'a deleted newest line that is not certified, with its outcome',
    `WITH outcomes AS (DELETE FROM line_outcome WHERE account_id = $1 AND nsu = 5)
     DELETE FROM statement_line WHERE account_id = $1 AND nsu = 5`,
    { field: 'lines', expected: '7', found: '6' },
  ],
  [
    'a deleted newest line, with the line count corrected',
    `WITH outcomes AS (DELETE FROM line_outcome WHERE account_id = $1 AND nsu = 5),
       deleted AS (DELETE FROM statement_line WHERE account_id = $1 AND nsu = 5)
     UPDATE statement_state SET line_count = 6 WHERE account_id = $1`,
    { field: 'last line', expected: '5', found: '4' },
  ],
  [
    'a deleted oldest line',
    'DELETE FROM statement_line WHERE account_id = $1 AND nsu = -1',
    { nsu: -1n, field: 'line', found: 'none' },
  ],
  [
    'a rewritten line before the first certified day',
    updateLine(
      `content = replace(content, 'someone', 'another'),
       notes = replace(notes, 'someone', 'another'),
       content_hash = '${forgedHash}'`,
      -1,
    ),
    { nsu: -1n, field: leaf },
  ],
  [
    'a changed id of a line, with a forged erasure',
    `WITH forged AS (
       INSERT INTO line_erasure (account_id, nsu, reason, commitment) VALUES ($1, 1, 'forged', 'x')
     )
     UPDATE statement_line SET content = '', content_hash = '', salt = NULL, notes = NULL,
       counterparty_document = NULL, external_id = 'forged' WHERE account_id = $1 AND nsu = 1`,
    { nsu: 1n, field: leaf },
  ],
  [
    'a removed last certificate with its lines and state, but not its event',
    `WITH links AS (DELETE FROM day_close WHERE account_id = $1 AND sequence = 3)
     UPDATE day_close_state SET next_date = '2026-03-04' WHERE account_id = $1`,
    { date: '2026-03-04', field: 'certificate 3', found: 'none' },
  ],
  [
    'a changed leaf',
    `UPDATE line_outcome SET leaf_hash = sha256('') WHERE account_id = $1 AND nsu = 1`,
    { date: '2026-03-02', nsu: 1n, field: leaf },
  ],
  [
    'a deleted outcome',
    'DELETE FROM line_outcome WHERE account_id = $1 AND nsu = 3',
    { date: '2026-03-03', nsu: 3n, field: 'outcome' },
  ],
  [
    'a changed classification',
    `UPDATE classification SET category = 'fee' WHERE account_id = $1 AND nsu = 2`,
    { date: '2026-03-02', nsu: 2n, field: leaf },
  ],
  [
    'a changed state of a line',
    `UPDATE line_outcome SET state = 'matched' WHERE account_id = $1 AND nsu = 2`,
    { date: '2026-03-02', nsu: 2n, field: leaf },
  ],
  [
    'a changed label of an outcome',
    `UPDATE line_outcome SET label = 'fee' WHERE account_id = $1 AND nsu = 2`,
    { date: '2026-03-02', nsu: 2n, field: 'label' },
  ],
  [
    'another version of an outcome',
    `UPDATE line_outcome SET version = 2 WHERE account_id = $1 AND nsu = 2`,
    { date: '2026-03-02', nsu: 2n, field: leaf },
  ],
  [
    'a forged break of a line',
    `INSERT INTO break (account_id, id, kind, state, subject, nsu, evidence)
     VALUES ($1, gen_random_uuid(), 'unexpected', 'open', 'nsu:3', 3, '{}')`,
    { date: '2026-03-03', nsu: 3n, field: leaf },
  ],
  ['a changed salt', updateLine(`salt = 'x'`, 1), { nsu: 1n, field: leaf }],
  ['a deleted salt', updateLine('salt = NULL', 1), { nsu: 1n, field: 'salt' }],
  [
    'an emptied line',
    updateLine(
      `content = '', content_hash = '', salt = NULL, notes = NULL, counterparty = NULL,
       counterparty_document = NULL`,
      1,
    ),
    { nsu: 1n, field: 'content' },
  ],
  [
    'changed figures of a certificate',
    updateCertificate('credit_cents = credit_cents + 1, closing_cents = closing_cents + 1', 1),
    { date: '2026-03-02', field: 'credits', expected: '1000', found: '1001' },
  ],
  [
    'a changed text of a certificate',
    updateCertificate(`certificate = replace(certificate, '10.00', '11.00')`, 1),
    { date: '2026-03-02', field: 'certificate' },
  ],
  [
    'a changed text of a certificate with its hash',
    updateCertificate(
      `certificate = replace(certificate, '"credits":"50.00"', '"credits":"51.00"'),
       hash = encode(sha256(replace(certificate, '"credits":"50.00"', '"credits":"51.00"')::bytea), 'hex')`,
      2,
    ),
    { date: '2026-03-03', field: 'credits' },
  ],
  [
    'a changed creation time of a certificate, with its hash',
    updateCertificate(
      `certificate = replace(certificate, '"madeAt":"2026', '"madeAt":"2025'),
       hash = encode(sha256(replace(certificate, '"madeAt":"2026', '"madeAt":"2025')::bytea), 'hex')`,
      1,
    ),
    { date: '2026-03-02', field: 'signature' },
  ],
  [
    'a deleted certificate',
    'DELETE FROM day_close WHERE account_id = $1 AND sequence = 2',
    { date: '2026-03-04', field: 'sequence' },
  ],
  [
    'a deleted last certificate',
    'DELETE FROM day_close WHERE account_id = $1 AND sequence = 3',
    { date: '2026-03-04', field: 'next day to close' },
  ],
];

/** The leaf that a forger computes for the changed classification of line 2. */
async function storeForgedLeaf(closedDays: ClosedDays, accountId: number, version: number) {
  const { database } = closedDays.service();
  const [line] = await listOutcomeLines(database.prisma, accountId, [2n]);
  const [outcome] = await listStoredDecisions(database.prisma, accountId, [2n]);
  if (!line || !outcome) throw new Error('line 2 has no outcome');
  const forged = leafOfLine(accountId, line, version, outcome);
  await closedDays.tamper(
    `UPDATE line_outcome SET version = $2, label = 'fee', leaf_hash = decode($3, 'hex')
     WHERE account_id = $1 AND nsu = 2`,
    ...[accountId, version, forged],
  );
}

describe('verification', () => {
  let service: ServiceDatabase;
  const closedDays = new ClosedDays(() => service);

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());

  const closeAccount = async (slug: string) => {
    const account = await closedDays.account(slug, goLiveAt);
    await closedDays.arrive(account.id, statementLines);
    await closedDays.decide(account.id);
    await closedDays.closedUntil(account.id, '2026-03-05');
    await closedDays.close(account);
    return account.id;
  };

  it('reports no difference when nothing was changed', async () => {
    await closeAccount('unchanged');
    expect(await closedDays.verify('unchanged')).toEqual({
      account: 'unchanged',
      counts: expect.objectContaining({
        lines: 7,
        certified: 6,
        waiting: 0,
        days: 3,
        certificates: 3,
      }),
      difference: null,
    });
  });

  describe('of one account that is restored after each change', () => {
    let accountId: number;
    beforeAll(async () => {
      accountId = await closeAccount('tampered');
      await closedDays.save(accountId);
    });
    afterEach(() => closedDays.restore(accountId));

    it.each(tamperings)('finds %s', async (_change, sql, difference) => {
      await closedDays.tamper(sql, accountId);
      expect((await closedDays.verify('tampered'))?.difference).toMatchObject(difference);
    });
  });

  it('finds a changed classification whose leaf was computed again', async () => {
    const accountId = await closeAccount('forged');
    await closedDays.tamper(
      `UPDATE classification SET category = 'fee' WHERE account_id = $1 AND nsu = 2`,
      accountId,
    );
    for (const version of [1, 2]) {
      await storeForgedLeaf(closedDays, accountId, version);
      expect((await closedDays.verify('forged'))?.difference).toMatchObject({
        ...{ date: '2026-03-02', field: 'outcomes' },
      });
    }
  });

  it('reports no difference in one account because of another', async () => {
    const accountId = await closeAccount('beside');
    await closedDays.tamper(updateLine('amount_cents = 1001', 1), accountId);
    expect((await closedDays.verify('unchanged'))?.difference).toBeNull();
  });

  it('accepts a line without personal data only if an erasure is recorded', async () => {
    const accountId = await closeAccount('erased');
    const eraser = new LineEraser(service.database);
    expect(await eraser.erase('erased', 1n, 'requested by its holder')).toBe('erased');
    expect(await eraser.erase('erased', 5n, 'not certified')).toBe('not_certified');
    expect(await eraser.erase('erased', 9n, 'no such line')).toBe('not_found');
    const { rows } = await closedDays.run(
      `SELECT to_jsonb(t)::text AS text FROM statement_line t WHERE account_id = $1 AND nsu = 1`,
      accountId,
    );
    expect(rows[0].text).not.toMatch(/12345678909|someone/);
    expect(await closedDays.verify('erased')).toMatchObject({
      difference: null,
      counts: { erased: 1 },
    });
    await closedDays.tamper(updateLine('amount_cents = 1001', 1), accountId);
    expect((await closedDays.verify('erased'))?.difference).toMatchObject({
      nsu: 1n,
      field: leaf,
    });
    await expect(closedDays.run(updateLine(`notes = 'x'`, 1), accountId)).rejects.toThrow(
      'written once',
    );
    await expect(closedDays.run(updateLine('notes = NULL', 2), accountId)).rejects.toThrow(
      'written once',
    );
    await expect(
      closedDays.run('DELETE FROM line_erasure WHERE account_id = $1', accountId),
    ).rejects.toThrow('is append-only');
  });

  it('erases the unreadable version of a line too, and does not store another one', async () => {
    const accountId = await closeAccount('unreadable');
    const { database } = service;
    const id = 'f'.repeat(64);
    await insertUnreadableLine(database.pool, accountId, { nsu: 1, id });
    await closedDays.run(
      `INSERT INTO break (account_id, id, kind, state, subject, nsu, evidence)
       VALUES ($1, gen_random_uuid(), 'unreadable_line', 'open', $2, 1, '{}')`,
      ...[accountId, `line:${id}`],
    );
    expect(await new LineEraser(database).erase('unreadable', 1n, 'its holder')).toBe('erased');
    const [row] = await database.prisma.unreadableLine.findMany({ where: { accountId } });
    expect(row).toMatchObject({ content: '', resolution: 'erased' });
    expect(row?.contentHash).not.toBe(id);
    const resolved = await database.transaction((tx) => resolveEndedStatementBreaks(tx, accountId));
    expect(resolved).toHaveLength(1);
    const { subject } = await database.prisma.break.findFirstOrThrow({ where: { accountId } });
    expect(subject).toBe(`line:${row?.contentHash}`);
    const again = { nsu: new LosslessNumber('1'), notes: 'a personal name' };
    await database.transaction((tx) => recordLines(tx, accountId, [parseStatementLine(again)]));
    expect(await database.prisma.unreadableLine.count({ where: { accountId } })).toBe(1);
  });

  it('reports no personal data', async () => {
    const accountId = await closeAccount('personal');
    await closedDays.tamper(updateLine(`counterparty_document = '11144477735'`, 1), accountId);
    const { difference } = (await closedDays.verify('personal')) ?? {};
    expect(difference).toMatchObject({ field: 'counterpartyDocument' });
    expect(Object.values(difference ?? {}).join(' ')).not.toMatch(/12345678909|11144477735/);
  });
});
