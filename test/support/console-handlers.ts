// Every page and form of the console, as its controllers declare them.
import { needsKey } from '../../src/console/console.guard.js';
import { listControllerMethods } from '../../src/platform/http/api-reference.js';
import type { ServiceProcess } from './service-application.js';

export interface DeclaredHandler {
  path: string;
  needs: string;
  isForm: boolean;
}

/** What a handler needs that is of no account. */
export const needsOfNoAccount = ['nobody', 'password', 'session'];

export function listConsoleHandlers({
  application,
}: Pick<ServiceProcess, 'application'>): DeclaredHandler[] {
  return listControllerMethods(application).flatMap((handler) => {
    const needs = Reflect.getMetadata(needsKey, handler) as string | undefined;
    if (!needs) return [];
    const path = Reflect.getMetadata('path', handler) as string;
    // Nest's RequestMethod: 0 is GET, 1 is POST.
    const isForm = Reflect.getMetadata('method', handler) === 1;
    return [{ path, needs, isForm }];
  });
}

/** An address of the account `main` for a declared path, with `id` wherever it has an id. */
export function exampleAddress(path: string, id: string): string {
  return path
    .replace(':account', 'main')
    .replace(/:(id|session|message|charge)/g, id)
    .replace(':nsu', '1')
    .replace(':kind', 'break_open')
    .replace(':day', '2026-01-01');
}
