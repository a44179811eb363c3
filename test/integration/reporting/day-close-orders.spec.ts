import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readCertificate } from '../../../src/reporting/day-closes/certificate.js';
import { ClosedDays, type TestLine } from '../../support/closed-days.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

/**
 * Three days whose nsu order, time order and booking order differ. Lines with opposite amounts may
 * both be missing without a trace in the balances.
 */
const marchLines: TestLine[] = [
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

describe('day closes when lines arrive in any order', () => {
  let service: ServiceDatabase;
  const closedDays = new ClosedDays(() => service);

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());

  /**
   * The current certificate of each day, without what depends on the order of arrival: its position
   * in the chain, salts and the list of lines added later.
   */
  const currentCertificates = async (accountId: number) => {
    const days = new Map<string, object>();
    for (const { certificate } of await closedDays.chain(accountId)) {
      const { opening, credits, debits, closing, lines, ...rest } = readCertificate(certificate);
      const { date, balanceNsu, balance, reconcilingItems, earlier } = rest;
      const figures = { opening, credits, debits, closing, lines };
      days.set(date, { figures, balanceNsu, balance, reconcilingItems, earlier: earlier?.lines });
    }
    return [...days].sort();
  };
  /** Closes the days one by one. `arrivals[nsu - 1]` is the close before which the line arrives. */
  const closeWith = async (slug: string, arrivals: readonly number[]) => {
    const account = await closedDays.account(slug);
    for (const [index, until] of closedAfter.entries()) {
      await closedDays.arrive(account.id, marchLines, ({ nsu }) => arrivals[nsu - 1] === index);
      await closedDays.decide(account.id);
      await closedDays.closedUntil(account.id, until);
      await closedDays.close(account);
    }
    return account;
  };

  it('end with the same certificates as if every line had come in time', async () => {
    const inTime = await currentCertificates(
      (
        await closeWith(
          'in-time',
          marchLines.map(() => 0),
        )
      ).id,
    );
    expect(inTime).toHaveLength(3);
    let runs = 0;
    // The first line is present from the start, because the first day never changes once certified.
    const others = marchLines.slice(1).map(() => fc.nat({ max: 2 }));
    const arrivals = fc.tuple(fc.constant(0), ...others);
    const closesTheSame = fc.asyncProperty(arrivals, async (arrivalOfLine) => {
      const slug = `order-${(runs += 1)}`;
      const { id } = await closeWith(slug, arrivalOfLine);
      expect(await currentCertificates(id)).toEqual(inTime);
      const open = (await closedDays.breaks(id)).filter((each) =>
        each.startsWith('open broken_balance_chain'),
      );
      expect(open).toEqual([]);
      expect((await closedDays.verify(slug))?.difference).toBeNull();
    });
    await fc.assert(closesTheSame, {
      ...{ seed: 7, numRuns: 6, endOnFailure: true },
      // A line of the second day is numbered below the cut of the first day, and arrives after
      // that day is certified.
      examples: [[[0, 1, 0, 0, 2, 0, 2, 1, 2]]],
    });
  });

  it('can be verified while a line below a certified cut waits, whatever day it belongs to', async () => {
    const account = await closedDays.account('waiting');
    const upToFirst = marchLines.filter(({ nsu }) => nsu < 5 || nsu === 6);
    const first = upToFirst.filter(({ nsu }) => nsu !== 2);
    await closedDays.arrive(account.id, first);
    await closedDays.decide(account.id);
    await closedDays.closedUntil(account.id, '2026-03-03');
    await closedDays.close(account);
    await closedDays.arrive(account.id, upToFirst, ({ nsu }) => nsu === 2);
    expect((await closedDays.verify('waiting'))?.difference).toBeNull();
    await closedDays.decide(account.id);
    await closedDays.close(account);
    expect(await closedDays.chain(account.id)).toHaveLength(2);
    expect(await closedDays.breaks(account.id)).toEqual([]);
    expect((await closedDays.verify('waiting'))?.difference).toBeNull();
  });
});
