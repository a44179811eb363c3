// Bounds how many requests of callers this process works on at once. The others wait in a fair
// queue. Reads have their own slots, so that payments never wait for them. A request that waits for
// the bank frees its slot: a slow bank delays no other request.
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Settings } from '../settings/config.js';
import { waitWhileConnected, type ClientConnection } from '../http/client-connection.js';
import { tooMany } from '../http/retry-after.js';
import type { RequestClass } from '../settings/request-limit-settings.js';
import { FairQueue, type QueuedCaller, type Ticket } from './fair-queue.js';

const currentPlace = new AsyncLocalStorage<RequestPlace>();

/**
 * Waits for something that is not work of this process: a request frees its slot meanwhile. In a
 * job, which has none, it only waits.
 */
export function waitOutsideSlot<Result>(wait: () => Promise<Result>): Promise<Result> {
  const place = currentPlace.getStore();
  return place ? place.waitOutside(wait) : wait();
}

/** Waits for other work of the account. */
export function sleepOutsideSlot(durationMs: number): Promise<void> {
  return waitOutsideSlot(() => sleep(durationMs));
}

@Injectable()
export class RequestSlots {
  private readonly reads: FairQueue;
  private readonly changes: FairQueue;
  private readonly maxWaitMs: number;

  constructor({ requestLimits: { concurrent, waiting } }: Settings) {
    const waitingPerKey = waiting.perKey;
    this.reads = new FairQueue({ concurrent: concurrent.reads, waitingPerKey });
    this.changes = new FairQueue({ concurrent: concurrent.changes, waitingPerKey });
    this.maxWaitMs = waiting.maxMs;
  }

  /**
   * Runs `work` when the caller has a slot. Throws `rate_limited` when the caller's queue is full,
   * or the request has waited for too long, or its client has disconnected: `work` has then not
   * begun. Once it has begun, it ends.
   */
  async run<Result>(
    { requestClass, ...caller }: QueuedCaller & { requestClass: RequestClass },
    client: ClientConnection,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const queue = requestClass === 'reads' ? this.reads : this.changes;
    const ticket = queue.enter(caller, () => undefined);
    if (!ticket)
      throw tooMany('Too many requests of this key wait to be worked on.', 1, 'too_many_waiting');
    if (!ticket.isWorking) await waitWhileConnected(client, this.maxWaitMs, begun(ticket));
    if (!ticket.isWorking || client.destroyed) {
      queue.leave(ticket);
      throw tooMany(
        'The request waited too long for earlier ones of its caller.',
        1,
        'waited_too_long',
      );
    }
    const place = new RequestPlace(queue, ticket);
    try {
      return await currentPlace.run(place, work);
    } finally {
      place.end();
    }
  }
}

/** Resolves when a request that waits for a slot has one. Most need not wait, nor a promise. */
function begun(ticket: Ticket): Promise<void> {
  return new Promise((resolve) => {
    ticket.begin = resolve;
  });
}

/** The place of a request in work: in its slot, or outside while it waits for the bank. */
class RequestPlace {
  private waits = 0;
  private hasEnded = false;

  constructor(
    private readonly queue: FairQueue,
    private readonly ticket: Ticket,
  ) {}

  /** Frees the slot at once: a wait for the bank is no work of this process. */
  async waitOutside<Result>(wait: () => Promise<Result>): Promise<Result> {
    if (this.waits === 0) this.leave();
    this.waits += 1;
    try {
      return await wait();
    } finally {
      this.waits -= 1;
      // A wait within another wait ends outside. So does one that the work did not wait for.
      if (this.waits === 0 && !this.hasEnded) {
        this.queue.comeBack(this.ticket, () => undefined);
        if (!this.ticket.isWorking) await begun(this.ticket);
      }
    }
  }

  end(): void {
    this.hasEnded = true;
    this.leave();
  }

  private leave(): void {
    this.queue.leave(this.ticket);
    // What was coming back meanwhile continues without a slot: it must not wait for ever.
    this.ticket.begin();
  }
}
