// What HTTP calls through axios are given: connections that are kept, and an end.

/**
 * Options of an agent. axios asks for probes at this interval when a request gets its connection;
 * an agent with another interval would ask for its own after the response. Both together are eight
 * system calls a request. An idle connection whose other end has vanished is found after some 70 s.
 */
export const keptConnections = { keepAlive: true, keepAliveMsecs: 60_000 } as const;

/**
 * Aborts a call when its time is over: the part of an `AbortSignal` that axios uses.
 * `AbortSignal.timeout` would cost a third of the call: its events are slow, and its timer is kept
 * until it ends, long after most calls.
 */
export class CallDeadline {
  aborted = false;
  private readonly listeners = new Set<() => void>();
  private readonly timer: NodeJS.Timeout;

  /** Whoever makes one must `clear` it. */
  constructor(afterMs: number) {
    this.timer = setTimeout(() => this.abort(), afterMs);
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.listeners.delete(listener);
  }

  /** Call it when the call has ended. */
  clear(): void {
    clearTimeout(this.timer);
  }

  private abort(): void {
    this.aborted = true;
    for (const listener of [...this.listeners]) listener();
  }
}
