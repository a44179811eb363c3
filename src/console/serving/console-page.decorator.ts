// Declares a page, or what a form of a page does: its path, who may do it, its place in the menu. A
// page is one controller: the guard, the frame and the error pages follow from the decorator.
import {
  applyDecorators,
  createParamDecorator,
  Get,
  HttpCode,
  Post,
  SetMetadata,
  UseFilters,
  UseGuards,
  UseInterceptors,
  type ExecutionContext,
} from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { invariant } from '../../platform/errors.js';
import { ActionAudit, recordKey } from '../action-audit.service.js';
import { ConsoleErrors } from './console-errors.filter.js';
import { ConsoleGuard, needsKey, visitOf } from '../console.guard.js';
import {
  menu,
  sections,
  type MenuPlace,
  type Needs,
  type PageAnswer,
  type SubjectOf,
} from '../page.js';
import { attempt } from '../problems.js';
import type { Visit } from '../visit.js';
import type { AuditedActionName } from '../../access/people/audited-actions.js';
import { PageRenderer } from './page-renderer.service.js';

/** A form that is no larger is refused on its page, by the service that receives the file. */
const receivedTimes = 4;

/** A path without a slash at its beginning is below the account's. */
const wholePath = (path: string) =>
  path.startsWith('/') ? path : `/console/accounts/:account/${path}`;

/** The decorated method shows a page: it changes nothing. */
export function ConsolePage(path: string, needs: Needs, entry?: MenuPlace): MethodDecorator {
  if (entry) {
    const isAction = needs !== 'nobody' && needs !== 'password' && needs !== 'session';
    invariant(isAction && !path.startsWith('/'), 'a page of the menu is of an account');
    menu.push({ path: wholePath(path), needs, ...entry });
    menu.sort(
      (one, other) =>
        sections.indexOf(one.section) - sections.indexOf(other.section) || one.place - other.place,
    );
  }
  return applyDecorators(Get(wholePath(path)), forPeople(needs));
}

/**
 * The decorated method does what a form asks for. `own`: the service records the action in its
 * transaction, or the action changes nothing of an account.
 */
export function ConsoleAction(path: string, needs: Needs, record: 'own'): MethodDecorator;
export function ConsoleAction(
  ...declared: [path: string, needs: Needs, action: AuditedActionName, subject: SubjectOf]
): MethodDecorator;
export function ConsoleAction(
  path: string,
  needs: Needs,
  action: AuditedActionName | 'own',
  subject?: SubjectOf,
): MethodDecorator {
  const record = action === 'own' ? [] : [SetMetadata(recordKey, { action, subject })];
  return applyDecorators(Post(wholePath(path)), HttpCode(200), ...record, forPeople(needs));
}

/**
 * What the person can mend of the decorated action is shown by this page of its class, with what
 * was typed. It stands below `ConsoleAction`.
 */
export function ShownAgainBy<Page extends string>(page: Page) {
  return (
    _: Readonly<Record<Page, Shows>>,
    __: string,
    descriptor: TypedPropertyDescriptor<Acts>,
  ): void => {
    const act = descriptor.value;
    invariant(act, 'a page is shown again after an action');
    descriptor.value = async function (this: Record<Page, Shows>, visit) {
      const { problem, result } = await attempt(async () => act.call(this, visit));
      if (!problem) return result;
      visit.problem = problem;
      return this[page](visit);
    };
  };
}

type Acts = (visit: Visit) => Promise<PageAnswer>;
type Shows = (visit: Visit) => Promise<PageAnswer> | PageAnswer;

/** The form of the action brings a file (`multipart/form-data`): `visit.file`. */
export function TakesFile(maxBytes: number): MethodDecorator {
  return RouteConfig({ hasFileBody: true, maxBodyBytes: receivedTimes * maxBytes });
}

function forPeople(needs: Needs) {
  return applyDecorators(
    SetMetadata(needsKey, needs),
    UseGuards(ConsoleGuard),
    UseInterceptors(PageRenderer, ActionAudit),
    UseFilters(ConsoleErrors),
  );
}

/** Injects the request, with the person who sends it. */
export const Visiting = createParamDecorator((_: unknown, context: ExecutionContext) =>
  visitOf(context.switchToHttp().getRequest()),
);
