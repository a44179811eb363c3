// Says which scope a handler's caller needs; reading is what a handler without it does.
import { SetMetadata } from '@nestjs/common';
import type { Scope } from './scopes.js';

const scopeKey = 'needed-scope';

/** Handlers that change something carry it; those that read need `read`. */
export function Needs(scope: Scope): MethodDecorator {
  return SetMetadata(scopeKey, scope);
}

export function neededScope(handler: object): Scope {
  return (Reflect.getMetadata(scopeKey, handler) as Scope | undefined) ?? 'read';
}
