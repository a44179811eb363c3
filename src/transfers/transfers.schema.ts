// Transfers as business systems read them: what the bank answered, its last word, and what the statement shows.
import { z } from 'zod';
import { route } from '../contract/route.js';
import { bigInteger, clientIdentifier, reais, text, timestamp } from '../contract/wire.js';
import { listOf, listQuery } from '../platform/listing.js';
import { sentSettlements } from '../expected-payments/sent-settlement.js';
import { transferStates } from './bank-transfer.js';

const shapes = ['key', 'manual', 'internal', 'batch'] as const;

export const transferView = z.object({
  id: z.string(),
  operationId: z.string(),
  operationState: z.string(),
  shape: z.enum(shapes),
  state: z.enum(transferStates),
  /** The bank's last word. */
  bankStatus: z.string().nullable(),
  errorCode: z.string().nullable(),
  amount: reais,
  endToEndId: z.string().nullable(),
  /** As the bank knows it: the service's own where the client chose none. */
  externalId: z.string().nullable(),
  bankId: z.string().nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
  settlement: z.enum(sentSettlements),
  /** Of its debit; null while there is none. */
  nsu: bigInteger.nullable(),
  returns: z.array(
    z.object({
      nsu: bigInteger,
      amount: reais,
      endToEndId: z.string().nullable(),
      occurredAt: timestamp,
    }),
  ),
  /** The bank's answer to a single transfer; null while there is none, and for the items of a batch. */
  response: z.unknown(),
});

const transfers = { chapter: 'Transfers', authentication: 'api-key', method: 'GET' } as const;

export const listTransfersRoute = route({
  ...transfers,
  name: 'listTransfers',
  summary: 'Transfers, and items of batches, with their settlement, newest first.',
  path: '/v1/transfers',
  query: listQuery({
    state: z.enum(transferStates).optional(),
    shape: z.enum(shapes).optional(),
    externalId: clientIdentifier.optional(),
    endToEndId: text(64).optional(),
    operationId: z.uuid().optional(),
  }),
  response: listOf(transferView),
});

export const getTransferRoute = route({
  ...transfers,
  name: 'getTransfer',
  summary: 'One transfer, by its id, the bank’s id, its endToEndId or its externalId.',
  path: '/v1/transfers/{id}',
  params: z.object({ id: text(100) }),
  response: transferView,
});
