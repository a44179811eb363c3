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
  type ActionDeclaration,
  type Needs,
  type PageDeclaration,
} from '../page.js';
import { PageRenderer } from './page-renderer.service.js';

/** A form that is no larger is refused on its page, by the service that receives the file. */
const receivedTimes = 4;

/** The decorated method shows a page: it changes nothing. */
export function ConsolePage({ path, needs, menu: entry }: PageDeclaration): MethodDecorator {
  if (entry) {
    const isAction = needs !== 'nobody' && needs !== 'password' && needs !== 'session';
    invariant(isAction && path.includes(':account'), 'a page of the menu is of an account');
    menu.push({ path, needs, ...entry });
    menu.sort(
      (one, other) =>
        sections.indexOf(one.section) - sections.indexOf(other.section) || one.place - other.place,
    );
  }
  return applyDecorators(Get(path), forPeople(needs));
}

/** The decorated method does what a form asks for. */
export function ConsoleAction(declared: ActionDeclaration): MethodDecorator {
  const { path, needs, audit, maxFileBytes } = declared;
  const record = audit === 'own' ? [] : [SetMetadata(recordKey, audit)];
  const file =
    maxFileBytes === undefined
      ? []
      : [RouteConfig({ hasFileBody: true, maxBodyBytes: receivedTimes * maxFileBytes })];
  return applyDecorators(Post(path), HttpCode(200), ...record, ...file, forPeople(needs));
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
