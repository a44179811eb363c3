// G14B: the CPU time of a process while nothing happens, and that of PostgreSQL for it.
import type { Bench, Contest, Size } from '../harness/bench.js';
import { startIdleProcess } from '../harness/idle-process.js';
import { measuredTogether } from '../harness/rounds.js';

async function openContest({ isShort }: Size): Promise<Contest> {
  const idle = await startIdleProcess(isShort);
  const measure = async () => {
    const { cpu } = await idle.measure(isShort ? 2 : 20);
    return { process: cpu.process, 'process and PostgreSQL': cpu.process + cpu.PostgreSQL };
  };
  return {
    contestants: measuredTogether(['process', 'process and PostgreSQL'], measure),
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
