// The bank of many accounts, as a process of its own: `bench/yardsticks/account-bank.ts`.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Of the webhooks of every account, which are not registered: that would be ten calls each. */
export const webhookSecret = 'the-secret-of-the-bank';

export interface Paid {
  account: string;
  nsu: number;
  paidAt: number;
}

export class AccountBank {
  private constructor(private readonly child: ChildProcess) {}

  static async start(port: number, serviceUrl: string): Promise<AccountBank> {
    const child = fork(new URL('../yardsticks/account-bank.ts', import.meta.url));
    child.send({ port: String(port), serviceUrl, secret: webhookSecret });
    await once(child, 'message');
    return new AccountBank(child);
  }

  onPaid(receive: (paid: Paid) => void): void {
    this.child.on('message', (message: Paid | { calls: number }) => {
      if ('paidAt' in message) receive(message);
    });
  }

  pay(account: string): void {
    this.child.send({ account });
  }

  /** Adds lines without webhooks. */
  addLines(account: string, lines: number): void {
    this.child.send({ account, lines });
  }

  /** How many calls the bank has answered. */
  async countCalls(): Promise<number> {
    return new Promise((resolve) => {
      const receive = (message: Paid | { calls: number }) => {
        if (!('calls' in message)) return;
        this.child.off('message', receive);
        resolve(message.calls);
      };
      this.child.on('message', receive);
      this.child.send({});
    });
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.disconnect();
    await ended;
  }
}
