// Records what a form asks for before it is done, so that nothing is done without an entry. An
// action that did not succeed gets a second entry, which names the first.
import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { Database } from '../platform/postgres/database.service.js';
import type { AuditedSubject } from '../access/people/audited-actions.js';
import { Audit } from '../access/people/audit.service.js';
import { AppError } from '../platform/errors.js';
import { visitOf } from './console.guard.js';
import { DeclaredList, Shown, type ActionRecord, type PageAnswer, type SubjectOf } from './page.js';
import { accountOf, pathId, sessionOf, typed, type Visit } from './visit.js';

export const recordKey = 'console-action-record';
const maxLength = 500;

@Injectable()
export class ActionAudit implements NestInterceptor {
  constructor(
    private readonly audit: Audit,
    private readonly database: Database,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler<PageAnswer>): Observable<PageAnswer> {
    const record = Reflect.getMetadata(recordKey, context.getHandler()) as ActionRecord | undefined;
    if (!record) return next.handle();
    const visit = visitOf(context.switchToHttp().getRequest<FastifyRequest>());
    return from(this.run(visit, record, () => lastValueFrom(next.handle())));
  }

  private async run(
    visit: Visit,
    record: ActionRecord,
    act: () => Promise<PageAnswer>,
  ): Promise<PageAnswer> {
    const entryId = await this.begin(visit, record);
    const answer = await act().catch(async (error: unknown) => {
      await this.end(visit, entryId, error);
      throw error;
    });
    if (!(answer instanceof Shown || answer instanceof DeclaredList)) return answer;
    const { status = visit.problem?.status ?? 200 } = answer.options;
    const problem = visit.problem ?? new AppError('validation_failed');
    if (status >= 400) await this.end(visit, entryId, answer.options.problem ?? problem);
    return answer;
  }

  private begin(visit: Visit, { action, subject }: ActionRecord): Promise<string> {
    return this.audit.record(this.database.prisma, {
      ...whoAndWhere(visit),
      ...{ action, subject: subjectOf(visit, subject) },
      reason: typed(visit, 'reason').slice(0, maxLength) || null,
      shown: typed(visit, 'shown').slice(0, maxLength) || null,
    });
  }

  private async end(visit: Visit, entryId: string, error: unknown): Promise<void> {
    const isRefusal = error instanceof AppError && error.status < 500;
    await this.audit.record(this.database.prisma, {
      ...whoAndWhere(visit),
      action: isRefusal ? 'refused' : 'failed',
      subject: `entry ${entryId}`,
      reason: isRefusal ? [error.code, error.details.reason].filter(Boolean).join(': ') : null,
    });
  }
}

function whoAndWhere(visit: Visit) {
  return { operatorId: sessionOf(visit).operatorId, accountId: visit.accountId };
}

function subjectOf(visit: Visit, subject: SubjectOf): AuditedSubject {
  if (typeof subject === 'function') return subject(visit);
  const named = subject.replace(/:(\w+)/, (_, name: string) =>
    name === 'account' ? accountOf(visit).slug : pathId(visit, name),
  );
  return named as AuditedSubject;
}
