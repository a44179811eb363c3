// Which requests a process works on, and which wait. Accounts take turns, however many requests
// each of them has, and within an account its keys do. Turns are counted in virtual time: a turn of
// an account lasts 1/weight, and a free slot goes to the account whose last turn ended first
// (start-time fair queueing: Goyal, Vin and Cheng, 1996).

import type { ConcurrentRequests } from '../settings/request-limit-settings.js';

export interface QueueLimits {
  /** Requests in work. */
  concurrent: ConcurrentRequests;
  /** Requests of one key that have not begun and wait for a slot. 0 is no limit. */
  waitingPerKey: number;
}

/** Whose request it is. Fairness is between accounts, and between the keys of an account. */
export interface QueuedCaller {
  accountId: number;
  actor: string;
  /** Of the account: its turns for each turn of an account with weight 1. */
  weight: number;
}

interface KeyQueue {
  working: number;
  /** In order of arrival. Those that come back have begun already, and go first. */
  back: Set<Ticket>;
  waiting: Set<Ticket>;
}

interface AccountQueue {
  working: number;
  keys: Map<string, KeyQueue>;
}

/** A request's way through the queue. */
export interface Ticket extends QueuedCaller {
  /** Called when the request has a slot. */
  begin: () => void;
  isWorking: boolean;
}

export class FairQueue {
  private working = 0;
  /** Those with requests. */
  private readonly accounts = new Map<number, AccountQueue>();
  /** When the latest turn began, in virtual time. */
  private virtualTime = 0;
  /**
   * When the last turn of an account or key ended, or will end, in virtual time. It is kept while
   * there are no requests, so that turns are the same, whether requests come one after the other or
   * all at once.
   */
  private readonly turnEnds = new Map<number | string, number>();

  constructor(private readonly limits: QueueLimits) {}

  /**
   * Asks for a slot: `begin` is called when there is one, which may be at once. Null if too many
   * requests of the key wait.
   */
  enter(caller: QueuedCaller, begin: () => void): Ticket | null {
    const { waiting } = this.keyOf(caller);
    const ticket = { ...caller, begin, isWorking: false };
    waiting.add(ticket);
    this.serve();
    if (ticket.isWorking || isWithin(waiting.size, this.limits.waitingPerKey)) return ticket;
    this.leave(ticket);
    return null;
  }

  /** Asks for a slot for a request that had one and left it. It is never refused. */
  comeBack(ticket: Ticket, begin: () => void): void {
    ticket.begin = begin;
    this.keyOf(ticket).back.add(ticket);
    this.serve();
  }

  /** Frees the slot of the request, or its place in the queue. */
  leave(ticket: Ticket): void {
    const { accountId, actor } = ticket;
    const account = this.accounts.get(accountId);
    const key = account?.keys.get(actor);
    if (!account || !key) return;
    if (ticket.isWorking) {
      ticket.isWorking = false;
      key.working -= 1;
      account.working -= 1;
      this.working -= 1;
    }
    key.back.delete(ticket);
    key.waiting.delete(ticket);
    if (key.working + key.back.size + key.waiting.size === 0) account.keys.delete(actor);
    if (account.keys.size === 0) this.accounts.delete(accountId);
    if (this.accounts.size === 0) this.turnEnds.clear();
    this.serve();
  }

  /** Gives free slots to those whose turn it is. */
  private serve(): void {
    while (isBelow(this.working, this.limits.concurrent.total)) {
      const ticket = this.next();
      if (!ticket) return;
      ticket.isWorking = true;
      ticket.begin();
    }
  }

  private next(): Ticket | null {
    const { concurrent } = this.limits;
    const hasNext = (key: KeyQueue) =>
      isBelow(key.working, concurrent.key) && nextOf(key) !== undefined;
    const accountTurn = this.whoseTurn(
      this.accounts,
      ({ working, keys }) =>
        isBelow(working, concurrent.account) && [...keys.values()].some(hasNext),
    );
    const keyTurn = accountTurn && this.whoseTurn(accountTurn[1].keys, hasNext);
    if (!keyTurn) return null;
    const [accountId, account] = accountTurn;
    const [actor, key] = keyTurn;
    const ticket = nextOf(key) as Ticket;
    key.back.delete(ticket);
    key.waiting.delete(ticket);
    key.working += 1;
    account.working += 1;
    this.working += 1;
    // A turn never begins in the past: an account that was idle has not saved turns.
    this.virtualTime = Math.max(this.virtualTime, this.turnEnds.get(accountId) ?? 0);
    const endsAt = this.virtualTime + 1 / ticket.weight;
    this.turnEnds.set(accountId, endsAt).set(actor, endsAt);
    return ticket;
  }

  /** The one whose last turn ended first. */
  private whoseTurn<Id extends number | string, Queue>(
    queues: ReadonlyMap<Id, Queue>,
    canBegin: (queue: Queue) => boolean,
  ): [Id, Queue] | null {
    let first: [Id, Queue] | null = null;
    let firstEnd = Infinity;
    for (const [id, queue] of queues) {
      const endsAt = this.turnEnds.get(id) ?? 0;
      if (endsAt >= firstEnd || !canBegin(queue)) continue;
      first = [id, queue];
      firstEnd = endsAt;
    }
    return first;
  }

  private keyOf({ accountId, actor }: QueuedCaller): KeyQueue {
    const account = this.accounts.get(accountId) ?? { working: 0, keys: new Map() };
    this.accounts.set(accountId, account);
    const key = account.keys.get(actor) ?? { working: 0, back: new Set(), waiting: new Set() };
    account.keys.set(actor, key);
    return key;
  }
}

function isBelow(count: number, limit: number): boolean {
  return limit === 0 || count < limit;
}

function isWithin(count: number, limit: number): boolean {
  return limit === 0 || count <= limit;
}

function nextOf({ back, waiting }: KeyQueue): Ticket | undefined {
  const [ticket] = back.size > 0 ? back : waiting;
  return ticket;
}
