// Counts the requests in progress, and delays new requests while the bank is reset. No request sees
// a part of the old bank and a part of the new bank.
import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { finalize, from, mergeMap } from 'rxjs';

@Injectable()
export class ResetGate {
  private requestCount = 0;
  private emptyListeners: (() => void)[] = [];
  private closed: Promise<void> | null = null;

  /** Whether a reset waits for the running requests to end. Long work ends early then. */
  get isClosing(): boolean {
    return this.closed !== null;
  }

  async enter(): Promise<void> {
    while (this.closed) await this.closed;
    this.requestCount += 1;
  }

  leave(): void {
    this.requestCount -= 1;
    if (this.requestCount > 0) return;
    for (const notifyEmpty of this.emptyListeners.splice(0)) notifyEmpty();
  }

  /**
   * Runs `work` after every other request has ended and before the next request begins. The
   * caller's own request is in progress.
   */
  async runAlone<Result>(work: () => Promise<Result>): Promise<Result> {
    this.leave();
    while (this.closed) await this.closed;
    let open!: () => void;
    this.closed = new Promise((resolve) => (open = resolve));
    try {
      while (this.requestCount > 0)
        await new Promise<void>((resolve) => this.emptyListeners.push(resolve));
      return await work();
    } finally {
      this.requestCount += 1;
      this.closed = null;
      open();
    }
  }
}

/**
 * A request is in progress only while its handler runs, not while a fault then delays, damages or
 * loses its response.
 */
@Injectable()
export class ResetGateInterceptor implements NestInterceptor {
  constructor(private readonly gate: ResetGate) {}

  intercept(_: ExecutionContext, next: CallHandler) {
    return from(this.gate.enter()).pipe(
      mergeMap(() => next.handle().pipe(finalize(() => this.gate.leave()))),
    );
  }
}
