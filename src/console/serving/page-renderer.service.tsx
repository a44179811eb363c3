// Renders what a page returns: in the frame, or only the part that refreshes itself.
import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { mergeMap, type Observable } from 'rxjs';
import { SandboxControl } from '../../bank/sandbox-control.service.js';
import { withUnseenNamed } from '../formats.js';
import { ConsoleAssets } from '../assets.service.js';
import { visitOf } from '../console.guard.js';
import { Frame } from '../kit/frame.js';
import { ListAnswers } from './lists.service.js';
import {
  DeclaredList,
  Download,
  EventStream,
  menu,
  Redirect,
  Shown,
  type PageAnswer,
} from '../page.js';
import { pageSecurity } from '../requests.js';
import { renderFor, type Visit } from '../visit.js';

/** A proxy must pass each event on at once, as it is. */
const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};

@Injectable()
export class PageRenderer implements NestInterceptor {
  constructor(
    private readonly assets: ConsoleAssets,
    private readonly sandbox: SandboxControl,
    private readonly lists: ListAnswers,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler<PageAnswer>): Observable<unknown> {
    const http = context.switchToHttp();
    const visit = visitOf(http.getRequest<FastifyRequest>());
    const reply = http.getResponse<FastifyReply>();
    return next.handle().pipe(
      mergeMap(async (answer) => {
        const result =
          answer instanceof DeclaredList ? await this.lists.answer(visit, answer) : answer;
        void reply.headers(pageSecurity(visit));
        if (result instanceof Redirect) {
          void reply.status(303).header('location', result.to).header('set-cookie', result.cookies);
          return '';
        }
        if (result instanceof Download) {
          void reply.headers({
            'content-type': result.contentType,
            'content-disposition': `attachment; filename="${result.name}"`,
          });
          return result.body;
        }
        if (result instanceof EventStream) {
          void reply.headers(streamHeaders);
          return result.body;
        }
        return this.send(reply, visit, result);
      }),
    );
  }

  /** The page as text. `reply` gets its status and headers. */
  async send(reply: FastifyReply, visit: Visit, shown: Shown): Promise<string> {
    const {
      status = visit.problem?.status ?? 200,
      cookies = [],
      headers = {},
      part,
    } = shown.options;
    void reply
      .status(status)
      .headers({ ...pageSecurity(visit), ...headers })
      .header('content-type', 'text/html; charset=utf-8');
    if (cookies.length > 0) void reply.header('set-cookie', cookies);
    if (visit.isRefresh && part) return withUnseenNamed(renderFor(visit, part));
    return this.page(visit, shown);
  }

  private async page(visit: Visit, { title, body, options }: Shown): Promise<string> {
    const assets = await this.assets.get();
    const { isNarrow = false } = options;
    const entries = menu.filter(({ isOfSandbox }) => !isOfSandbox || this.sandbox.isOffered);
    const page = (
      <Frame {...{ title, assets, isNarrow }} menu={entries} isSandbox={this.sandbox.isOffered}>
        {body}
      </Frame>
    );
    return `<!doctype html>${withUnseenNamed(renderFor(visit, page))}`;
  }
}
