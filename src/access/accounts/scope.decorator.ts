// The scopes of an API key, and the decorator that sets which scope a handler requires.
import { SetMetadata } from '@nestjs/common';
import { AppError } from '../../platform/errors.js';

/** What the API key of a business system may do. */
export const scopes = [
  'read',
  'charge',
  'transfer',
  'pay',
  'refund',
  'onboard',
  'reconcile',
  'webhooks',
  'expect',
  'personal-data',
  'approve',
  'alerts',
] as const;
export type Scope = (typeof scopes)[number];

export function missingScope(scope: Scope): AppError {
  return new AppError('forbidden', {
    reason: 'missing_scope',
    public: `The key lacks the scope ${scope}.`,
  });
}

const requiredScopeKey = 'required-scope';

/** Sets the scope that a caller of the handler must have. Handlers without it require `read`. */
export function RequiresScope(scope: Scope): MethodDecorator {
  return SetMetadata(requiredScopeKey, scope);
}

export function requiredScope(handler: object): Scope {
  return (Reflect.getMetadata(requiredScopeKey, handler) as Scope | undefined) ?? 'read';
}
