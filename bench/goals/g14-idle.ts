// G14: what a process costs while nothing happens: its statements a second, by whom they are (the
// service's own, the sandbox bank's in its own database, BullMQ's), and its CPU time.
import type { Bench, Contest, Size } from '../harness/bench.js';
import { startIdleProcess } from '../harness/idle-process.js';
import { measuredTogether } from '../harness/rounds.js';

const figures = {
  service: 'statements of the service',
  sandbox: 'statements of the sandbox bank',
  BullMQ: 'statements of BullMQ',
  cpu: '% of a core',
} as const;

async function openContest({ isShort }: Size): Promise<Contest> {
  const idle = await startIdleProcess(isShort);
  const measure = async () => {
    const { statements, cpu } = await idle.measure(isShort ? 2 : 20);
    return {
      [figures.service]: statements.service,
      [figures.sandbox]: statements.sandbox,
      [figures.BullMQ]: statements.BullMQ,
      [figures.cpu]: cpu.process + cpu.PostgreSQL,
    };
  };
  return {
    contestants: measuredTogether(Object.values(figures), measure),
    check: () => idle.check(),
    close: () => idle.stop(),
  };
}

export const bench: Bench = {
  id: 'G14',
  title: 'A second of a process at rest: all roles, the sandbox bank, two accounts',
  unit: 'statements, %',
  goals: [
    { of: figures.service, atMost: 15 },
    { of: figures.cpu, atMost: 2 },
  ],
  open: openContest,
};
