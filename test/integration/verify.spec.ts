import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { LosslessNumber } from 'lossless-json';
import { LineEraser } from '../../src/day-closes/line-eraser.service.js';
import { resolveEndedStatementBreaks } from '../../src/reconciliation/statement-breaks.queries.js';
import { parseStatementLine } from '../../src/statement/statement-line.js';
import { recordLines } from '../../src/statement/line-recording.queries.js';
import { insertUnreadableLine } from '../support/unreadable-lines.js';
import { ClosedDays, rewrittenHash, type BookLine } from '../support/closed-days.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

const goLiveAt = new Date('2026-03-02T03:00:00Z');
const book: BookLine[] = [
  // Before the first day that is certified.
  { nsu: -1, at: '2026-02-20T10:00:00Z', cents: 300 },
  { nsu: 0, at: '2026-02-21T10:00:00Z', cents: 20 },
  { nsu: 1, at: '2026-03-02T10:00:00Z', cents: 1_000 },
  { nsu: 2, at: '2026-03-02T11:00:00Z', cents: -250 },
  { nsu: 3, at: '2026-03-03T10:00:00Z', cents: 5_000 },
  { nsu: 4, at: '2026-03-04T10:00:00Z', cents: -5_000 },
  // After the last day that is closed.
  { nsu: 5, at: '2026-03-05T10:00:00Z', cents: 7 },
];
const line = (set: string, nsu: number) =>
  `UPDATE statement_line SET ${set} WHERE account_id = $1 AND nsu = ${nsu}`;
const close = (set: string, sequence: number) =>
  `UPDATE day_close SET ${set} WHERE account_id = $1 AND sequence = ${sequence}`;

/** Of the content of nsu -1 once it says `another`. */
const anewHash = rewrittenHash(book, -1);

