import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readCertificate } from '../../src/day-closes/certificate.js';
import { ClosedDays, type BookLine } from '../support/closed-days.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

/** Three days, the second without lines; nsu 4 is of the first day, and numbered among the third's. */
const book: BookLine[] = [
  { nsu: 1, at: '2026-03-02T10:00:00Z', cents: 1_000 },
  { nsu: 2, at: '2026-03-03T02:59:59.999Z', cents: -250 },
  { nsu: 3, at: '2026-03-04T03:00:00Z', cents: 5_000 },
  { nsu: 4, at: '2026-03-02T23:00:00Z', cents: -30 },
  { nsu: 5, at: '2026-03-04T12:00:00Z', cents: -1 },
];
const days = ['2026-03-02', '2026-03-03', '2026-03-04'];

describe('the close of a day', () => {
  let service: ServiceDatabase;
  const made = new ClosedDays(() => service);

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());

  const closedBook = async (slug: string, lines = book) => {
    const account = await made.account(slug);
    await made.arrive(account.id, lines);
    await made.decide(account.id);
    await made.closedUntil(account.id, '2026-03-05');
    await made.close(account);
    return account;
  };
  const told = async (accountId: number) =>
    (await made.chain(accountId)).map(
      ({ date, revision, openingCents, creditCents, debitCents, closingCents }) =>
        `${date}/${revision} ${openingCents} +${creditCents} -${debitCents} = ${closingCents}`,
    );

  it('certifies each day to the cent, also one without lines and one whose nsu stands among another’s', async () => {
    const { id } = await closedBook('figures');
    expect(await told(id)).toEqual([
      '2026-03-02/1 10000 +1000 -280 = 10720',
      '2026-03-03/1 10720 +0 -0 = 10720',
      '2026-03-04/1 10720 +5000 -1 = 15719',
    ]);
    const [first, , last] = (await made.chain(id)).map(({ certificate }) =>
      readCertificate(certificate),
    );
    expect(first?.reconcilingItems.map(({ nsu, amount }) => [nsu, amount])).toEqual([
      ['3', '50.00'],
      ['4', '-0.30'],
    ]);
    expect(last?.reconcilingItems).toEqual([]);
    expect(await made.breaks(id)).toEqual([]);
    expect(await made.verify('figures')).toMatchObject({
      difference: null,
      counts: { lines: 5, sealed: 5, days: 3, certificates: 3, waiting: 0 },
    });
  });

  it('ties each certificate to the one before, and changes nothing when it is done again', async () => {
    const account = await closedBook('again');
    const chain = await made.chain(account.id);
    expect(chain.map(({ previousHash }) => previousHash).slice(1)).toEqual(
      chain.map(({ hash }) => hash).slice(0, -1),
    );
    await made.close(account);
    expect(await made.chain(account.id)).toEqual(chain);
  });

  it('tells business systems of each certificate once', async () => {
    const { id: accountId } = await closedBook('events');
    const events = await service.database.prisma.event.findMany({ where: { accountId } });
    expect(events.map(({ type }) => type)).toEqual(days.map(() => 'day_close.certified'));
  });

  it('waits until the statement is closed over the whole day', async () => {
    const account = await made.account('open');
    await made.arrive(account.id, book);
    await made.decide(account.id);
    await made.run(
      `UPDATE statement_state SET closed_until = '2026-03-04T02:59:59Z' WHERE account_id = $1`,
      account.id,
    );
    await made.close(account);
    expect((await made.chain(account.id)).map(({ date }) => date)).toEqual(['2026-03-02']);
    await made.run(
      `UPDATE statement_state SET closed_from = '2026-03-03T04:00:00Z', closed_until = '2026-03-09T03:00:00Z'
       WHERE account_id = $1`,
      account.id,
    );
    await made.close(account);
    expect(await made.chain(account.id)).toHaveLength(1);
  });

  it('waits for a line that nobody has judged, and for one that is judged again', async () => {
    const account = await made.account('unjudged');
    await made.arrive(account.id, book);
    await made.closedUntil(account.id, '2026-03-05');
    await made.close(account);
    expect(await made.chain(account.id)).toEqual([]);
    await made.decide(account.id);
    await made.run('INSERT INTO deferred_line (account_id, nsu) VALUES ($1, 5)', account.id);
    await made.close(account);
    expect((await made.chain(account.id)).map(({ date }) => date)).toEqual(days.slice(0, 2));
    await made.run('DELETE FROM deferred_line WHERE account_id = $1', account.id);
    await made.close(account);
    expect((await made.chain(account.id)).map(({ date }) => date)).toEqual(days);
  });

  it('counts a line in an open break as such, whatever else explains it', async () => {
    const account = await made.account('in-break');
    await made.arrive(account.id, book);
    await made.decide(account.id);
    await made.run(
      `INSERT INTO break (account_id, id, kind, state, subject, nsu, evidence)
       VALUES ($1, gen_random_uuid(), 'unexpected', 'open', 'nsu:1', 1, '{}')`,
      account.id,
    );
    await made.closedUntil(account.id, '2026-03-03');
    await made.close(account);
    const [only] = await made.chain(account.id);
    const said = readCertificate(only?.certificate ?? '');
    expect(said.inBreak).toEqual({ unexpected: { count: 1, credits: '10.00', debits: '0.00' } });
    expect(said.classified).toEqual({ accepted: { count: 2, credits: '0.00', debits: '2.80' } });
  });

  it('begins with the day of the go-live, with what the account held then', async () => {
    const account = await made.account('live', new Date('2026-03-04T15:00:00Z'));
    await made.arrive(account.id, book);
    await made.decide(account.id);
    await made.closedUntil(account.id, '2026-03-05');
    await made.close(account);
    expect(await told(account.id)).toEqual(['2026-03-04/1 10720 +5000 -1 = 15719']);
    expect(await made.verify('live')).toMatchObject({ difference: null });
  });

  it('begins earlier when an older line comes before anything is certified', async () => {
    const account = await made.account('earlier');
    await made.arrive(account.id, book, ({ nsu }) => nsu === 3 || nsu === 5);
    await made.close(account);
    await made.arrive(account.id, book, ({ nsu }) => nsu !== 3 && nsu !== 5);
    await made.decide(account.id);
    await made.closedUntil(account.id, '2026-03-05');
    await made.close(account);
    expect((await made.chain(account.id)).map(({ date }) => date)).toEqual(days);
    expect(await made.breaks(account.id)).toEqual([]);
  });

  it('certifies no day whose figures are not the bank’s: a break tells, until they are', async () => {
    const account = await made.account('hole');
    await made.arrive(account.id, book, ({ nsu }) => nsu !== 2);
    await made.decide(account.id);
    await made.closedUntil(account.id, '2026-03-05');
    await made.close(account);
    await made.close(account);
    expect(await made.chain(account.id)).toEqual([]);
    expect(await made.breaks(account.id)).toEqual(['open broken_balance_chain day:2026-03-02']);
    await made.arrive(account.id, book, ({ nsu }) => nsu === 2);
    await made.decide(account.id);
    await made.close(account);
    expect((await made.chain(account.id)).map(({ date }) => date)).toEqual(days);
    expect(await made.breaks(account.id)).toEqual(['resolved broken_balance_chain day:2026-03-02']);
  });

  it('amends the day of a line that came late and those after it, and has a break open until then', async () => {
    const account = await made.account('late');
    // What is missing comes to nothing, so that no balance tells of it.
    const late = [
      { nsu: 6, at: '2026-03-03T12:00:00Z', cents: 70 },
      { nsu: 7, at: '2026-03-04T12:30:00Z', cents: -70 },
    ];
    const isLate = ({ nsu }: BookLine) => nsu > 5;
    await made.arrive(account.id, [...book, ...late], (line) => !isLate(line));
    await made.decide(account.id);
    await made.closedUntil(account.id, '2026-03-06');
    await made.close(account);
    await made.arrive(account.id, [...book, ...late], isLate);
    await made.close(account);
    expect(await made.breaks(account.id)).toEqual([
      'open late_line day:2026-03-03/6',
      'open late_line day:2026-03-04/7',
    ]);
    expect(await made.chain(account.id)).toHaveLength(4);
    expect(await made.verify('late')).toMatchObject({ difference: null, counts: { waiting: 2 } });
    await made.decide(account.id);
    await made.close(account);
    expect(await made.breaks(account.id)).toEqual([
      'resolved late_line day:2026-03-03/6',
      'resolved late_line day:2026-03-04/7',
    ]);
    expect((await told(account.id)).slice(4)).toEqual([
      '2026-03-03/2 10720 +70 -0 = 10790',
      '2026-03-04/2 10790 +5000 -71 = 15719',
      // Its figures are the same, its balance counts up to another line.
      '2026-03-05/2 15719 +0 -0 = 15719',
    ]);
    const chain = await made.chain(account.id);
    await made.close(account);
    expect(await made.chain(account.id)).toEqual(chain);
    expect(await made.verify('late')).toMatchObject({
      difference: null,
      counts: { sealed: 7, days: 4, certificates: 7, waiting: 0 },
    });
    const events = await service.database.prisma.event.findMany({
      where: { accountId: account.id },
    });
    const times = (type: string) => events.filter((event) => event.type === type).length;
    expect([times('day_close.amended'), times('break.opened'), times('break.resolved')]).toEqual([
      3, 2, 2,
    ]);
  });

  it('keeps certificates and seals as they were written', async () => {
    const { id } = await closedBook('kept');
    for (const sql of [
      'UPDATE day_close SET line_count = 9 WHERE account_id = $1',
      'DELETE FROM day_close WHERE account_id = $1',
      `UPDATE certified_line SET line_hash = 'x' WHERE account_id = $1`,
      'DELETE FROM certified_line WHERE account_id = $1',
    ])
      await expect(made.run(sql, id)).rejects.toThrow('is append-only');
    for (const table of ['day_close', 'certified_line', 'line_salt', 'break_history_entry'])
      await expect(made.run(`TRUNCATE ${table}`)).rejects.toThrow('is append-only');
  });
});
