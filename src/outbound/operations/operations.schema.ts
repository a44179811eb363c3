// The `/v1/operations` routes: how operations are shown to business systems.
import { z } from 'zod';
import { operationKindNames } from '../../bank-contract/operation-kinds.js';
import { route } from '../../bank-contract/route.js';
import {
  instant,
  integer,
  reais,
  text,
  nameSchemas,
  ofTheBank,
  passedOn,
  storedWord,
} from '../../bank-contract/wire.js';
import {
  metadataQuery,
  metadataView,
  type Metadata,
} from '../../statement/expected-payments/metadata.js';
import {
  ApprovalCondition,
  ApprovalDecision,
  OperationSource,
  OperationState,
} from '../../generated/service/enums.js';
import { hasNoEffect } from '../operation-states.js';
import { isJsonObject, parseJson, stringifyJson } from '../../platform/json/exact-json.js';
import { listOf, orderedListQuery } from '../../platform/http/listing.js';
import type { Operation, OperationKind } from './operation.js';

/**
 * An operation in a list: a page shows what happened to many requests, each of which may be as
 * large as a batch of transfers.
 */
const listedOperation = z.object({
  id: z.string(),
  kind: storedWord(operationKindNames),
  state: z.enum(OperationState),
  idempotencyKey: z.string().nullable(),
  attempts: integer,
  reason: z.string().nullable().describe('Why the outcome is unknown, or how it was established.'),
  responseStatus: integer.nullable().describe('The HTTP status of the bank; null: none yet.'),
  createdAt: instant,
  updatedAt: instant,
  bodiesDeletedAt: instant.nullable().describe('When the bodies were deleted; null until then.'),
  metadata: metadataView.describe('Of the request; null for a batch, and once it was deleted.'),
});

const sentBody = z
  .union([z.looseObject({}), z.array(z.looseObject({}))])
  .nullable()
  .describe(
    'The body as it was sent to the bank, without secrets: that of the request which its kind ' +
      'names. Null where there is none, and once it was deleted.',
  );

export const operationView = listedOperation.extend({
  request: z.object({
    params: passedOn(z.record(z.string(), z.string())),
    body: passedOn(sentBody),
  }),
  /** The bank's response; null while there is none. Without a body once it was deleted. */
  response: z.object({ status: integer, body: ofTheBank }).nullable(),
});

/**
 * The body of a 202: the operation, with what was sent and a status that is not final, so that a
 * client of the bank does not read fields that are missing as a success.
 */
export const pendingView = operationView
  .extend({
    amount: reais.nullish().describe('Of the whole request; null where it has none.'),
    status: z.string().describe("The contract's, of what is under way; or of what moved nothing."),
  })
  // The fields that were sent, beside ours.
  .loose();

/** The same of one item, where the contract's response is a list. */
export const pendingItemsView = z.array(
  pendingView
    .pick({ id: true, kind: true, state: true, idempotencyKey: true, status: true, metadata: true })
    .extend({ operationId: z.string(), amount: reais, createdAt: instant, updatedAt: instant })
    .loose(),
);

/**
 * The JSON of a 202, or of one item of it. Where the request holds secrets, what was sent is left
 * out. `metadata` is that of the request, or of each item.
 */
export function pendingText(
  kind: PendingKind,
  operation: Operation,
  metadata: readonly (Metadata | null)[],
  item: number | null = null,
): string {
  const { repeat, statuses = { open: 'PROCESSING', failed: 'ERROR' } } = kind;
  const [own = null] = metadata.length === 1 ? metadata : [];
  const view = describeOperation(operation, own);
  const { body } = view.request;
  const { amountCents, state, id: operationId, kind: name, idempotencyKey } = operation;
  const status = hasNoEffect(state) ? statuses.failed : statuses.open;
  if (kind.pendingItems && body !== null) {
    const { createdAt, updatedAt } = z.encode(operationView, view);
    const common = { operationId, kind: name, state, status, idempotencyKey };
    const items = kind.pendingItems(operation).map((sent, position) => ({
      ...{ ...sent, ...common, createdAt, updatedAt, metadata: metadata[position] ?? null },
    }));
    return stringifyJson(item === null ? items : items[item]);
  }
  const sent = repeat !== 'never' && isJsonObject(body) ? body : {};
  // Of the stored operation, only what the view names.
  const encoded = z.encode(pendingView.strip(), { ...view, amount: amountCents, status });
  return stringifyJson({
    ...sent,
    ...encoded,
    amount: encoded.amount ?? sent.Amount ?? sent.amount,
  });
}

