// Starts the process of a bank. It ends when it is stopped, or when this process ends in any way.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { BankAnswer, OpenedAccount } from './words.js';

export interface StartedBank {
  url: string;
  accounts: readonly OpenedAccount[];
  partnerKey: string;
  stop(): Promise<void>;
}

const program = new URL('./bank/server.mjs', import.meta.url);
const shownErrorCharacters = 4_000;

export async function bankProcess(settings: object): Promise<StartedBank> {
  const child = fork(fileURLToPath(program), [], {
    // Not those of a test runner.
    execArgv: ['--max-semi-space-size=2', '--no-warnings'],
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-shownErrorCharacters);
  });
  const ended = once(child, 'exit');
  child.send(settings);
  const answer = await Promise.race([
    once(child, 'message').then(([message]) => message as BankAnswer),
    ended.then(() => ({ error: 'its process ended' })),
  ]);
  if ('error' in answer) throw new Error(`The bank did not start: ${answer.error}\n${errors}`);
  // A bank that nobody stops does not keep this process alive.
  setAlive(child, false);
  let stopping: Promise<unknown> | undefined;
  return {
    ...answer,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      setAlive(child, true);
      if (child.connected) child.disconnect();
      await (stopping ??= ended);
    },
  };
}

function setAlive(child: ChildProcess, isAlive: boolean): void {
  const change = isAlive ? 'ref' : 'unref';
  child[change]();
  if (child.connected) child.channel?.[change]();
  (child.stderr as { ref?(): void; unref?(): void } | null)?.[change]?.();
}
