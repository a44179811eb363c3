// G8: how much memory the service keeps resident with a large book, beside a tenth of it: while it
// reads and explains the history, and while it settles payments and answers reads afterwards.
import { readFileSync } from 'node:fs';
import type { Bench, Contest, Size } from '../harness/bench.js';
import { BenchBank, BenchService } from '../harness/deployment.js';
import { measuredTogether } from '../harness/rounds.js';

const books = ['large', 'small'] as const;
type Book = (typeof books)[number];
const moments = ['peak of the import', 'after it'] as const;
type Moment = (typeof moments)[number];

const nameOf = (book: Book, moment: Moment) => `${book} book, ${moment}`;
const usedPaths = [
  ...['/v1/summary', '/v1/transactions?state=in_break&limit=500', '/v1/breaks?limit=500'],
  ...['/v1/charges', '/v1/webhook-health', '/v1/day-closes'],
];

async function openContest({ isShort, lines }: Size): Promise<Contest> {
  const most = lines ?? (isShort ? 2_000 : 100_000);
  const counts: Record<Book, number> = { large: most, small: most / 10 };
  const banks = { large: await BenchBank.open(), small: await BenchBank.open() };
  const contestantsOf = (book: Book) =>
    measuredTogether(
      moments.map((moment) => nameOf(book, moment)),
      async () => {
        const memory = await useBook(banks[book], counts[book], isShort ? 1 : 100);
        return Object.fromEntries(moments.map((moment) => [nameOf(book, moment), memory[moment]]));
      },
    );
  const close = async () => {
    for (const bank of Object.values(banks)) await bank.close();
  };
  try {
    for (const book of books) await banks[book].generate(counts[book]);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    contestants: { ...contestantsOf('large'), ...contestantsOf('small') },
    // Each round checks its own database.
    check: () => Promise.resolve(),
    close,
  };
}

async function useBook(
  bank: BenchBank,
  count: number,
  times: number,
): Promise<Record<Moment, number>> {
  const service = await BenchService.open(bank);
  try {
    await service.subscribe('charge.paid');
    await service.explained(count);
    const peak = readMemory(service.process.pid, 'VmHWM');
    for (let time = 0; time < times; time += 1) {
      await service.settleCharge();
      for (const path of usedPaths) {
        const { status } = await service.process.callService('GET', path);
        if (status !== 200) throw new Error(`${path} got ${status}`);
      }
    }
    await service.check();
    return {
      'peak of the import': peak,
      'after it': readMemory(service.process.pid, 'VmRSS'),
    };
  } finally {
    await service.close();
  }
}

/** In megabytes, as Linux counts the pages of the process that are in memory. */
function readMemory(pid: number, field: 'VmHWM' | 'VmRSS'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kibibytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
  if (kibibytes === undefined) throw new Error(`the process ${pid} shows no ${field}`);
  return Number(kibibytes) / 1024;
}

export const bench: Bench = {
  id: 'G8',
  title: 'Resident memory of the service beside the length of its book',
  unit: 'MB',
  goals: moments.map((moment) => ({
    ...{ of: nameOf('large', moment), against: nameOf('small', moment), atMost: 1.1 },
  })),
  rounds: 3,
  open: openContest,
};
