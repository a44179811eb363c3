// Applies faults to requests. It is the outermost interceptor, so the effect is committed and the
// response is complete before it is lost. A delayed response never outlives its connection or the
// application.
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
import { buildErrorBody } from '../../bank-contract/errors.js';
import { routeOf } from '../../platform/http/contract-route.js';
import { errorContentType } from '../../platform/http/error.filter.js';
import { unreachable } from '../../platform/errors.js';
import { currentTraceId, newTraceId } from '../../platform/trace.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { bankCallOf, type BankCall } from './bank-call.js';
import { responseKinds } from './fault.js';
import { Faults } from './faults.service.js';

/** A response body as text or bytes. */
type ResponseBody = string | Uint8Array;

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
    if (this.faults.fireOnCall(call, 'error-before-effect')) return of(fail(reply));
    return next.handle().pipe(mergeMap((body: ResponseBody) => this.applyFault(call, reply, body)));
  }

  /**
   * Runs before shutdown waits for connections: hanging requests end now, slow ones get their
   * response.
   */
  onModuleDestroy(): void {
    this.isStopped = true;
    for (const end of this.waiting) end();
  }

  /** Returns the body to send. Not called for a refused request, so that no chance is counted. */
  private async applyFault(
    call: BankCall,
    reply: FastifyReply,
    body: ResponseBody,
  ): Promise<ResponseBody> {
    if (reply.statusCode >= 300) return body;
    const fault = this.faults.fireOnCall(call, ...responseKinds, 'slow');
    if (!fault) return body;
    const { socket } = reply.request.raw;
    switch (fault.kind) {
      case 'error-after-effect':
        return fail(reply);
      case 'hang-after-effect':
        reply.hijack();
        await this.wait(fault.delayMs, socket);
        socket.destroy();
        return body;
      case 'reset-after-effect':
        reply.hijack();
        socket.resetAndDestroy();
        return body;
      case 'truncated':
        this.truncate(reply, body);
        return body;
      case 'garbage':
        void reply.status(200).header('content-type', 'text/html; charset=utf-8');
        return garbage;
      case 'empty':
        void reply.status(200);
        return '';
      case 'slow':
        await this.wait(fault.delayMs, socket);
        return body;
      default:
        return unreachable(fault.kind);
    }
  }

  /** Announces the full length, sends half of the body and closes the connection. */
  private truncate(reply: FastifyReply, body: ResponseBody): void {
    const bytes = Buffer.from(body as Uint8Array);
    reply.hijack();
    reply.raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      date: this.clock.now().toUTCString(),
      'content-length': bytes.length,
    });
    const half = bytes.subarray(0, Math.floor(bytes.length / 2));
    reply.raw.write(half, () => reply.request.raw.socket.destroy());
  }

  /** Waits by the machine's clock, until the client disconnects or the application stops. */
  private async wait(delayMs: number, socket: Socket): Promise<void> {
    if (this.isStopped || socket.destroyed) return;
    // An idle connection would time out sooner; the next request restores its timeout.
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

/** The bank's error body. The failure was requested by a test, so it is not logged as an error. */
function fail(reply: FastifyReply): string {
  void reply.status(500).header('content-type', errorContentType);
  return JSON.stringify(buildErrorBody(500, currentTraceId() ?? newTraceId()));
}
