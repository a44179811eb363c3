import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { stringifyJson } from '../../../src/platform/json/exact-json.js';
import { readCertificate } from '../../../src/reporting/day-closes/certificate.js';
import { DayClosesController } from '../../../src/reporting/day-closes/day-closes.controller.js';
import { DayCloses } from '../../../src/reporting/day-closes/day-closes.service.js';
import { listCurrentCertificates } from '../../../src/reporting/day-closes/day-closes.queries.js';
import { dayCloseView } from '../../../src/reporting/day-closes/day-closes.schema.js';
import { ClosedDays, type TestLine } from '../../support/closed-days.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

/** Three days, the second without lines. Line 4 is of the first day, numbered among the third's. */
const statementLines: TestLine[] = [
  { nsu: 1, at: '2026-03-02T10:00:00Z', cents: 1_000 },
  { nsu: 2, at: '2026-03-03T02:59:59.999Z', cents: -250 },
  { nsu: 3, at: '2026-03-04T03:00:00Z', cents: 5_000 },
  { nsu: 4, at: '2026-03-02T23:00:00Z', cents: -30 },
  { nsu: 5, at: '2026-03-04T12:00:00Z', cents: -1 },
];
const days = ['2026-03-02', '2026-03-03', '2026-03-04'];

describe('day closes', () => {
  let service: ServiceDatabase;
  const closedDays = new ClosedDays(() => service);

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());

  const closeAccount = async (slug: string, lines = statementLines) => {
    const account = await closedDays.account(slug);
    await closedDays.arrive(account.id, lines);
    await closedDays.decide(account.id);
    await closedDays.closedUntil(account.id, '2026-03-05');
    await closedDays.close(account);
    return account;
  };
  const certifiedFigures = async (accountId: number) =>
    (await closedDays.chain(accountId)).map(
      ({ date, revision, openingCents, creditCents, debitCents, closingCents }) =>
        `${date}/${revision} ${openingCents} +${creditCents} -${debitCents} = ${closingCents}`,
    );

  it('certifies each day to the cent, also without lines or with a line numbered among later lines', async () => {
    const { id } = await closeAccount('figures');
    expect(await certifiedFigures(id)).toEqual([
      '2026-03-02/1 10000 +1000 -280 = 10720',
      '2026-03-03/1 10720 +0 -0 = 10720',
      '2026-03-04/1 10720 +5000 -1 = 15719',
    ]);
    const [first, , last] = (await closedDays.chain(id)).map(({ certificate }) =>
      readCertificate(certificate),
    );
    expect(first?.reconcilingItems.map(({ nsu, amount }) => [nsu, amount])).toEqual([
      ['3', '50.00'],
      ['4', '-0.30'],
    ]);
    expect(last?.reconcilingItems).toEqual([]);
    expect(await closedDays.breaks(id)).toEqual([]);
    expect(await closedDays.verify('figures')).toMatchObject({
      difference: null,
      counts: { lines: 5, certified: 5, days: 3, certificates: 3, waiting: 0 },
    });
  });

  it('links each certificate to the previous one, and changes nothing when it runs again', async () => {
    const account = await closeAccount('again');
    const chain = await closedDays.chain(account.id);
    expect(chain.map(({ previousHash }) => previousHash).slice(1)).toEqual(
      chain.map(({ hash }) => hash).slice(0, -1),
    );
    await closedDays.close(account);
    expect(await closedDays.chain(account.id)).toEqual(chain);
  });

  it('lists each day as it is shown, and reads only what is shown of each certificate', async () => {
    const { id: accountId } = await closeAccount('listed');
    const controller = new DayClosesController(new DayCloses(service.database));
    const textOf = (dayClose: unknown) => stringifyJson(z.encode(dayCloseView, dayClose as never));
    const { data } = await controller.list({ accountId, query: {} } as never);
    const shown = [...days]
      .reverse()
      .map((date) => controller.get({ accountId, params: { date } } as never).then(textOf));
    expect(data.map(textOf)).toEqual(await Promise.all(shown));
    const filters = { from: null, to: null, beforeDate: null, limit: 1 };
    const [row] = await listCurrentCertificates(service.database.prisma, accountId, filters);
    expect(row).not.toHaveProperty('certificate');
    expect(JSON.parse(row?.summary ?? '')).not.toHaveProperty('outcomeChanges');
  });

  it('reports each certificate in one event', async () => {
    const { id: accountId } = await closeAccount('events');
    const events = await service.database.prisma.event.findMany({ where: { accountId } });
    expect(events.map(({ type }) => type)).toEqual(days.map(() => 'day_close.certified'));
  });

  it('does not certify a day before the closed period covers all of it', async () => {
    const account = await closedDays.account('open');
    await closedDays.arrive(account.id, statementLines);
    await closedDays.decide(account.id);
    await closedDays.run(
      `UPDATE statement_state SET closed_until = '2026-03-04T02:59:59Z' WHERE account_id = $1`,
      account.id,
    );
    await closedDays.close(account);
    expect((await closedDays.chain(account.id)).map(({ date }) => date)).toEqual(['2026-03-02']);
    await closedDays.run(
      `UPDATE statement_state
       SET closed_from = '2026-03-03T04:00:00Z', closed_until = '2026-03-09T03:00:00Z'
       WHERE account_id = $1`,
      account.id,
    );
    await closedDays.close(account);
    expect(await closedDays.chain(account.id)).toHaveLength(1);
  });

  it('does not certify a day with an undecided or pending line', async () => {
    const account = await closedDays.account('undecided');
    await closedDays.arrive(account.id, statementLines);
    await closedDays.closedUntil(account.id, '2026-03-05');
    await closedDays.close(account);
    expect(await closedDays.chain(account.id)).toEqual([]);
    await closedDays.decide(account.id);
    await closedDays.writeOutcomes(account.id, { nsu: 5n, state: 'pending' });
    await closedDays.close(account);
    expect((await closedDays.chain(account.id)).map(({ date }) => date)).toEqual(days.slice(0, 2));
    await closedDays.writeOutcomes(account.id);
    await closedDays.close(account);
    expect((await closedDays.chain(account.id)).map(({ date }) => date)).toEqual(days);
  });

  it('counts a line in an open break as in break, even if it is classified', async () => {
    const account = await closedDays.account('in-break');
    await closedDays.arrive(account.id, statementLines);
    await closedDays.decide(account.id);
    await closedDays.run(
      `INSERT INTO break (account_id, id, kind, state, subject, nsu, evidence)
       VALUES ($1, gen_random_uuid(), 'unexpected', 'open', 'nsu:1', 1, '{}')`,
      account.id,
    );
    await closedDays.writeOutcomes(account.id);
    await closedDays.closedUntil(account.id, '2026-03-03');
    await closedDays.close(account);
    const [first] = await closedDays.chain(account.id);
    const certificate = readCertificate(first?.certificate ?? '');
    expect(certificate.inBreak).toEqual({
      unexpected: { count: 1, credits: '10.00', debits: '0.00' },
    });
    expect(certificate.classified).toEqual({
      accepted: { count: 2, credits: '0.00', debits: '2.80' },
    });
  });

  it('starts with the day of the go-live, at the account’s balance then', async () => {
    const account = await closedDays.account('live', new Date('2026-03-04T15:00:00Z'));
    await closedDays.arrive(account.id, statementLines);
    await closedDays.decide(account.id);
    await closedDays.closedUntil(account.id, '2026-03-05');
    await closedDays.close(account);
    expect(await certifiedFigures(account.id)).toEqual(['2026-03-04/1 10720 +5000 -1 = 15719']);
    expect(await closedDays.verify('live')).toMatchObject({ difference: null });
  });

  it('starts earlier when an older line comes before any day is certified', async () => {
    const account = await closedDays.account('earlier');
    await closedDays.arrive(account.id, statementLines, ({ nsu }) => nsu === 3 || nsu === 5);
    await closedDays.close(account);
    await closedDays.arrive(account.id, statementLines, ({ nsu }) => nsu !== 3 && nsu !== 5);
    await closedDays.decide(account.id);
    await closedDays.closedUntil(account.id, '2026-03-05');
    await closedDays.close(account);
    expect((await closedDays.chain(account.id)).map(({ date }) => date)).toEqual(days);
    expect(await closedDays.breaks(account.id)).toEqual([]);
  });

  it('does not certify a day whose figures differ from the bank’s, and has a break until they agree', async () => {
    const account = await closedDays.account('gap');
    await closedDays.arrive(account.id, statementLines, ({ nsu }) => nsu !== 2);
    await closedDays.decide(account.id);
    await closedDays.closedUntil(account.id, '2026-03-05');
    await closedDays.close(account);
    await closedDays.close(account);
    expect(await closedDays.chain(account.id)).toEqual([]);
    expect(await closedDays.breaks(account.id)).toEqual([
      'open broken_balance_chain day:2026-03-02',
    ]);
    await closedDays.arrive(account.id, statementLines, ({ nsu }) => nsu === 2);
    await closedDays.decide(account.id);
    await closedDays.close(account);
    expect((await closedDays.chain(account.id)).map(({ date }) => date)).toEqual(days);
    expect(await closedDays.breaks(account.id)).toEqual([
      'resolved broken_balance_chain day:2026-03-02',
    ]);
  });

  it('amends the day of a late line and all later days, and has an open break until then', async () => {
    const account = await closedDays.account('late');
    // The missing lines sum to zero, so that no balance shows that they are missing.
    const late = [
      { nsu: 6, at: '2026-03-03T12:00:00Z', cents: 70 },
      { nsu: 7, at: '2026-03-04T12:30:00Z', cents: -70 },
    ];
    const isLate = ({ nsu }: TestLine) => nsu > 5;
    await closedDays.arrive(account.id, [...statementLines, ...late], (line) => !isLate(line));
    await closedDays.decide(account.id);
    await closedDays.closedUntil(account.id, '2026-03-06');
    await closedDays.close(account);
    await closedDays.arrive(account.id, [...statementLines, ...late], isLate);
    await closedDays.close(account);
    expect(await closedDays.breaks(account.id)).toEqual([
      'open late_line day:2026-03-03/6',
      'open late_line day:2026-03-04/7',
    ]);
    expect(await closedDays.chain(account.id)).toHaveLength(4);
    expect(await closedDays.verify('late')).toMatchObject({
      difference: null,
      counts: { waiting: 2 },
    });
    await closedDays.decide(account.id);
    await closedDays.close(account);
    expect(await closedDays.breaks(account.id)).toEqual([
      'resolved late_line day:2026-03-03/6',
      'resolved late_line day:2026-03-04/7',
    ]);
    expect((await certifiedFigures(account.id)).slice(4)).toEqual([
      '2026-03-03/2 10720 +70 -0 = 10790',
      '2026-03-04/2 10790 +5000 -71 = 15719',
      // The figures are unchanged, but the balance counts up to another line.
      '2026-03-05/2 15719 +0 -0 = 15719',
    ]);
    const chain = await closedDays.chain(account.id);
    await closedDays.close(account);
    expect(await closedDays.chain(account.id)).toEqual(chain);
    expect(await closedDays.verify('late')).toMatchObject({
      difference: null,
      counts: { certified: 7, days: 4, certificates: 7, waiting: 0 },
    });
    const events = await service.database.prisma.event.findMany({
      where: { accountId: account.id },
    });
    const countEvents = (type: string) => events.filter((event) => event.type === type).length;
    expect(
      ['day_close.amended', 'break.opened', 'break.resolved'].map((type) => countEvents(type)),
    ).toEqual([3, 2, 2]);
  });

  it('rejects every change of certificates and certified lines', async () => {
    const { id } = await closeAccount('append-only');
    for (const sql of [
      'UPDATE day_close SET line_count = 9 WHERE account_id = $1',
      'DELETE FROM day_close WHERE account_id = $1',
      'DELETE FROM line_outcome WHERE account_id = $1',
    ])
      await expect(closedDays.run(sql, id)).rejects.toThrow('is append-only');
    for (const table of ['day_close', 'former_outcome', 'break_history_entry'])
      await expect(closedDays.run(`TRUNCATE ${table} CASCADE`)).rejects.toThrow('is append-only');
  });
});
