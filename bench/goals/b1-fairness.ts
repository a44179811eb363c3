// B1: whether one account with most of the traffic delays the others. At half of the capacity, the
// others get a tenth of the payments: in a quiet run alone, in a noisy run beside one account that
// gets the rest.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, Contest, Size } from '../harness/bench.js';
import { ManyAccounts } from '../harness/many-accounts.js';

const noisy = 'noisy';
/** Payments under way while the capacity is measured. */
const atOnce = 64;
const loadOfCapacity = 0.5;
const shareOfOthers = 0.1;
/** Payments of the others in a round. The p99 of the long one is its second longest. */
const roundPayments = { short: 10, long: 200 };

async function openContest({ isShort, lines }: Size): Promise<Contest> {
  // `--lines` is the number of accounts here.
  const accounts = lines ?? (isShort ? 20 : 1_000);
  const [paidAccounts, capacityMs] = isShort ? [5, 1_000] : [50, 15_000];
  const payments = isShort ? roundPayments.short : roundPayments.long;
  const service = await ManyAccounts.open();
  const names = Array.from({ length: accounts }, (_, index) => `account-${index}`);
  await service.addAccounts([noisy, ...names]);
  const others = names.slice(0, paidAccounts);
  for (const name of [noisy, ...others]) await service.subscribe(name);
  await measureCapacity(service, others, capacityMs / 2);
  const capacity = await measureCapacity(service, others, capacityMs);
  console.log(`  capacity: ${capacity.toFixed(1)} payments/s of ${paidAccounts} accounts`);
  const perSecond = capacity * loadOfCapacity;
  const measureRound = async (isNoisy: boolean): Promise<number> => {
    let isOver = false;
    const noise = isNoisy
      ? payAtRate(service, [noisy], perSecond * (1 - shareOfOthers), () => isOver)
      : Promise.resolve([]);
    const latencies = await payAtRate(
      service,
      others,
      perSecond * shareOfOthers,
      (made) => made === payments,
    );
    isOver = true;
    await noise;
    return percentile(latencies, 0.99);
  };
  return {
    contestants: { quiet: () => measureRound(false), noisy: () => measureRound(true) },
    check: () => service.check(),
    close: () => service.close(),
  };
}

/** Payments a second, with always so many under way. */
async function measureCapacity(
  service: ManyAccounts,
  accounts: readonly string[],
  forMs: number,
): Promise<number> {
  const startedAt = performance.now();
  let payments = 0;
  const payInTurn = async (_: unknown, first: number) => {
    for (let turn = first; performance.now() - startedAt < forMs; turn += atOnce) {
      await service.pay(accounts[turn % accounts.length] ?? '');
      payments += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, payInTurn));
  return (payments / (performance.now() - startedAt)) * 1_000;
}

/** The latencies of payments that begin at fixed times, however long each takes. */
async function payAtRate(
  service: ManyAccounts,
  accounts: readonly string[],
  perSecond: number,
  isOver: (payments: number) => boolean,
): Promise<number[]> {
  const startedAt = performance.now();
  const payments: Promise<number>[] = [];
  for (let turn = 0; !isOver(turn); turn += 1) {
    payments.push(service.pay(accounts[turn % accounts.length] ?? ''));
    const dueMs = startedAt + ((turn + 1) * 1_000) / perSecond - performance.now();
    if (dueMs > 0) await sleep(dueMs);
  }
  return Promise.all(payments);
}

function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN;
}

export const bench: Bench = {
  id: 'B1',
  title: 'From a payment to its event, p99 of the other accounts beside a noisy one',
  unit: 'ms',
  goals: [{ of: 'noisy', against: 'quiet', atMost: 1.5 }],
  // A round takes as long as its payments. Five of each would take ten minutes.
  rounds: 3,
  open: openContest,
};
