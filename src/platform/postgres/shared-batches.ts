// Work that shares transactions: what arrives for an account while one batch of it is worked on
// waits for the next one. No timer delays a batch. Accounts take turns.

import { continueTrace, currentTraceparent } from '../trace.js';

interface Waiting<Item, Result> {
  item: Item;
  traceparent: string | null;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** How many batches of different accounts are worked on at once: each has one connection. */
const maxAccounts = 4;
/** A batch is short enough that the next one does not wait long. */
const maxItems = 100;

export class SharedBatches<Item, Result> {
  /** By account, in the order of their turns. An account is absent while it is worked on. */
  private readonly turns = new Map<number, Waiting<Item, Result>[]>();
  private readonly working = new Map<number, Waiting<Item, Result>[]>();

  /**
   * `work` returns the results in the order of the items, or throws for all of them.
   * `conflictsOf` names what must not be twice in one batch: the second one waits for the next.
   */
  constructor(
    private readonly work: (accountId: number, items: Item[]) => Promise<Result[]>,
    private readonly conflictsOf: (item: Item) => readonly string[] = () => [],
  ) {}

  submit(accountId: number, item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const waiting = { item, traceparent: currentTraceparent(), resolve, reject };
      const queue = this.working.get(accountId) ?? this.turns.get(accountId);
      if (queue) queue.push(waiting);
      else this.turns.set(accountId, [waiting]);
      this.begin();
    });
  }

  /** How many items of the account wait for a batch. */
  waitingOf(accountId: number): number {
    return (this.working.get(accountId) ?? this.turns.get(accountId) ?? []).length;
  }

  private begin(): void {
    while (this.working.size < maxAccounts) {
      const [turn] = this.turns;
      if (!turn) return;
      const [accountId, queue] = turn;
      this.turns.delete(accountId);
      this.working.set(accountId, queue);
      void this.run(accountId, this.take(queue)).then(() => {
        this.working.delete(accountId);
        if (queue.length > 0) this.turns.set(accountId, queue);
        this.begin();
      });
    }
  }

  /** Takes the oldest from the queue, without those that conflict with an older one. */
  private take(queue: Waiting<Item, Result>[]): Waiting<Item, Result>[] {
    const taken: Waiting<Item, Result>[] = [];
    const left: Waiting<Item, Result>[] = [];
    const conflicts = new Set<string>();
    for (const waiting of queue.splice(0)) {
      const own = this.conflictsOf(waiting.item);
      const isNext = taken.length < maxItems && !own.some((one) => conflicts.has(one));
      (isNext ? taken : left).push(waiting);
      for (const one of own) conflicts.add(one);
    }
    queue.push(...left);
    return taken;
  }

  private async run(accountId: number, batch: Waiting<Item, Result>[]): Promise<void> {
    try {
      const items = batch.map(({ item }) => item);
      // What a batch does is recorded in the trace of its first item.
      const results = await continueTrace(batch[0]?.traceparent, () => this.work(accountId, items));
      batch.forEach(({ resolve }, index) => resolve(results[index] as Result));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
