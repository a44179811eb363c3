// Refunds as business systems read them: the request, the bank's response and the settlement.
import { z } from 'zod';
import { refundTransaction } from '../../bank-contract/refunds.js';
import { metadataView, takingMetadata } from '../../statement/expected-payments/metadata.js';
import { route } from '../../bank-contract/route.js';
import {
  bigInteger,
  instant,
  queryNsu,
  reais,
  text,
  maxIdLength,
  nameSchemas,
  ofTheBank,
} from '../../bank-contract/wire.js';
import { outgoingSettlements } from '../../statement/expected-payments/outgoing-settlement.js';
import { OperationState, RefundState } from '../../generated/service/enums.js';
import { listOf, orderedListQuery } from '../../platform/http/listing.js';

export const refundView = z.object({
  id: z.string().describe('The id of its operation.'),
  operationState: z.enum(OperationState),
  state: z.enum(RefundState),
  originalNsu: bigInteger.describe('The statement line of the refunded Pix.'),
  amount: reais,
  endToEndId: z.string().nullable().describe("The bank's id of it (`D…`); null until reported."),
  nsu: bigInteger.nullable(),
  metadata: metadataView,
  settlement: z.enum(outgoingSettlements),
  response: ofTheBank.describe("The bank's response; null while there is none."),
  createdAt: instant,
});

/** The contract's route with `metadata` in its body. */
export const refundWithMetadata = {
  ...refundTransaction,
  body: takingMetadata(refundTransaction.body),
};

const refunds = { chapter: 'Refunds', authentication: 'api-key', method: 'GET' } as const;

export const listRefundsRoute = route({
  ...refunds,
  name: 'listRefunds',
  summary: 'Lists refunds of received Pix with their settlement, newest first.',
  path: '/v1/refunds',
  query: orderedListQuery({
    state: z.enum(RefundState).optional(),
    originalNsu: queryNsu.optional(),
  }),
  response: listOf(refundView),
});

export const getRefundRoute = route({
  ...refunds,
  name: 'getRefund',
  summary: "Returns one refund by its operation's id, the bank's id of the refund, or its nsu.",
  path: '/v1/refunds/{id}',
  params: z.object({ id: text(maxIdLength) }),
  response: refundView,
});

nameSchemas({ Refund: refundView });
