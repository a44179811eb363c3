import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readCertificate } from '../../src/day-closes/certificate.js';
import { ClosedDays, type BookLine } from '../support/closed-days.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

/** Three days whose numbers, times and order of booking cross; every pair of one sum may be missing and no balance tells. */
const book: BookLine[] = [
  { nsu: 1, at: '2026-03-02T10:00:00Z', cents: 1_000 },
  { nsu: 2, at: '2026-03-03T03:00:30Z', cents: 70, booked: 5 },
  { nsu: 3, at: '2026-03-02T11:00:00Z', cents: -250, booked: 2 },
  { nsu: 4, at: '2026-03-02T23:59:00Z', cents: 250, booked: 3 },
  { nsu: 5, at: '2026-03-04T03:00:01Z', cents: -70, booked: 6 },
  { nsu: 6, at: '2026-03-02T23:59:30Z', cents: 30, booked: 4 },
  { nsu: 7, at: '2026-03-04T12:00:00Z', cents: 5 },
  { nsu: 8, at: '2026-03-03T12:00:00Z', cents: -5 },
  { nsu: 9, at: '2026-03-04T13:00:00Z', cents: 9 },
];
const closedAfter = ['2026-03-03', '2026-03-04', '2026-03-05'];

describe('days whose lines arrive in any order', () => {
  let service: ServiceDatabase;
  const made = new ClosedDays(() => service);

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());

  /** What stands of each day, but for its place in the chain, its salts and what lines of it came later. */
  const standing = async (accountId: number) => {
    const days = new Map<string, object>();
    for (const { certificate } of await made.chain(accountId)) {
      const { opening, credits, debits, closing, lines, ...said } = readCertificate(certificate);
      const { date, balanceNsu, balance, reconcilingItems, earlier } = said;
      const figures = { opening, credits, debits, closing, lines };
      days.set(date, { figures, balanceNsu, balance, reconcilingItems, earlier: earlier?.lines });
    }
    return [...days].sort();
  };
  /** `cuts` says of each line of the book with which cut it arrives. */
  const closedWith = async (slug: string, cuts: readonly number[]) => {
    const account = await made.account(slug);
    for (const [cut, until] of closedAfter.entries()) {
      await made.arrive(account.id, book, ({ nsu }) => cuts[nsu - 1] === cut);
      await made.decide(account.id);
      await made.closedUntil(account.id, until);
      await made.close(account);
    }
    return account;
  };

  it('end in the certificates that they would have had in time', async () => {
    const inTime = await standing(
      (
        await closedWith(
          'in-time',
          book.map(() => 0),
        )
      ).id,
    );
    expect(inTime).toHaveLength(3);
    let runs = 0;
    // The first line is there from the beginning: which day is the first stays what it was when that was closed.
    const later = book.slice(1).map(() => fc.nat({ max: 2 }));
    const cuts = fc.tuple(fc.constant(0), ...later);
    const closesTheSame = fc.asyncProperty(cuts, async (cutOfLine) => {
      const slug = `order-${(runs += 1)}`;
      const { id } = await closedWith(slug, cutOfLine);
      expect(await standing(id)).toEqual(inTime);
      const open = (await made.breaks(id)).filter((each) => each.startsWith('open broken_balance_chain'));
      expect(open).toEqual([]);
      expect((await made.verify(slug))?.difference).toBeNull();
    });
    await fc.assert(closesTheSame, {
      ...{ seed: 7, numRuns: 6, endOnFailure: true },
      // A line of the second day is numbered below the end of the first, and comes when that has its certificate.
      examples: [[[0, 1, 0, 0, 2, 0, 2, 1, 2]]],
    });
  });

  it('are proved also while a line below a certified cut waits, whichever day it is of', async () => {
    const account = await made.account('waiting');
    const upToFirst = book.filter(({ nsu }) => nsu < 5 || nsu === 6);
    const first = upToFirst.filter(({ nsu }) => nsu !== 2);
    await made.arrive(account.id, first);
    await made.decide(account.id);
    await made.closedUntil(account.id, '2026-03-03');
    await made.close(account);
    await made.arrive(account.id, upToFirst, ({ nsu }) => nsu === 2);
    expect((await made.verify('waiting'))?.difference).toBeNull();
    await made.decide(account.id);
    await made.close(account);
    expect(await made.chain(account.id)).toHaveLength(2);
    expect(await made.breaks(account.id)).toEqual([]);
    expect((await made.verify('waiting'))?.difference).toBeNull();
  });
});
