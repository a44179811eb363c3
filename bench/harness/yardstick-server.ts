// A yardstick that is a server of its own: a process that reports its port, and that ends when the
// bench disconnects from it.
import { fork } from 'node:child_process';
import { once } from 'node:events';

export interface YardstickServer {
  port: number;
  stop(): Promise<void>;
}

type Environment = Record<string, string>;

/** Starts `program`, a file of bench/yardsticks, and waits until it listens. */
export async function startYardstick<Settings extends Environment>(
  program: string,
  settings: Settings,
): Promise<YardstickServer> {
  const child = fork(new URL(`../yardsticks/${program}`, import.meta.url));
  child.send(settings);
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (listening: number) => resolve(listening));
    child.once('exit', (code) => reject(new Error(`${program} ended with code ${code}`)));
  });
  return {
    port,
    stop: async () => {
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

/** For the program itself: `serve` gets the settings and returns the port where it listens. */
export async function serveYardstick<Settings extends Environment>(
  serve: (settings: Settings) => Promise<number>,
): Promise<void> {
  process.once('disconnect', () => process.exit(0));
  const [settings] = (await once(process, 'message')) as [Settings];
  process.send?.(await serve(settings));
}
