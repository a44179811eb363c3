// Plays faults on the bank's calls: outermost of all that handles a call, so that the effect is committed and the
// answer is made when it is lost. Nothing that it holds back outlives its connection or the application.
import type { Socket } from 'node:net';
import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  type OnModuleDestroy,
} from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { mergeMap, of } from 'rxjs';
import { buildErrorBody } from '../../contract/errors.js';
import { routeOf } from '../../platform/contract-route.js';
import { errorContentType } from '../../platform/error.filter.js';
import { unreachable } from '../../platform/errors.js';
import { currentTraceId, newTraceId } from '../../platform/trace.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { bankCallOf, type BankCall } from './bank-call.js';
import { answerKinds } from './fault.js';
import { Faults } from './faults.service.js';

/** What the route answers: its text, or bytes. */
type Answer = string | Uint8Array;

const garbage = '<!DOCTYPE html><html><body><h1>Service temporarily overloaded</h1></body></html>';

@Injectable()
export class CallFaults implements NestInterceptor, OnModuleDestroy {
  private readonly waiting = new Set<() => void>();
  private isStopped = false;

  constructor(
    private readonly faults: Faults,
    private readonly clock: BankClock,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler) {
    const call = bankCallOf(routeOf(context.getHandler()));
    if (!call) return next.handle();
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    if (this.faults.takeOnCall(call, 'error-before-effect')) return of(fail(reply));
    return next.handle().pipe(mergeMap((answer: Answer) => this.play(call, reply, answer)));
  }

  /** Before the connections are waited for: those that hang end now, what is slow is answered. */
  onModuleDestroy(): void {
    this.isStopped = true;
    for (const end of this.waiting) end();
  }

  /** The answer that is sent; a refusal has been thrown before, and takes no chance. */
  private async play(call: BankCall, reply: FastifyReply, answer: Answer): Promise<Answer> {
    if (reply.statusCode >= 300) return answer;
    const fault = this.faults.takeOnCall(call, ...answerKinds, 'slow');
    if (!fault) return answer;
    const { socket } = reply.request.raw;
    switch (fault.kind) {
      case 'error-after-effect':
        return fail(reply);
      case 'hang-after-effect':
        reply.hijack();
        await this.wait(fault.delayMs, socket);
        socket.destroy();
        return answer;
      case 'reset-after-effect':
        reply.hijack();
        socket.resetAndDestroy();
        return answer;
      case 'truncated':
        this.truncate(reply, answer);
        return answer;
      case 'garbage':
        void reply.status(200).header('content-type', 'text/html; charset=utf-8');
        return garbage;
      case 'empty':
        void reply.status(200);
        return '';
      case 'slow':
        await this.wait(fault.delayMs, socket);
        return answer;
      default:
        return unreachable(fault.kind);
    }
  }

  /** Announces all of the answer, sends half of it and cuts the connection. */
  private truncate(reply: FastifyReply, answer: Answer): void {
    const bytes = Buffer.from(answer as Uint8Array);
    reply.hijack();
    reply.raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      date: this.clock.now().toUTCString(),
      'content-length': bytes.length,
    });
    const half = bytes.subarray(0, Math.floor(bytes.length / 2));
    reply.raw.write(half, () => reply.request.raw.socket.destroy());
  }

  /** By the machine's clock; shorter when the caller goes away or the application ends. */
  private async wait(delayMs: number, socket: Socket): Promise<void> {
    if (this.isStopped || socket.destroyed) return;
    // A connection on which nothing moves would be ended sooner; the next request sets its limit again.
    socket.setTimeout(0);
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        socket.off('close', end);
        this.waiting.delete(end);
        resolve();
      };
      const timer = setTimeout(end, delayMs);
      socket.once('close', end);
      this.waiting.add(end);
    });
  }
}

/** The body of an error of the bank's; what was asked for is no error to log. */
function fail(reply: FastifyReply): string {
  void reply.status(500).header('content-type', errorContentType);
  return JSON.stringify(buildErrorBody(500, currentTraceId() ?? newTraceId()));
}
