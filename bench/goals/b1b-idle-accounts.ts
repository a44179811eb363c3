// B1B: what an account costs while nothing happens, among a thousand of them, at the sync interval
// of a real bank. The cost of the process itself, which has these accounts, is shared out.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, Contest, Size } from '../harness/bench.js';
import { ManyAccounts, type SpentCosts } from '../harness/many-accounts.js';
import { measuredTogether } from '../harness/rounds.js';

const figures = {
  statements: ({ statements }: SpentCosts) => statements,
  "BullMQ's statements": ({ queueStatements }: SpentCosts) => queueStatements,
  'bank calls': ({ bankCalls }: SpentCosts) => bankCalls,
  'ms of CPU': ({ processCpuMs, serverCpuMs }: SpentCosts) => processCpuMs + serverCpuMs,
};
const figureNames = Object.keys(figures) as (keyof typeof figures)[];
const minuteMs = 60_000;

async function openContest({ isShort, lines }: Size): Promise<Contest> {
  // `--lines` is the number of accounts here.
  const count = lines ?? (isShort ? 20 : 1_000);
  // The first syncs of all accounts are at the start, and then spread over the interval.
  const [settlingMs, roundMs] = isShort ? [500, 1_000] : [90_000, 30_000];
  const service = await ManyAccounts.open({ isCounted: true });
  await service.addAccounts(Array.from({ length: count }, (_, index) => `account-${index}`));
  await sleep(settlingMs);
  const measureRound = async () => {
    const before = await service.spentCosts();
    const startedAt = performance.now();
    await sleep(roundMs);
    const after = await service.spentCosts();
    const minutes = (performance.now() - startedAt) / minuteMs;
    return Object.fromEntries(
      Object.entries(figures).map(([name, read]) => [
        name,
        (read(after) - read(before)) / minutes / count,
      ]),
    ) as Record<keyof typeof figures, number>;
  };
  return {
    contestants: measuredTogether(figureNames, measureRound),
    check: () => service.check(),
    close: () => service.close(),
  };
}

export const bench: Bench = {
  id: 'B1B',
  title: 'Cost of an idle account, of a thousand, synced once a minute',
  unit: 'an account and minute',
  // At ten milliseconds, a thousand accounts take a sixth of a core.
  goals: [
    { of: 'ms of CPU', atMost: 10 },
    { of: 'bank calls', atMost: 2 },
  ],
  rounds: 3,
  open: openContest,
};
