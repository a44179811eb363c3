import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readCertificate } from '../../src/day-closes/certificate.js';
import { findGap } from '../../src/statement/balance-chain.queries.js';
import { ClosedDays, type BookLine } from '../support/closed-days.js';
import { reconciliationOn } from '../support/reconciliation.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

const book: BookLine[] = [
  { nsu: 1, at: '2026-03-02T10:00:00Z', cents: 1_000 },
  { nsu: 2, at: '2026-03-02T11:00:00Z', cents: -250 },
  { nsu: 3, at: '2026-03-03T10:00:00Z', cents: 5_000 },
  { nsu: 4, at: '2026-03-04T10:00:00Z', cents: -40 },
];

describe('a day whose lines do not follow each other', () => {
  let service: ServiceDatabase;
  const made = new ClosedDays(() => service);

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());

  const begin = async (slug: string, lines: BookLine[], isHere?: (line: BookLine) => boolean) => {
    const account = await made.account(slug);
    await made.arrive(account.id, lines, isHere);
    await made.decide(account.id);
    await made.closedUntil(account.id, '2026-03-05');
    await made.close(account);
    return account;
  };
  const certificates = async (accountId: number) =>
    (await made.chain(accountId)).map(({ certificate }) => readCertificate(certificate));
  const accept = (accountId: number, subject: string, reason = 'known') =>
    made.run(
      `UPDATE break SET state = 'resolved', resolved_at = now(), resolution = 'accept', resolution_reason = $3
       WHERE account_id = $1 AND subject = $2`,
      accountId,
      subject,
      reason,
    );
  /** As a person has, of what its evidence tells. */
  const acceptGap = (accountId: number, nsu: number, cents: number) =>
    made.run(
      `INSERT INTO break (account_id, id, kind, state, subject, nsu, evidence, resolution, resolution_reason, resolved_at)
       VALUES ($1, gen_random_uuid(), 'broken_balance_chain', 'resolved', 'gap:' || $2::bigint, $2, $3, 'accept', 'known', now())`,
      accountId,
      nsu,
      { jumps: [{ nsu: `${nsu}`, cents: `${cents}` }] },
    );
  const closings = async (accountId: number) =>
    (await certificates(accountId)).map(({ date, closing }) => `${date} ${closing}`);

  it('is certified where the bank numbers lines in another order than it books them', async () => {
    const numbered: BookLine[] = [
      { nsu: 1, at: '2026-03-02T10:00:00Z', cents: 1_000 },
      { nsu: 2, at: '2026-03-02T10:00:02Z', cents: 50, booked: 3 },
      { nsu: 3, at: '2026-03-02T10:00:01Z', cents: 200, booked: 2 },
      // Here the end of a day goes through lines that are numbered the other way round.
      { nsu: 4, at: '2026-03-03T10:00:00Z', cents: 7, booked: 5 },
      { nsu: 5, at: '2026-03-04T10:00:00Z', cents: 9, booked: 4 },
    ];
    const { id } = await begin('numbered', numbered);
    expect(await closings(id)).toEqual([
      '2026-03-02 112.50',
      '2026-03-03 112.57',
      '2026-03-04 112.66',
    ]);
    expect(await made.breaks(id)).toEqual([]);
    expect((await made.verify('numbered'))?.difference).toBeNull();
  });

  it('begins with what the account held, though the first lines are numbered the other way round', async () => {
    const turned = book.map((line) => ({ ...line, booked: line.nsu < 3 ? -line.nsu : line.nsu }));
    const { id } = await begin('turned', turned);
    expect((await certificates(id))[0]?.opening).toBe('100.00');
    expect((await made.verify('turned'))?.difference).toBeNull();
  });

  it('states what a person has accepted of a gap, on that day and on all after it', async () => {
    const isHere = ({ nsu }: BookLine) => nsu !== 2;
    const account = await made.account('gap');
    await acceptGap(account.id, 3, -250);
    await made.arrive(account.id, book, isHere);
    await made.decide(account.id);
    await made.closedUntil(account.id, '2026-03-05');
    await made.close(account);
    const all = await certificates(account.id);
    const stated = { kind: 'accepted_difference', nsu: '3', amount: '-2.50', reason: 'known' };
    expect(all.map(({ reconcilingItems }) => reconcilingItems)).toEqual([
      [],
      [expect.objectContaining(stated)],
      [expect.objectContaining(stated)],
    ]);
    expect(all.map(({ closing, balance }) => [closing, balance])).toEqual([
      ['110.00', '110.00'],
      ['160.00', '157.50'],
      ['159.60', '157.10'],
    ]);
    expect((await made.verify('gap'))?.difference).toBeNull();
    // What was missing comes after all: the days after it are amended, and state nothing any more.
    await made.arrive(account.id, book, ({ nsu }) => nsu === 2);
    await made.decide(account.id);
    await made.close(account);
    const standing = (await certificates(account.id)).slice(3);
    expect(standing.map(({ closing, reconcilingItems }) => [closing, reconcilingItems])).toEqual([
      ['107.50', []],
      ['157.50', []],
      ['157.10', []],
    ]);
    expect((await made.verify('gap'))?.difference).toBeNull();
  });

  it('is certified with its difference when a person accepts its break', async () => {
    const lines = [...book, { nsu: 5, at: '2026-03-04T11:00:00Z', cents: 1 }];
    const account = await begin('accepted', lines, ({ nsu }) => nsu !== 4);
    expect(await closings(account.id)).toHaveLength(2);
    expect(await made.breaks(account.id)).toEqual(['open broken_balance_chain day:2026-03-04']);
    await accept(account.id, 'day:2026-03-04');
    await made.close(account);
    expect((await certificates(account.id)).at(-1)?.reconcilingItems).toEqual([
      expect.objectContaining({
        ...{ kind: 'accepted_difference', nsu: '5', amount: '-0.40', reason: 'known' },
        breakId: expect.any(String),
      }),
    ]);
    expect((await made.verify('accepted'))?.difference).toBeNull();
  });

  it('has accepted what its break told, and opens it again for any other difference of that day', async () => {
    const gapped: BookLine[] = [
      { nsu: 1, at: '2026-03-02T10:00:00Z', cents: 1_000 },
      { nsu: 2, at: '2026-03-02T11:00:00Z', cents: -40 },
      { nsu: 3, at: '2026-03-02T12:00:00Z', cents: 10 },
      { nsu: 4, at: '2026-03-02T13:00:00Z', cents: 39 },
      { nsu: 5, at: '2026-03-02T14:00:00Z', cents: 7 },
    ];
    const subject = 'day:2026-03-02';
    const stated = async () =>
      (await certificates(account.id))
        .at(-1)
        ?.reconcilingItems.map(({ nsu, amount, reason }) => [nsu, amount, reason]);
    const account = await begin('bound', gapped, ({ nsu }) => nsu === 1 || nsu === 3);
    await accept(account.id, subject);
    await made.close(account);
    expect(await stated()).toEqual([['3', '-0.40', 'known']]);
    // Less than what was accepted, and elsewhere.
    await made.arrive(account.id, gapped, ({ nsu }) => nsu === 5);
    await made.decide(account.id);
    await made.close(account);
    expect(await made.breaks(account.id)).toEqual([
      `open broken_balance_chain ${subject}`,
      `open late_line ${subject}/5`,
    ]);
    expect(await stated()).toEqual([['3', '-0.40', 'known']]);
    await made.close(account);
    await accept(account.id, subject, 'both');
    await made.close(account);
    expect(await stated()).toEqual([
      ['3', '-0.40', 'both'],
      ['5', '0.39', 'both'],
    ]);
    expect((await made.verify('bound'))?.difference).toBeNull();
  });

  it('has the break of a gap opened again when the gap jumps otherwise than was accepted', async () => {
    const { id } = await made.account('jumps');
    await made.arrive(id, book, ({ nsu }) => nsu !== 2);
    await made.run(
      `UPDATE statement_state SET broken_since = now(), gap_nsu = 3, gap_after_nsu = 1, gap_balance_cents = 11000
       WHERE account_id = $1`,
      id,
    );
    const { standing } = reconciliationOn(service.database, { enqueue: () => Promise.resolve() } as never);
    const found = async () => (await findGap(service.database.prisma, id, 1n)).gap?.nsu;
    const told = async () => {
      await standing.refresh(id);
      return made.breaks(id);
    };
    expect(await told()).toEqual(['open broken_balance_chain gap:3']);
    await made.run(
      `UPDATE break SET evidence = '{"jumps": [{"nsu": "3", "cents": "-40"}]}' WHERE account_id = $1`,
      id,
    );
    await accept(id, 'gap:3');
    expect(await found()).toBe(3n);
    expect(await told()).toEqual(['open broken_balance_chain gap:3']);
    await accept(id, 'gap:3');
    expect(await found()).toBeUndefined();
    expect(await told()).toEqual(['resolved broken_balance_chain gap:3']);
  });

  it('takes no acceptance of a gap for one of another amount there', async () => {
    const isHere = ({ nsu }: BookLine) => nsu !== 2;
    const account = await made.account('other');
    await acceptGap(account.id, 3, -40);
    await made.arrive(account.id, book, isHere);
    await made.decide(account.id);
    await made.closedUntil(account.id, '2026-03-05');
    await made.close(account);
    expect(await closings(account.id)).toHaveLength(1);
    expect(await made.breaks(account.id)).toEqual([
      'open broken_balance_chain day:2026-03-03',
      'resolved broken_balance_chain gap:3',
    ]);
  });

  it('is in an open break as long as it differs, whatever a person has accepted of it', async () => {
    const account = await begin('never-silent', book, ({ nsu }) => nsu !== 2);
    const subject = 'day:2026-03-03';
    await made.run(
      `UPDATE break SET state = 'resolved', resolved_at = now(), resolution = 'accept', evidence = '{"jumps": []}',
         amount_cents = 1000000
       WHERE account_id = $1 AND subject = $2`,
      account.id,
      subject,
    );
    await made.close(account);
    expect(await made.breaks(account.id)).toEqual([`open broken_balance_chain ${subject}`]);
  });

  it('amends the balance of every day that counts late lines which come to nothing', async () => {
    const late = [
      { nsu: 5, at: '2026-03-02T12:00:00Z', cents: 70, booked: 2.1 },
      { nsu: 6, at: '2026-03-02T12:30:00Z', cents: -70, booked: 2.2 },
    ];
    const account = await begin('nothing', [...book, ...late], ({ nsu }) => nsu <= 4);
    await made.arrive(account.id, [...book, ...late], ({ nsu }) => nsu > 4);
    await made.decide(account.id);
    const after = { nsu: 7, at: '2026-03-05T10:00:00Z', cents: 3 };
    await made.arrive(account.id, [...book, ...late, after], ({ nsu }) => nsu === 7);
    await made.decide(account.id);
    await made.closedUntil(account.id, '2026-03-06');
    await made.close(account);
    expect((await closings(account.id)).at(-1)).toBe('2026-03-05 157.13');
    expect((await made.verify('nothing'))?.difference).toBeNull();
  });

  it('tells of a late line that comes while its day is being amended', async () => {
    const late = [5, 6, 7, 8].map((nsu) => ({
      ...{ nsu, at: '2026-03-02T12:00:00Z', booked: 2 + nsu / 100 },
      cents: nsu % 2 === 0 ? -70 : 70,
    }));
    const all = [...book, ...late];
    const account = await begin('meanwhile', all, ({ nsu }) => nsu <= 4);
    await made.arrive(account.id, all, ({ nsu }) => nsu === 5 || nsu === 6);
    await made.decide(account.id);
    let isFirst = true;
    await made.close(account, async () => {
      if (isFirst) await made.arrive(account.id, all, ({ nsu }) => nsu > 6);
      if (isFirst) await made.decide(account.id);
      isFirst = false;
    });
    expect(await made.breaks(account.id)).toEqual(
      late.map(({ nsu }) => `resolved late_line day:2026-03-02/${nsu}`),
    );
    expect((await made.verify('meanwhile'))?.difference).toBeNull();
  });

  it('has a line before the first certified day amended in, and waits for it until then', async () => {
    const lines = [
      { nsu: 1, at: '2026-02-20T10:00:00Z', cents: 5 },
      { nsu: 2, at: '2026-02-21T10:00:00Z', cents: -5 },
      ...book.map((line) => ({ ...line, nsu: line.nsu + 2 })),
    ];
    const account = await made.account('earlier', new Date('2026-02-21T09:00:00Z'));
    await made.arrive(account.id, lines, ({ nsu }) => nsu > 2);
    await made.decide(account.id);
    await made.closedUntil(account.id, '2026-03-05');
    await made.close(account);
    await made.arrive(account.id, lines, ({ nsu }) => nsu <= 2);
    expect(await made.verify('earlier')).toMatchObject({
      difference: null,
      counts: { waiting: 2 },
    });
    await made.decide(account.id);
    await made.close(account);
    // The other is of before the go-live.
    expect(await made.breaks(account.id)).toEqual(['resolved late_line day:2026-02-21/2']);
    const all = await certificates(account.id);
    expect(all.map(({ earlier }) => earlier?.lines)).toEqual([0, undefined, undefined, 2]);
    expect(all.at(-1)).toMatchObject({ date: '2026-03-02', revision: 2, added: ['1', '2'] });
    expect(await made.verify('earlier')).toMatchObject({
      difference: null,
      counts: { waiting: 0, sealed: 6 },
    });
  });
});
