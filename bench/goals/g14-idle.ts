// G14: how many statements a second a process sends while nothing happens, by whom they are: the
// service's own, the sandbox bank's in its own database, and BullMQ's.
import type { Bench, Contest, Size } from '../harness/bench.js';
import { startIdleProcess } from '../harness/idle-process.js';
import { measuredTogether } from '../harness/rounds.js';

async function openContest({ isShort }: Size): Promise<Contest> {
  const idle = await startIdleProcess(isShort);
  const measure = async () => {
    const { service, sandbox, BullMQ } = (await idle.measure(isShort ? 2 : 10)).statements;
    return { service, 'sandbox bank': sandbox, BullMQ };
  };
  return {
    contestants: measuredTogether(['service', 'sandbox bank', 'BullMQ'], measure),
    check: () => idle.check(),
    close: () => idle.stop(),
  };
}

export const bench: Bench = {
  id: 'G14',
  title: 'statements of a process at rest: all roles, the sandbox bank, two accounts',
  unit: 'statements/s',
  goals: [{ of: 'service', atMost: 5 }],
  open: openContest,
};
