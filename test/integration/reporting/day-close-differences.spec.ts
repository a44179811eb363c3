import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readCertificate } from '../../../src/reporting/day-closes/certificate.js';
import { findGap } from '../../../src/statement/lines/balance-chain.queries.js';
import { ClosedDays, type TestLine } from '../../support/closed-days.js';
import { reconciliationOn } from '../../support/reconciliation.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { recordedQueues } from '../../support/recorded-queues.js';

const marchLines: TestLine[] = [
  { nsu: 1, at: '2026-03-02T10:00:00Z', cents: 1_000 },
  { nsu: 2, at: '2026-03-02T11:00:00Z', cents: -250 },
  { nsu: 3, at: '2026-03-03T10:00:00Z', cents: 5_000 },
  { nsu: 4, at: '2026-03-04T10:00:00Z', cents: -40 },
];

describe('a day close when balances do not link', () => {
  let service: ServiceDatabase;
  const closedDays = new ClosedDays(() => service);

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());

  const closeAccount = async (
    slug: string,
    lines: TestLine[],
    arrivesNow?: (line: TestLine) => boolean,
  ) => {
    const account = await closedDays.account(slug);
    await closedDays.arrive(account.id, lines, arrivesNow);
    await closedDays.decide(account.id);
    await closedDays.closedUntil(account.id, '2026-03-05');
    await closedDays.close(account);
    return account;
  };
  const certificates = async (accountId: number) =>
    (await closedDays.chain(accountId)).map(({ certificate }) => readCertificate(certificate));
  const accept = (accountId: number, subject: string, reason = 'known') =>
    closedDays.run(
      `UPDATE break SET state = 'resolved', resolved_at = now(), resolution = 'accept',
         resolution_reason = $3
       WHERE account_id = $1 AND subject = $2`,
      accountId,
      subject,
      reason,
    );
  /** Stores a gap's break as accepted by a person, with this jump as its evidence. */
  const acceptGap = (accountId: number, nsu: number, cents: number) =>
    closedDays.run(
      `INSERT INTO break (account_id, id, kind, state, subject, nsu, evidence, resolution,
         resolution_reason, resolved_at)
       VALUES ($1, gen_random_uuid(), 'broken_balance_chain', 'resolved', 'gap:' || $2::bigint, $2,
               $3, 'accept', 'known', now())`,
      accountId,
      nsu,
      { jumps: [{ nsu: `${nsu}`, cents: `${cents}` }] },
    );
  const closings = async (accountId: number) =>
    (await certificates(accountId)).map(({ date, closing }) => `${date} ${closing}`);

  it('certifies days whose lines the bank numbers in another order than it books them', async () => {
    const numbered: TestLine[] = [
      { nsu: 1, at: '2026-03-02T10:00:00Z', cents: 1_000 },
      { nsu: 2, at: '2026-03-02T10:00:02Z', cents: 50, booked: 3 },
      { nsu: 3, at: '2026-03-02T10:00:01Z', cents: 200, booked: 2 },
      // These two lines of different days are numbered in the reverse order.
      { nsu: 4, at: '2026-03-03T10:00:00Z', cents: 7, booked: 5 },
      { nsu: 5, at: '2026-03-04T10:00:00Z', cents: 9, booked: 4 },
    ];
    const { id } = await closeAccount('numbered', numbered);
    expect(await closings(id)).toEqual([
      '2026-03-02 112.50',
      '2026-03-03 112.57',
      '2026-03-04 112.66',
    ]);
    expect(await closedDays.breaks(id)).toEqual([]);
    expect((await closedDays.verify('numbered'))?.difference).toBeNull();
  });

  it('opens with the account’s balance when the first lines are numbered in reverse order', async () => {
    const reversed = marchLines.map((line) => ({
      ...line,
      booked: line.nsu < 3 ? -line.nsu : line.nsu,
    }));
    const { id } = await closeAccount('reversed', reversed);
    expect((await certificates(id))[0]?.opening).toBe('100.00');
    expect((await closedDays.verify('reversed'))?.difference).toBeNull();
  });

  it('states an accepted gap in the certificate of its day and of all later days', async () => {
    const arrivesNow = ({ nsu }: TestLine) => nsu !== 2;
    const account = await closedDays.account('gap');
    await acceptGap(account.id, 3, -250);
    await closedDays.arrive(account.id, marchLines, arrivesNow);
    await closedDays.decide(account.id);
    await closedDays.closedUntil(account.id, '2026-03-05');
    await closedDays.close(account);
    const all = await certificates(account.id);
    const item = { kind: 'accepted_difference', nsu: '3', amount: '-2.50', reason: 'known' };
    expect(all.map(({ reconcilingItems }) => reconcilingItems)).toEqual([
      [],
      [expect.objectContaining(item)],
      [expect.objectContaining(item)],
    ]);
    expect(all.map(({ closing, balance }) => [closing, balance])).toEqual([
      ['110.00', '110.00'],
      ['160.00', '157.50'],
      ['159.60', '157.10'],
    ]);
    expect((await closedDays.verify('gap'))?.difference).toBeNull();
    // The missing line comes after all: the days are amended, and state no difference any more.
    await closedDays.arrive(account.id, marchLines, ({ nsu }) => nsu === 2);
    await closedDays.decide(account.id);
    await closedDays.close(account);
    const amended = (await certificates(account.id)).slice(3);
    expect(amended.map(({ closing, reconcilingItems }) => [closing, reconcilingItems])).toEqual([
      ['107.50', []],
      ['157.50', []],
      ['157.10', []],
    ]);
    expect((await closedDays.verify('gap'))?.difference).toBeNull();
  });

  it('certifies a day with its difference once a person accepts the day’s break', async () => {
    const lines = [...marchLines, { nsu: 5, at: '2026-03-04T11:00:00Z', cents: 1 }];
    const account = await closeAccount('accepted', lines, ({ nsu }) => nsu !== 4);
    expect(await closings(account.id)).toHaveLength(2);
    expect(await closedDays.breaks(account.id)).toEqual([
      'open broken_balance_chain day:2026-03-04',
    ]);
    await accept(account.id, 'day:2026-03-04');
    await closedDays.close(account);
    expect((await certificates(account.id)).at(-1)?.reconcilingItems).toEqual([
      expect.objectContaining({
        ...{ kind: 'accepted_difference', nsu: '5', amount: '-0.40', reason: 'known' },
        breakId: expect.any(String),
      }),
    ]);
    expect((await closedDays.verify('accepted'))?.difference).toBeNull();
  });

  it('reopens the accepted break of a day when its difference changes', async () => {
    const lines: TestLine[] = [
      { nsu: 1, at: '2026-03-02T10:00:00Z', cents: 1_000 },
      { nsu: 2, at: '2026-03-02T11:00:00Z', cents: -40 },
      { nsu: 3, at: '2026-03-02T12:00:00Z', cents: 10 },
      { nsu: 4, at: '2026-03-02T13:00:00Z', cents: 39 },
      { nsu: 5, at: '2026-03-02T14:00:00Z', cents: 7 },
    ];
    const subject = 'day:2026-03-02';
    const statedItems = async () =>
      (await certificates(account.id))
        .at(-1)
        ?.reconcilingItems.map(({ nsu, amount, reason }) => [nsu, amount, reason]);
    const account = await closeAccount('bound', lines, ({ nsu }) => nsu === 1 || nsu === 3);
    await accept(account.id, subject);
    await closedDays.close(account);
    expect(await statedItems()).toEqual([['3', '-0.40', 'known']]);
    // A smaller difference than the accepted one, at another line.
    await closedDays.arrive(account.id, lines, ({ nsu }) => nsu === 5);
    await closedDays.decide(account.id);
    await closedDays.close(account);
    expect(await closedDays.breaks(account.id)).toEqual([
      `open broken_balance_chain ${subject}`,
      `open late_line ${subject}/5`,
    ]);
    expect(await statedItems()).toEqual([['3', '-0.40', 'known']]);
    await closedDays.close(account);
    await accept(account.id, subject, 'both');
    await closedDays.close(account);
    expect(await statedItems()).toEqual([
      ['3', '-0.40', 'both'],
      ['5', '0.39', 'both'],
    ]);
    expect((await closedDays.verify('bound'))?.difference).toBeNull();
  });

  it('reopens the break of a gap when the jump differs from the accepted jump', async () => {
    const { id } = await closedDays.account('jumps');
    await closedDays.arrive(id, marchLines, ({ nsu }) => nsu !== 2);
    await closedDays.run(
      `UPDATE statement_state
       SET broken_since = now(), gap_nsu = 3, gap_after_nsu = 1, gap_balance_cents = 11000
       WHERE account_id = $1`,
      id,
    );
    const { breaks } = reconciliationOn(service.database, recordedQueues());
    const firstGapNsu = async () => (await findGap(service.database.prisma, id, 1n)).gap?.nsu;
    const refreshedBreaks = async () => {
      await service.database.transaction((tx) => breaks.refreshStatementBreaks(tx, id));
      return closedDays.breaks(id);
    };
    expect(await refreshedBreaks()).toEqual(['open broken_balance_chain gap:3']);
    await closedDays.run(
      `UPDATE break SET evidence = '{"jumps": [{"nsu": "3", "cents": "-40"}]}'
       WHERE account_id = $1`,
      id,
    );
    await accept(id, 'gap:3');
    expect(await firstGapNsu()).toBe(3n);
    expect(await refreshedBreaks()).toEqual(['open broken_balance_chain gap:3']);
    await accept(id, 'gap:3');
    expect(await firstGapNsu()).toBeUndefined();
    expect(await refreshedBreaks()).toEqual(['resolved broken_balance_chain gap:3']);
  });

  it('states no acceptance that a person withdrew while the day was read', async () => {
    const account = await closedDays.account('withdrawn');
    await acceptGap(account.id, 3, -250);
    await closedDays.arrive(account.id, marchLines, ({ nsu }) => nsu !== 2);
    await closedDays.decide(account.id);
    await closedDays.closedUntil(account.id, '2026-03-05');
    const certifier = closedDays.newCertifier();
    const prepare = certifier.prepare.bind(certifier);
    certifier.prepare = async (...args) => {
      const prepared = await prepare(...args);
      if (args[1] === '2026-03-03')
        await closedDays.run(
          `UPDATE break SET state = 'open', resolved_at = NULL WHERE account_id = $1`,
          account.id,
        );
      return prepared;
    };
    await closedDays.close(account, undefined, certifier);
    expect(await closings(account.id)).toEqual(['2026-03-02 110.00']);
    expect(await closedDays.breaks(account.id)).toEqual([
      'open broken_balance_chain day:2026-03-03',
      'open broken_balance_chain gap:3',
    ]);
  });

  it('reads a day that differs again only when something changed', async () => {
    const account = await closedDays.account('known');
    await closedDays.arrive(account.id, marchLines, ({ nsu }) => nsu !== 2);
    await closedDays.decide(account.id);
    await closedDays.closedUntil(account.id, '2026-03-05');
    const certifier = closedDays.newCertifier();
    const readDays: string[] = [];
    const prepare = certifier.prepare.bind(certifier);
    certifier.prepare = (...args) => {
      readDays.push(args[1]);
      return prepare(...args);
    };
    const close = async () => {
      readDays.length = 0;
      await closedDays.close(account, undefined, certifier);
      return [...readDays];
    };
    expect(await close()).toEqual(['2026-03-02', '2026-03-03']);
    expect(await close()).toEqual([]);
    await acceptGap(account.id, 3, -40);
    expect(await close()).toEqual(['2026-03-03']);
    expect(await close()).toEqual([]);
    await closedDays.arrive(account.id, marchLines, ({ nsu }) => nsu === 2);
    await closedDays.decide(account.id);
    expect(await close()).toEqual(['2026-03-02', '2026-03-03', '2026-03-04']);
  });

  it('does not apply the acceptance of a gap to another amount at the same line', async () => {
    const arrivesNow = ({ nsu }: TestLine) => nsu !== 2;
    const account = await closedDays.account('other');
    await acceptGap(account.id, 3, -40);
    await closedDays.arrive(account.id, marchLines, arrivesNow);
    await closedDays.decide(account.id);
    await closedDays.closedUntil(account.id, '2026-03-05');
    await closedDays.close(account);
    expect(await closings(account.id)).toHaveLength(1);
    expect(await closedDays.breaks(account.id)).toEqual([
      'open broken_balance_chain day:2026-03-03',
      'resolved broken_balance_chain gap:3',
    ]);
  });

  it('keeps a break open while a day differs, whatever a person has accepted', async () => {
    const account = await closeAccount('never-silent', marchLines, ({ nsu }) => nsu !== 2);
    const subject = 'day:2026-03-03';
    await closedDays.run(
      `UPDATE break SET state = 'resolved', resolved_at = now(), resolution = 'accept',
         evidence = '{"jumps": []}', amount_cents = 1000000
       WHERE account_id = $1 AND subject = $2`,
      account.id,
      subject,
    );
    await closedDays.close(account);
    expect(await closedDays.breaks(account.id)).toEqual([`open broken_balance_chain ${subject}`]);
  });

  it('amends every day whose balance counts late lines, even if the lines sum to zero', async () => {
    const late = [
      { nsu: 5, at: '2026-03-02T12:00:00Z', cents: 70, booked: 2.1 },
      { nsu: 6, at: '2026-03-02T12:30:00Z', cents: -70, booked: 2.2 },
    ];
    const account = await closeAccount('nothing', [...marchLines, ...late], ({ nsu }) => nsu <= 4);
    await closedDays.arrive(account.id, [...marchLines, ...late], ({ nsu }) => nsu > 4);
    await closedDays.decide(account.id);
    const after = { nsu: 7, at: '2026-03-05T10:00:00Z', cents: 3 };
    await closedDays.arrive(account.id, [...marchLines, ...late, after], ({ nsu }) => nsu === 7);
    await closedDays.decide(account.id);
    await closedDays.closedUntil(account.id, '2026-03-06');
    await closedDays.close(account);
    expect((await closings(account.id)).at(-1)).toBe('2026-03-05 157.13');
    expect((await closedDays.verify('nothing'))?.difference).toBeNull();
  });

  it('opens a break for a late line that comes while its day is being amended', async () => {
    const late = [5, 6, 7, 8].map((nsu) => ({
      ...{ nsu, at: '2026-03-02T12:00:00Z', booked: 2 + nsu / 100 },
      cents: nsu % 2 === 0 ? -70 : 70,
    }));
    const all = [...marchLines, ...late];
    const account = await closeAccount('meanwhile', all, ({ nsu }) => nsu <= 4);
    await closedDays.arrive(account.id, all, ({ nsu }) => nsu === 5 || nsu === 6);
    await closedDays.decide(account.id);
    let isFirst = true;
    await closedDays.close(account, async () => {
      if (isFirst) await closedDays.arrive(account.id, all, ({ nsu }) => nsu > 6);
      if (isFirst) await closedDays.decide(account.id);
      isFirst = false;
    });
    expect(await closedDays.breaks(account.id)).toEqual(
      late.map(({ nsu }) => `resolved late_line day:2026-03-02/${nsu}`),
    );
    expect((await closedDays.verify('meanwhile'))?.difference).toBeNull();
  });

  it('counts a line before the first certified day as waiting until an amendment adds it', async () => {
    const lines = [
      { nsu: 1, at: '2026-02-20T10:00:00Z', cents: 5 },
      { nsu: 2, at: '2026-02-21T10:00:00Z', cents: -5 },
      ...marchLines.map((line) => ({ ...line, nsu: line.nsu + 2 })),
    ];
    const account = await closedDays.account('earlier', new Date('2026-02-21T09:00:00Z'));
    await closedDays.arrive(account.id, lines, ({ nsu }) => nsu > 2);
    await closedDays.decide(account.id);
    await closedDays.closedUntil(account.id, '2026-03-05');
    await closedDays.close(account);
    await closedDays.arrive(account.id, lines, ({ nsu }) => nsu <= 2);
    expect(await closedDays.verify('earlier')).toMatchObject({
      difference: null,
      counts: { waiting: 2 },
    });
    await closedDays.decide(account.id);
    await closedDays.close(account);
    // The other line is from before the go-live and gets no break.
    expect(await closedDays.breaks(account.id)).toEqual(['resolved late_line day:2026-02-21/2']);
    const all = await certificates(account.id);
    expect(all.map(({ earlier }) => earlier?.lines)).toEqual([0, undefined, undefined, 2]);
    expect(all.at(-1)).toMatchObject({ date: '2026-03-02', revision: 2, added: ['1', '2'] });
    expect(await closedDays.verify('earlier')).toMatchObject({
      difference: null,
      counts: { waiting: 0, certified: 6 },
    });
  });
});
