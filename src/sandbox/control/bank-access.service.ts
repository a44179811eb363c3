// Lets requests in, and keeps them out while the bank begins anew: none sees half of the old bank and half of the new.
import { Injectable } from '@nestjs/common';

@Injectable()
export class BankAccess {
  private inside = 0;
  private waiting: (() => void)[] = [];
  private closed: Promise<void> | null = null;

  /** Whether somebody waits for the house to be empty: long work ends early. */
  get isClosing(): boolean {
    return this.closed !== null;
  }

  async enter(): Promise<void> {
    while (this.closed) await this.closed;
    this.inside += 1;
  }

  leave(): void {
    this.inside -= 1;
    if (this.inside > 0) return;
    for (const go of this.waiting.splice(0)) go();
  }

  /** Does `work` when everybody else has left, before anybody else enters; whoever calls is inside. */
  async alone<Result>(work: () => Promise<Result>): Promise<Result> {
    this.leave();
    while (this.closed) await this.closed;
    let open!: () => void;
    this.closed = new Promise((resolve) => (open = resolve));
    try {
      while (this.inside > 0) await new Promise<void>((resolve) => this.waiting.push(resolve));
      return await work();
    } finally {
      this.inside += 1;
      this.closed = null;
      open();
    }
  }
}
