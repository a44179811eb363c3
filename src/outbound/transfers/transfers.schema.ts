// Routes and response schemas of transfers as business systems read them.
import { z } from 'zod';
import {
  batchItemRequest,
  batchOf,
  createTransferBatch,
} from '../../bank-contract/batch-transfers.js';
import { createTed } from '../../bank-contract/ted-transfers.js';
import { createTransfer } from '../../bank-contract/transfers.js';
import {
  metadataQuery,
  metadataView,
  takingMetadata,
} from '../../statement/expected-payments/metadata.js';
import { route } from '../../bank-contract/route.js';
import {
  bigInteger,
  clientIdentifier,
  instant,
  reais,
  text,
  maxIdLength,
  nameSchemas,
  ofTheBank,
} from '../../bank-contract/wire.js';
import { listOf, orderedListQuery, paymentRange } from '../../platform/http/listing.js';
import { outgoingSettlements } from '../../statement/expected-payments/outgoing-settlement.js';
import { OperationState, TransferShape, TransferState } from '../../generated/service/enums.js';

const lineOfTransfer = z.object({
  nsu: bigInteger,
  amount: reais,
  endToEndId: z.string().nullable(),
  occurredAt: instant,
});

export const transferView = z.object({
  id: z.string(),
  operationId: z.string(),
  operationState: z.enum(OperationState),
  shape: z.enum(TransferShape),
  state: z.enum(TransferState),
  bankStatus: z.string().nullable().describe("The bank's latest status, verbatim."),
  errorCode: z.string().nullable(),
  amount: reais,
  endToEndId: z.string().nullable(),
  externalId: z.string().nullable().describe('Generated where the caller sent none.'),
  bankId: z.string().nullable(),
  createdAt: instant,
  updatedAt: instant,
  metadata: metadataView,
  settlement: z.enum(outgoingSettlements),
  nsu: bigInteger.nullable().describe('The nsu of the debit; null while the statement shows none.'),
  reversals: z.array(lineOfTransfer).describe('Lines that reversed it, in full or in part.'),
  candidates: z.array(lineOfTransfer).describe('Debits that fit it, with nothing to tie them.'),
  /**
   * The bank's response to a single transfer; null while there is none, and for the items of a
   * batch.
   */
  response: ofTheBank,
});

/** The contract's routes with `metadata` in their bodies; in a batch, in each item. */
export const transferWithMetadata = {
  ...createTransfer,
  body: takingMetadata(createTransfer.body),
};
export const tedWithMetadata = { ...createTed, body: takingMetadata(createTed.body) };
export const batchWithMetadata = {
  ...createTransferBatch,
  body: batchOf(takingMetadata(batchItemRequest)),
};

const transfers = { chapter: 'Transfers', authentication: 'api-key', method: 'GET' } as const;

export const listTransfersRoute = route({
  ...transfers,
  name: 'listTransfers',
  summary: 'Lists transfers and batch items with their settlement, newest first.',
  path: '/v1/transfers',
  query: orderedListQuery({
    state: z.enum(TransferState).optional(),
    shape: z.enum(TransferShape).optional(),
    externalId: clientIdentifier.optional(),
    endToEndId: text(64).optional(),
    operationId: z.uuid().optional(),
    ...paymentRange,
    metadata: metadataQuery.optional(),
  }),
  response: listOf(transferView),
});

export const getTransferRoute = route({
  ...transfers,
  name: 'getTransfer',
  summary: 'Returns one transfer by its id, the bank’s id, its endToEndId or its externalId.',
  path: '/v1/transfers/{id}',
  params: z.object({ id: text(maxIdLength) }),
  response: transferView,
});

nameSchemas({ TransferLine: lineOfTransfer, Transfer: transferView });
