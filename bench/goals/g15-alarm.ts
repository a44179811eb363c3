// From a debit's first visibility at the bank to the delivery of its alarm, in a guarded account.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from '../harness/bench.js';
import { BenchBank, BenchService } from '../harness/deployment.js';

const intervalSeconds = 3;
const debitsPerRound = 40;

export const bench: Bench = {
  id: 'G15',
  title: 'From a debit at the bank to its alarm, p99 at an interval of 3 s',
  unit: 'ms',
  goals: [{ of: 'alarm', atMost: 5_000 }],
  rounds: 1,
  async open({ isShort }) {
    const bank = await BenchBank.open();
    const service = await BenchService.open(bank, bank.url, { SYNC_INTERVAL_MS: '3600000' });
    await service.guard(intervalSeconds);
    const count = isShort ? 2 : debitsPerRound;
    return {
      contestants: {
        alarm: async () => {
          const times: number[] = [];
          for (let debit = 0; debit < count; debit += 1) {
            // Debits come at any moment of an interval.
            await sleep((debit * 617) % (intervalSeconds * 1_000));
            times.push(await service.alarm(debit));
          }
          times.sort((a, b) => a - b);
          process.stdout.write(`median ${times[count >> 1]}, ${times.join(' ')}\n`);
          return times[Math.min(count - 1, Math.ceil(count * 0.99) - 1)] ?? NaN;
        },
      },
      check: async () => Promise.resolve(),
      close: async () => {
        await service.close();
        await bank.close();
      },
    };
  },
};
