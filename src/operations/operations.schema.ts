// The `/v1/operations` routes: how operations are shown to business systems.
import { z } from 'zod';
import { route } from '../contract/route.js';
import { integer, text, timestamp } from '../contract/wire.js';
import { parseJson } from '../platform/exact-json.js';
import { listOf, listQuery } from '../platform/listing.js';
import type { Operation } from './operation.js';

const states = [
  'received',
  'sending',
  'succeeded',
  'rejected',
  'unknown',
  'not_executed',
  'needs_operator',
] as const;

export const operationView = z.object({
  id: z.string(),
  kind: z.string(),
  state: z.enum(states),
  idempotencyKey: z.string().nullable(),
  attempts: integer,
  /** Why the outcome is unknown, or how it was established. */
  reason: z.string().nullable(),
  request: z.object({ params: z.unknown(), body: z.unknown() }),
  /** The bank's response; null while there is none. */
  response: z.object({ status: integer, body: z.unknown() }).nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
});

/** One operation with its attempts. An attempt may not have reached the bank. */
export const operationDetail = operationView.extend({
  /** An id or status by which the bank has shown that it knows the operation. */
  bankReference: z.string().nullable(),
  endedAt: timestamp.nullable(),
  attemptLog: z.array(
    z.object({
      number: integer,
      startedAt: timestamp,
      /** No byte of the attempt was sent after this time. */
      sendBy: timestamp,
      finishedAt: timestamp.nullable(),
      outcome: z.string().nullable(),
      status: integer.nullable(),
      reason: z.string().nullable(),
    }),
  ),
});

/** A row of operation_attempt. */
export interface OperationAttempt {
  number: number;
  startedAt: Date;
  sendBy: Date;
  finishedAt: Date | null;
  outcome: string | null;
  status: number | null;
  reason: string | null;
}

export function describeOperationDetail(
  operation: Operation,
  attempts: OperationAttempt[],
): z.output<typeof operationDetail> {
  return {
    ...describeOperation(operation),
    bankReference: operation.bankReference,
    endedAt: operation.endedAt?.toISOString() ?? null,
    attemptLog: attempts.map(
      ({ number, startedAt, sendBy, finishedAt, outcome, status, reason }) => ({
        number,
        startedAt: startedAt.toISOString(),
        sendBy: sendBy.toISOString(),
        finishedAt: finishedAt?.toISOString() ?? null,
        outcome,
        status,
        reason,
      }),
    ),
  };
}

export function describeOperation(operation: Operation): z.output<typeof operationView> {
  const { id, kind, state, idempotencyKey, attempts, reason } = operation;
  const { requestParams, requestBody, responseStatus, responseBody } = operation;
  return {
    id,
    kind,
    state,
    idempotencyKey,
    attempts,
    reason,
    request: {
      params: parseJson(requestParams),
      body: requestBody === null ? null : parseJson(requestBody),
    },
    response:
      responseStatus === null || responseBody === null
        ? null
        : { status: responseStatus, body: parseJson(responseBody) },
    createdAt: operation.createdAt.toISOString(),
    updatedAt: operation.updatedAt.toISOString(),
  };
}

const common = { chapter: 'Operations', authentication: 'api-key', method: 'GET' } as const;

export const listOperations = route({
  ...common,
  name: 'listOperations',
  summary: 'Lists outbound operations, newest first.',
  path: '/v1/operations',
  query: listQuery({
    state: z.enum(states).optional(),
    kind: text(60).optional(),
    idempotencyKey: text(255).optional(),
  }),
  response: listOf(operationView),
});

export const getOperation = route({
  ...common,
  name: 'getOperation',
  summary: 'Returns one operation with its attempts.',
  path: '/v1/operations/{id}',
  params: z.object({ id: text(100) }),
  response: operationDetail,
});
