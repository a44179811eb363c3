// Reads the request preferences that a caller sends as headers of a request that moves money.
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { findCallerOf } from '../../access/accounts/api-key.guard.js';
import type { RequestPreferences } from './operation.js';

export const allowDuplicateHeader = 'concilia-allow-duplicate';

export function readPreferences(
  headers: FastifyRequest['headers'],
): Omit<RequestPreferences, 'requestedBy'> {
  const preferences = [headers.prefer ?? []].flat().join(',').split(/[,;]/);
  return {
    respondAsync: preferences.some(
      (preference) => preference.trim().toLowerCase() === 'respond-async',
    ),
    allowDuplicate: headers[allowDuplicateHeader] === 'true',
  };
}

export const CallerPreferences = createParamDecorator(
  (_: unknown, context: ExecutionContext): RequestPreferences => ({
    requestedBy: { source: 'api', actor: findCallerOf(context)?.actor ?? null },
    ...readPreferences(context.switchToHttp().getRequest<FastifyRequest>().headers),
  }),
);
