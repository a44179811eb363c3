// What a caller wishes of a request that moves money, beyond the request itself: told by headers.
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { RequestPreferences } from './operation.js';

/** `true` insists that what looks like a duplicate is none. */
export const allowDuplicateHeader = 'concilia-allow-duplicate';

export function readPreferences(headers: FastifyRequest['headers']): RequestPreferences {
  const preferences = [headers.prefer ?? []].flat().join(',').split(/[,;]/);
  return {
    respondAsync: preferences.some((one) => one.trim().toLowerCase() === 'respond-async'),
    allowDuplicate: headers[allowDuplicateHeader] === 'true',
  };
}

export const CallerPreferences = createParamDecorator((_: unknown, context: ExecutionContext): RequestPreferences =>
  readPreferences(context.switchToHttp().getRequest<FastifyRequest>().headers),
);