type PendingKind = Pick<OperationKind, 'repeat' | 'statuses' | 'pendingItems'>;

/** One operation with its attempts. An attempt may not have reached the bank. */
export const operationDetail = operationView.extend({
  bankReference: z.string().nullable().describe('An id or status by which the bank shows it.'),
  endedAt: instant.nullable(),
  attemptLog: z.array(
    z.object({
      number: integer,
      startedAt: instant,
      sendBy: instant.describe('No byte of the attempt was sent after this time.'),
      finishedAt: instant.nullable(),
      outcome: z.string().nullable(),
      status: integer.nullable(),
      reason: z.string().nullable(),
    }),
  ),
  /** How the approvals of the operation stand; null when it needed none. */
  approval: z
    .object({
      /**
       * Who receives the money: `ispb/branch/number` of an account, also of the Pix key that was
       * looked up; its number alone within the bank; a bar code; the nsu of a refunded Pix. Of a
       * batch only a hash: its items are in the request. Null once it awaits no approval any more.
       */
      counterparty: z.string().nullable(),
      amount: reais.nullable(),
      needed: integer,
      given: integer,
      expiresAt: instant,
      source: z.enum(OperationSource),
      condition: z.enum(ApprovalCondition).describe('Why it waits.'),
      requestedBy: z.string().describe('The key, `person:` and an id, or whoever set a policy.'),
      requestHash: z.string().describe('A decision that names another one is refused.'),
      decisions: z.array(
        z.object({
          actor: z.string(),
          decision: z.enum(ApprovalDecision),
          reason: z.string(),
          at: instant,
          counts: z.boolean().describe('False once the key is revoked or the role is lost.'),
        }),
      ),
    })
    .nullable(),
});

export function describeOperation(
  operation: Operation,
  metadata: Metadata | null = null,
): z.output<typeof operationView> {
  const { requestParams, requestBody, responseStatus, responseBody } = operation;
  const hasResponse = responseBody !== null || operation.bodiesDeletedAt !== null;
  return {
    ...operation,
    metadata,
    request: {
      params: parseJson(requestParams),
      body: requestBody === null ? null : parseJson(requestBody),
    },
    response:
      responseStatus === null || !hasResponse
        ? null
        : { status: responseStatus, body: parseJson(responseBody ?? 'null') },
  };
}

/** The bank's response to an operation that succeeded; null while there is none. */
export function acceptedResponse({
  state,
  responseBody,
}: Pick<Operation, 'state' | 'responseBody'>): unknown {
  return state === 'succeeded' && responseBody !== null ? parseJson(responseBody) : null;
}

const common = { chapter: 'Operations', authentication: 'api-key', method: 'GET' } as const;

export const listOperations = route({
  ...common,
  name: 'listOperations',
  summary: 'Lists outbound operations without their bodies, newest first.',
  path: '/v1/operations',
  query: orderedListQuery({
    state: z.enum(OperationState).optional(),
    kind: z.enum(operationKindNames).optional(),
    idempotencyKey: text(255).optional(),
    metadata: metadataQuery.optional(),
  }),
  response: listOf(listedOperation),
});

export const getOperation = route({
  ...common,
  name: 'getOperation',
  summary: 'Returns one operation with its attempts.',
  path: '/v1/operations/{id}',
  params: z.object({ id: text(100) }),
  response: operationDetail,
});

nameSchemas({
  ListedOperation: listedOperation,
  Operation: operationView,
  OperationDetail: operationDetail,
});
