// G14B: the CPU time of a process while nothing happens, and that of PostgreSQL for it.
import type { Bench, Contest, Size } from '../harness/bench.js';
import { startIdleProcess } from '../harness/idle-process.js';

async function openContest({ isShort }: Size): Promise<Contest> {
  const idle = await startIdleProcess(isShort);
  const measure = async () => (await idle.measure(isShort ? 2 : 20)).cpu;
  return {
    contestants: {
      process: async () => (await measure()).process,
      'process and PostgreSQL': async () => {
        const cpu = await measure();
        return cpu.process + cpu.PostgreSQL;
      },
    },
    check: () => idle.check(),
    close: () => idle.stop(),
  };
}

export const bench: Bench = {
  id: 'G14B',
  title: 'CPU of a process at rest: all roles, the sandbox bank, two accounts',
  unit: '% of a core',
  goals: [
    { of: 'process', atMost: 2 },
    { of: 'process and PostgreSQL', atMost: 2 },
  ],
  rounds: 3,
  open: openContest,
};
