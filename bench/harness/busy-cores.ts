// How busy the machine is while something is measured.
import { existsSync, readFileSync } from 'node:fs';

/** The name of what `measureBusy` measures beside a contestant. */
export const busyBeside = (contestant: string): string => `% of all cores busy, ${contestant}`;

/**
 * The returned function measures the share of all cores that was busy since the call, in percent,
 * whoever used them. A core that waits for a disk is not busy. 0 on a system that does not show it.
 */
export function measureBusy(): () => number {
  if (!existsSync('/proc/stat')) return () => 0;
  const read = () => {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
    const [user = 0, nice = 0, system = 0, ...others] = line.split(/ +/).slice(1).map(Number);
    const [idle = 0, waiting = 0, interrupts = 0, softInterrupts = 0, stolen = 0] = others;
    const busy = user + nice + system + interrupts + softInterrupts;
    return { busy, all: busy + idle + waiting + stolen };
  };
  const before = read();
  return () => {
    const { busy, all } = read();
    return (100 * (busy - before.busy)) / (all - before.all);
  };
}
