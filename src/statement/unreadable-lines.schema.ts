// Lines that could not be read, or that came again with another content, as business systems see them.
import { z } from 'zod';
import { route } from '../contract/route.js';
import { bigInteger, integer, queryBoolean, queryNsu, text, timestamp } from '../contract/wire.js';
import { listOf, listQuery } from '../platform/listing.js';

const base = { chapter: 'Book', authentication: 'api-key' } as const;
const params = z.object({ id: text(100) });
const kinds = ['unreadable', 'changed'] as const;

const unreadableLine = z.object({
  id: z.string(),
  kind: z.enum(kinds),
  nsu: bigInteger.nullable(),
  reason: z.string(),
  recordedAt: timestamp,
  resolvedAt: timestamp.nullable(),
  /** `read`: it was read after all; `restored`: it came again as it first did; `erased`: forgotten. */
  resolution: z.enum(['read', 'restored', 'erased']).nullable(),
});
export type UnreadableLineView = z.output<typeof unreadableLine>;

export const listUnreadableLines = route({
  ...base,
  name: 'listUnreadableLines',
  summary: 'Lines that could not be read, or came again with another content, newest first.',
  method: 'GET',
  path: '/v1/unreadable-lines',
  query: listQuery({
    kind: z.enum(kinds).optional(),
    nsu: queryNsu.optional(),
    isResolved: queryBoolean.optional(),
  }),
  response: listOf(unreadableLine),
});

export const getUnreadableLine = route({
  ...base,
  name: 'getUnreadableLine',
  summary: 'One of them, with the text that came.',
  method: 'GET',
  path: '/v1/unreadable-lines/{id}',
  params,
  response: unreadableLine.extend({ content: z.string() }),
});

export const redriveUnreadableLines = route({
  ...base,
  name: 'redriveUnreadableLines',
  summary: 'Reads all that could not be read again, and takes into the book what can be.',
  method: 'POST',
  path: '/v1/unreadable-lines/redrive',
  idempotencyKey: 'accepted',
  response: z.object({ read: integer, unreadable: integer }),
});

export const redriveUnreadableLine = route({
  ...base,
  name: 'redriveUnreadableLine',
  summary: 'Reads one of them again, and takes it into the book where it can be read.',
  method: 'POST',
  path: '/v1/unreadable-lines/{id}/redrive',
  idempotencyKey: 'accepted',
  params,
  response: unreadableLine,
});