/** What is written past the triggers, and the first difference that is told of it. */
const tamperings: [what: string, sql: string, difference: object][] = [
  ['an amount', line('amount_cents = 1001', 1), { nsu: 1n, field: 'amountCents', found: '1001' }],
  ['a balance', line('current_balance_cents = 0', 3), { nsu: 3n, field: 'currentBalanceCents' }],
  ['a direction', line('is_credit = true', 2), { nsu: 2n, field: 'isCredit' }],
  ['a time', line(`occurred_at = '2026-03-02T12:00:00Z'`, 2), { nsu: 2n, field: 'occurredAt' }],
  ['notes', line(`notes = 'x'`, 2), { nsu: 2n, field: 'notes' }],
  [
    'a counterparty’s document',
    line('counterparty_document = NULL', 1),
    { nsu: 1n, field: 'counterpartyDocument' },
  ],
  [
    'the text that came from the bank',
    line(`content = replace(content, 'someone', 'another')`, 4),
    { nsu: 4n, field: 'content' },
  ],
  [
    'text, its hash and its column alike',
    line(
      `content = replace(content, 'someone', 'another'), notes = replace(notes, 'someone', 'another'),
       content_hash = 'the-hash-of-it'`,
      4,
    ),
    { nsu: 4n, field: 'content' },
  ],
  ['a line that no day has closed over', line('amount_cents = 8', 5), { nsu: 5n }],
  [
    'a line that is deleted',
    'DELETE FROM statement_line WHERE account_id = $1 AND nsu = 2',
    { nsu: 3n, field: 'balance before' },
  ],
  [
    'the last line that is certified, deleted with all that came after',
    'DELETE FROM statement_line WHERE account_id = $1 AND nsu >= 4',
    { date: '2026-03-04', nsu: 4n, field: 'line', found: 'none' },
  ],
  [
    'the newest line, of no day that is closed, deleted',
    'DELETE FROM statement_line WHERE account_id = $1 AND nsu = 5',
    { field: 'lines', certified: '7', found: '6' },
  ],
  [
    'the newest line, deleted and not counted any more',
    `WITH gone AS (DELETE FROM statement_line WHERE account_id = $1 AND nsu = 5)
     UPDATE statement_state SET line_count = 6 WHERE account_id = $1`,
    { field: 'last line', certified: '5', found: '4' },
  ],
  [
    'the oldest line of all, deleted',
    'DELETE FROM statement_line WHERE account_id = $1 AND nsu = -1',
    { nsu: -1n, field: 'line', found: 'none' },
  ],
  [
    'a line of before the first day, written anew',
    line(
      `content = replace(content, 'someone', 'another'), notes = replace(notes, 'someone', 'another'),
       content_hash = '${anewHash}'`,
      -1,
    ),
    { nsu: -1n, field: 'commitment' },
  ],
  [
    'an id of a line, with a forged erasure of it',
    `WITH forged AS (
       INSERT INTO line_erasure (account_id, nsu, reason) VALUES ($1, 1, 'forged')
     ), salts AS (DELETE FROM line_salt WHERE account_id = $1 AND nsu = 1)
     UPDATE statement_line SET content = '', content_hash = '', notes = NULL, counterparty_document = NULL,
       external_id = 'forged' WHERE account_id = $1 AND nsu = 1`,
    { nsu: 1n, field: 'line hash' },
  ],
  [
    'the end of the chain, cut off with all that tells of it but for the events',
    `WITH links AS (DELETE FROM day_close WHERE account_id = $1 AND sequence = 3),
       seals AS (DELETE FROM certified_line WHERE account_id = $1 AND date = '2026-03-04')
     UPDATE day_close_state SET next_date = '2026-03-04' WHERE account_id = $1`,
    { date: '2026-03-04', field: 'certificate 3', found: 'none' },
  ],
  [
    'a seal',
    `UPDATE certified_line SET line_hash = repeat('0', 64) WHERE account_id = $1 AND nsu = 1`,
    { date: '2026-03-02', nsu: 1n, field: 'line hash' },
  ],
  [
    'a commitment',
    `UPDATE certified_line SET commitment = repeat('0', 64) WHERE account_id = $1 AND nsu = 1`,
    { nsu: 1n, field: 'commitment' },
  ],
  [
    'a seal that is deleted',
    'DELETE FROM certified_line WHERE account_id = $1 AND nsu = 3',
    { date: '2026-03-03', nsu: 3n, field: 'line', certified: 'none' },
  ],
  [
    'a salt',
    `UPDATE line_salt SET salt = 'x' WHERE account_id = $1 AND nsu = 1`,
    { nsu: 1n, field: 'commitment' },
  ],
  [
    'a salt that is deleted',
    'DELETE FROM line_salt WHERE account_id = $1 AND nsu = 1',
    { nsu: 1n, field: 'salt' },
  ],
  [
    'a line that is emptied',
    line(
      `content = '', content_hash = '', notes = NULL, counterparty = NULL, counterparty_document = NULL`,
      1,
    ),
    { nsu: 1n, field: 'content' },
  ],
  [
    'a certificate’s figure',
    close('credit_cents = credit_cents + 1, closing_cents = closing_cents + 1', 1),
    { date: '2026-03-02', field: 'credits', certified: '1000', found: '1001' },
  ],
  [
    'a certificate’s text',
    close(`certificate = replace(certificate, '10.00', '11.00')`, 1),
    { date: '2026-03-02', field: 'certificate' },
  ],
  [
    'a certificate’s text and hash',
    close(
      `certificate = replace(certificate, '"credits":"50.00"', '"credits":"51.00"'),
       hash = encode(sha256(replace(certificate, '"credits":"50.00"', '"credits":"51.00"')::bytea), 'hex')`,
      2,
    ),
    { date: '2026-03-03', field: 'credits' },
  ],
  [
    'when a certificate was made, with its hash',
    close(
      `certificate = replace(certificate, '"madeAt":"2026', '"madeAt":"2025'),
       hash = encode(sha256(replace(certificate, '"madeAt":"2026', '"madeAt":"2025')::bytea), 'hex')`,
      1,
    ),
    { date: '2026-03-03', field: 'previousHash' },
  ],
  [
    'a certificate that is deleted',
    'DELETE FROM day_close WHERE account_id = $1 AND sequence = 2',
    { date: '2026-03-04', field: 'sequence' },
  ],
  [
    'the last certificate, deleted',
    'DELETE FROM day_close WHERE account_id = $1 AND sequence = 3',
    { date: '2026-03-04', field: 'next day to close' },
  ],
];

