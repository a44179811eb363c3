// The API of unreadable lines: lines that could not be read, or were shown again with different
// content.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import {
  bigInteger,
  instant,
  integer,
  queryBoolean,
  queryNsu,
  text,
  nameSchemas,
} from '../../bank-contract/wire.js';
import { UnreadableLineKind, UnreadableLineResolution } from '../../generated/service/enums.js';
import { listOf, listQuery } from '../../platform/http/listing.js';

const base = { chapter: 'Reconciliation', authentication: 'api-key' } as const;
const params = z.object({ id: text(100) });

const unreadableLine = z.object({
  id: z.string(),
  kind: z.enum(UnreadableLineKind),
  nsu: bigInteger.nullable(),
  reason: z.string(),
  recordedAt: instant,
  resolvedAt: instant.nullable(),
  /**
   * `read`: it was read later; `restored`: shown again as first stored; `erased`: its personal data
   * was erased.
   */
  resolution: z.enum(UnreadableLineResolution).nullable(),
});

export const listUnreadableLines = route({
  ...base,
  name: 'listUnreadableLines',
  summary:
    'Lists lines that could not be read, or were shown again with different content, newest first.',
  method: 'GET',
  path: '/v1/unreadable-lines',
  query: listQuery({
    kind: z.enum(UnreadableLineKind).optional(),
    nsu: queryNsu.optional(),
    isResolved: queryBoolean.optional(),
  }),
  response: listOf(unreadableLine),
});

export const getUnreadableLine = route({
  ...base,
  name: 'getUnreadableLine',
  summary: 'Returns one unreadable line, with the text that the bank sent under `personal-data`.',
  method: 'GET',
  path: '/v1/unreadable-lines/{id}',
  params,
  /** Without the scope `personal-data`, the content is null: it names who paid. */
  response: unreadableLine.extend({ content: z.string().nullable() }),
});

export const redriveUnreadableLines = route({
  ...base,
  name: 'redriveUnreadableLines',
  summary: 'Reads all unreadable lines again, and records those that can be read now.',
  method: 'POST',
  path: '/v1/unreadable-lines/redrive',
  idempotencyKey: 'accepted',
  response: z.object({ read: integer, unreadable: integer }),
});

export const redriveUnreadableLine = route({
  ...base,
  name: 'redriveUnreadableLine',
  summary: 'Reads one unreadable line again, and records it if it can be read now.',
  method: 'POST',
  path: '/v1/unreadable-lines/{id}/redrive',
  idempotencyKey: 'accepted',
  params,
  response: unreadableLine,
});

nameSchemas({ UnreadableLine: unreadableLine });
