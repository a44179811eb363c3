// Errors of the console are pages, with the trace id by which support finds the log lines.
import { pageSecurity } from '../requests.js';
import { ArgumentsHost, Catch, Injectable, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorResponse } from '../../platform/http/error.filter.js';
import { AppError } from '../../platform/errors.js';
import { Log } from '../../platform/log.js';
import { currentTraceId, newTraceId } from '../../platform/trace.js';
import { CodeFirst, OtherPageFirst, visitOf } from '../console.guard.js';
import { Message, Muted } from '../kit/elements.js';
import { codeFirstPage } from '../kit/step-up.js';
import { Shown } from '../page.js';
import { PageRenderer } from './page-renderer.service.js';
import { problemKey } from '../problems.js';
import { findTextKey, type TextKey } from '../texts.js';

@Injectable()
@Catch()
export class ConsoleErrors implements ExceptionFilter {
  constructor(
    private readonly pages: PageRenderer,
    private readonly log: Log,
  ) {}

  async catch(error: unknown, host: ArgumentsHost): Promise<void> {
    const http = host.switchToHttp();
    const reply = http.getResponse<FastifyReply>();
    const visit = visitOf(http.getRequest<FastifyRequest>());
    if (error instanceof OtherPageFirst) {
      void reply.headers(pageSecurity(visit));
      // A part that refreshes itself must not be replaced by another page.
      if (visit.isRefresh) void reply.header('hx-redirect', error.to).status(200).send('');
      else void reply.status(303).header('location', error.to).send('');
      return;
    }
    if (error instanceof CodeFirst) {
      const shown = codeFirstPage(visit, error.held, error.isWrong);
      void reply.send(await this.pages.send(reply, visit, shown));
      return;
    }
    const traceId = currentTraceId() ?? newTraceId();
    const { status, headers } = errorResponse(error, traceId, this.log);
    const key = textOf(status, error);
    const body = (
      <>
        <Message kind="bad">{visit.t(key)}</Message>
        <Muted>{visit.t('error.trace', { traceId })}</Muted>
        <p>
          <a href="/console">{visit.t('app.back')}</a>
        </p>
      </>
    );
    const shown = new Shown(visit.t('error.title'), body, { status, headers, isNarrow: true });
    void reply.send(await this.pages.send(reply, visit, shown));
  }
}

function textOf(status: number, error: unknown): TextKey {
  if (error instanceof AppError) return problemKey(error);
  return findTextKey(`error.${status}`) ?? (status < 500 ? 'error.400' : 'error.500');
}