describe('verification', () => {
  let service: ServiceDatabase;
  const made = new ClosedDays(() => service);

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());

  const closedBook = async (slug: string) => {
    const account = await made.account(slug, goLiveAt);
    await made.arrive(account.id, book);
    await made.decide(account.id);
    await made.closedUntil(account.id, '2026-03-05');
    await made.close(account);
    return account.id;
  };

  it('finds nothing in a book that nobody has tampered with', async () => {
    await closedBook('whole');
    expect(await made.verify('whole')).toEqual({
      account: 'whole',
      counts: expect.objectContaining({
        lines: 7,
        sealed: 6,
        waiting: 0,
        days: 3,
        certificates: 3,
      }),
      difference: null,
    });
  });

  describe('of one book that is mended after each', () => {
    let accountId: number;
    beforeAll(async () => {
      accountId = await closedBook('tampered');
      await made.keep(accountId);
    });
    afterEach(() => made.restore(accountId));

    it.each(tamperings)('finds %s', async (_what, sql, difference) => {
      await made.tamper(sql, accountId);
      expect((await made.verify('tampered'))?.difference).toMatchObject(difference);
    });
  });

  it('finds nothing in one account because of another', async () => {
    const accountId = await closedBook('beside');
    await made.tamper(line('amount_cents = 1001', 1), accountId);
    expect((await made.verify('whole'))?.difference).toBeNull();
  });

  it('holds for a line whose personal data was erased, and for no other without it', async () => {
    const accountId = await closedBook('erased');
    const eraser = new LineEraser(service.database);
    expect(await eraser.erase('erased', 1n, 'its holder asked for it')).toBe('erased');
    expect(await eraser.erase('erased', 5n, 'no certificate has it')).toBe('not_certified');
    expect(await eraser.erase('erased', 9n, 'there is no such line')).toBe('not_found');
    const { rows } = await made.run(
      `SELECT to_jsonb(t)::text AS text FROM statement_line t WHERE account_id = $1 AND nsu = 1`,
      accountId,
    );
    expect(rows[0].text).not.toMatch(/12345678909|someone/);
    expect(await made.verify('erased')).toMatchObject({ difference: null, counts: { erased: 1 } });
    await made.tamper(line('amount_cents = 1001', 1), accountId);
    expect((await made.verify('erased'))?.difference).toMatchObject({
      nsu: 1n,
      field: 'line hash',
    });
    await expect(made.run(line(`notes = 'x'`, 1), accountId)).rejects.toThrow('written once');
    await expect(made.run(line('notes = NULL', 2), accountId)).rejects.toThrow('written once');
    await expect(
      made.run('DELETE FROM line_erasure WHERE account_id = $1', accountId),
    ).rejects.toThrow('is append-only');
  });

  it('forgets with a line what it was set aside with, and sets nothing of it aside again', async () => {
    const accountId = await closedBook('forgotten');
    const { database } = service;
    const id = 'f'.repeat(64);
    await insertUnreadableLine(database.pool, accountId, { nsu: 1, id });
    await made.run(
      `INSERT INTO break (account_id, id, kind, state, subject, nsu, evidence)
       VALUES ($1, gen_random_uuid(), 'unreadable_line', 'open', $2, 1, '{}')`,
      ...[accountId, `line:${id}`],
    );
    expect(await new LineEraser(database).erase('forgotten', 1n, 'its holder')).toBe('erased');
    const [row] = await database.prisma.unreadableLine.findMany({ where: { accountId } });
    expect(row).toMatchObject({ content: '', resolution: 'erased' });
    expect(row?.contentHash).not.toBe(id);
    const settled = await database.transaction((tx) => resolveEndedStatementBreaks(tx, accountId));
    expect(settled).toHaveLength(1);
    const { subject } = await database.prisma.break.findFirstOrThrow({ where: { accountId } });
    expect(subject).toBe(`line:${row?.contentHash}`);
    const again = { nsu: new LosslessNumber('1'), notes: 'whose it was' };
    await database.transaction((tx) => recordLines(tx, accountId, [parseStatementLine(again)]));
    expect(await database.prisma.unreadableLine.count({ where: { accountId } })).toBe(1);
  });

  it('tells no personal data', async () => {
    const accountId = await closedBook('personal');
    await made.tamper(line(`counterparty_document = '11144477735'`, 1), accountId);
    const { difference } = (await made.verify('personal')) ?? {};
    expect(difference).toMatchObject({ field: 'counterpartyDocument' });
    expect(Object.values(difference ?? {}).join(' ')).not.toMatch(/12345678909|11144477735/);
  });
});
