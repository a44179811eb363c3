// Which jobs run in this process. A worker has a slot for each job that it may run at once. A job
// that waits long for another server gives its slot back and ends later, so that jobs of other
// accounts run meanwhile. As many more as there are slots may work again after such a wait. An
// account never has more than half the slots of a job.
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** What holds a slot while it works, and frees it while it waits for another server. */
export interface Place {
  waitOutside<Result>(afterMs: number, wait: () => Promise<Result>): Promise<Result>;
}

/** The place of one run: in its slot, waiting outside it, or back from there. */
class JobPlace implements Place {
  private isOutside = false;
  private isBack = false;
  private hasEnded = false;
  private waits = 0;

  constructor(
    private readonly freeSlot: () => void,
    private readonly backPlaces: BackPlaces,
  ) {}

  async waitOutside<Result>(afterMs: number, wait: () => Promise<Result>): Promise<Result> {
    const timer = setTimeout(() => this.leave(), afterMs);
    this.waits += 1;
    try {
      return await wait();
    } finally {
      clearTimeout(timer);
      this.waits -= 1;
      // A wait within another wait ends outside.
      if (this.waits === 0) await this.comeBack();
    }
  }

  /** Call it when the run has ended. What it has left waiting takes no place any more. */
  end(): void {
    this.hasEnded = true;
    this.freePlace();
  }

  private freePlace(): void {
    if (this.isBack) this.backPlaces.free();
    this.isBack = false;
  }

  private leave(): void {
    this.freePlace();
    this.isOutside = true;
    this.freeSlot();
  }

  private async comeBack(): Promise<void> {
    if (!this.isOutside || this.hasEnded) return;
    this.isOutside = false;
    await this.backPlaces.take();
    // Another wait of the run, which began meanwhile, may have left again or have come back.
    if (this.hasEnded || this.isOutside || this.isBack) this.backPlaces.free();
    else this.isBack = true;
  }
}

/** Limits the runs that have waited outside and work again, so that they leave work to others. */
class BackPlaces {
  private readonly queue: (() => void)[] = [];

  constructor(private places: number) {}

  async take(): Promise<void> {
    this.places -= 1;
    if (this.places < 0) await new Promise<void>((resolve) => this.queue.push(resolve));
  }

  free(): void {
    this.places += 1;
    this.queue.shift()?.();
  }
}

const currentPlace = new AsyncLocalStorage<Place>();

/** Runs `work` in a place of its own, which `waitOutsideSlot` finds. */
export function runInPlace<Result>(place: Place, work: () => Result): Result {
  return currentPlace.run(place, work);
}

/**
 * Waits for something that is not work of this process. After `afterMs`, the job that waits gives
 * its slot back; a request of a caller does so at once. Outside of both it only waits.
 */
export function waitOutsideSlot<Result>(
  afterMs: number,
  wait: () => Promise<Result>,
): Promise<Result> {
  const place = currentPlace.getStore();
  return place ? place.waitOutside(afterMs, wait) : wait();
}

/** Waits for other work of the account. A request frees its slot meanwhile, and a job keeps it. */
export function sleepOutsideSlot(durationMs: number): Promise<void> {
  return waitOutsideSlot(durationMs * 2, () => sleep(durationMs));
}

interface QueuedRun<Payload> {
  accountId: number;
  /** Runs of one id never overlap. */
  id: string;
  payload: Payload;
}

interface AccountRuns<Payload> {
  running: Set<string>;
  /** Jobs that came while they could not run. They hold no slot. */
  waiting: Map<string, Payload>;
}

/** How many runs of a job may wait for their turns. More of them are left to the queue. */
const maxWaitingTurns = 64;

/** The runs of one job. */
export class JobRuns<Payload> {
  private readonly accounts = new Map<number, AccountRuns<Payload>>();
  private readonly ongoing = new Set<Promise<void>>();
  private readonly maxPerAccount: number;
  private startedHere = 0;
  private startedInTurn = 0;
  /** What starts the runs that wait for their turn, in the order of their turns, by their ids. */
  private readonly turns = new Map<string, () => Promise<void>>();
  private readonly backPlaces: BackPlaces;

  /** `enqueue` is called with a job that had to wait and can run now. */
  constructor(
    private readonly slots: number,
    private readonly enqueue: (payload: Payload) => void,
  ) {
    this.maxPerAccount = Math.ceil(slots / 2);
    this.backPlaces = new BackPlaces(slots);
  }

  /**
   * Runs `work` and resolves when the slot is free again: when `work` has ended or waits outside
   * its slot. Resolves at once if the same job runs, or too many of the account: the job is then
   * enqueued again after one of them. An error after that is not thrown.
   */
  async run({ accountId, id, payload }: QueuedRun<Payload>, work: () => Promise<void>) {
    const account = this.accounts.get(accountId) ?? { running: new Set(), waiting: new Map() };
    this.accounts.set(accountId, account);
    if (account.running.has(id) || account.running.size >= this.maxPerAccount) {
      account.waiting.set(id, payload);
      return;
    }
    account.running.add(id);
    await new Promise<void>((resolve, reject) => {
      const place = new JobPlace(resolve, this.backPlaces);
      const run = currentPlace.run(place, work).then(resolve, reject);
      const ended = run.then(() => {
        place.end();
        this.ongoing.delete(ended);
        this.end(accountId, account, id);
      });
      this.ongoing.add(ended);
    });
  }

  /**
   * Starts a run that no queue has given. False if as many of them as there are slots work already.
   * `work` reports its own errors.
   */
  start(run: QueuedRun<Payload>, work: () => Promise<void>): boolean {
    if (this.startedHere === this.slots) return false;
    this.startedHere += 1;
    void this.run(run, work)
      .catch(() => undefined)
      .finally(() => (this.startedHere -= 1));
    return true;
  }

  /**
   * Starts a run that no queue has given and that nothing waits for, when its turn comes: such runs
   * hold a quarter of the slots, or one. True also if it waits for its turn already. False if it
   * runs, or too many wait. `work` reports its own errors.
   */
  startInTurn(run: QueuedRun<Payload>, work: () => Promise<void>): boolean {
    if (this.turns.has(run.id)) return true;
    const isRunning = this.accounts.get(run.accountId)?.running.has(run.id);
    if (isRunning || this.turns.size === maxWaitingTurns) return false;
    this.turns.set(run.id, () => this.run(run, work));
    this.beginTurns();
    return true;
  }

  /** From now on, none of the runs that wait for their turns starts. */
  dropTurns(): void {
    this.turns.clear();
  }

  /** A turn that begins after another run does not inherit its place: see `Workers.start`. */
  private beginTurns(): void {
    for (const [id, start] of this.turns) {
      if (this.startedInTurn >= this.slots / 4) return;
      this.turns.delete(id);
      this.startedInTurn += 1;
      void start()
        .catch(() => undefined)
        .finally(() => {
          this.startedInTurn -= 1;
          this.beginTurns();
        });
    }
  }

  /** Resolves when no run is in progress. */
  async idle(): Promise<void> {
    await Promise.all(this.ongoing);
  }

  private end(accountId: number, account: AccountRuns<Payload>, id: string): void {
    account.running.delete(id);
    const next = [...account.waiting].find(([waitingId]) => !account.running.has(waitingId));
    if (next) {
      account.waiting.delete(next[0]);
      this.enqueue(next[1]);
    }
    if (account.running.size + account.waiting.size === 0) this.accounts.delete(accountId);
  }
}
