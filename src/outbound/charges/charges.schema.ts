// Charges as business systems read them: the bank's own response, with settlement, payments and
// refunds.
import { z } from 'zod';
import { createCharge } from '../../bank-contract/charges.js';
import { paymentTimes } from '../../statement/expected-payments/credit-days.schema.js';
import {
  metadataQuery,
  metadataView,
  takingMetadata,
} from '../../statement/expected-payments/metadata.js';
import { outgoingSettlements } from '../../statement/expected-payments/outgoing-settlement.js';
import { route } from '../../bank-contract/route.js';
import { createStaticQr } from '../../bank-contract/static-qr.js';
import { RefundState } from '../../generated/service/enums.js';
import {
  bigInteger,
  clientIdentifier,
  instant,
  integer,
  reais,
  text,
  maxIdLength,
  nameSchemas,
  storedWord,
} from '../../bank-contract/wire.js';
import { listOf, orderedListQuery, paymentRange } from '../../platform/http/listing.js';
import { chargeSettlements } from './charge-settlement.js';

/** A charge is shown with this many payments, and with as many refunds. */
export const maxShownOfCharge = 20;

export const chargeView = z.looseObject({
  correlationId: z.string(),
  expectedPaymentId: z.string(),
  settlement: z.enum(chargeSettlements).describe('By all its payments, also those not shown.'),
  payments: z
    .array(
      z.object({
        nsu: bigInteger,
        amount: reais,
        endToEndId: z.string().nullable(),
        occurredAt: instant,
        ...paymentTimes,
      }),
    )
    .describe(
      `The newest ${maxShownOfCharge} payments, oldest first. ` +
        'GET /v1/matches?expectedPaymentId=… lists all payments and their reversals.',
    ),
  dueDates: z
    .array(z.object({ dueDate: z.string(), since: instant, operationId: z.string().nullable() }))
    .describe(
      'The due dates in their order, if the due date was changed: since when, in bank time, and ' +
        'the operation that changed it; null for the first one, and where the bank showed it.',
    ),
  paymentCount: integer.describe('The number of all payments of the charge.'),
  cancelledAt: instant.nullable().describe('When a status check found it cancelled at the bank.'),
  expiredAt: instant.nullable().describe('When a status check found it expired, not paid.'),
  refunds: z
    .array(
      z.object({
        id: z.string(),
        originalNsu: bigInteger,
        amount: reais,
        state: storedWord(Object.values(RefundState)),
        /** Whether the statement shows the refund, and whether it was reversed. */
        settlement: z.enum(outgoingSettlements),
        nsu: bigInteger.nullable(),
        orderedBy: z.enum(['us', 'bank']).describe('`bank`: refunded without our request.'),
      }),
    )
    .describe(
      `The newest ${maxShownOfCharge} refunds of the payments, oldest first. ` +
        'GET /v1/refunds lists those that we requested, and GET /v1/matches?expectedPaymentId=… ' +
        'those that the bank made, as reversals.',
    ),
  metadata: metadataView,
  refundCount: integer.describe('The number of all refunds of the payments.'),
});

/** The contract's routes with `metadata` in their bodies. */
export const chargeWithMetadata = { ...createCharge, body: takingMetadata(createCharge.body) };
export const staticQrWithMetadata = {
  ...createStaticQr,
  body: takingMetadata(createStaticQr.body),
};

const charges = { chapter: 'Charges', authentication: 'api-key', method: 'GET' } as const;

export const listChargesRoute = route({
  ...charges,
  name: 'listCharges',
  summary: 'Lists charges and static QR codes with their newest payments, newest first.',
  path: '/v1/charges',
  query: orderedListQuery({
    correlationId: clientIdentifier.optional(),
    type: text(40).optional(),
    settlement: z.enum(chargeSettlements).optional().describe('What the statement shows of it.'),
    ...paymentRange,
    metadata: metadataQuery.optional(),
  }),
  response: listOf(chargeView),
});

export const getChargeRoute = route({
  ...charges,
  name: 'getCharge',
  summary: 'Returns one charge by its correlationId or by the id of its operation.',
  path: '/v1/charges/{correlationId}',
  params: z.object({ correlationId: text(maxIdLength) }),
  response: chargeView,
});

nameSchemas({ Charge: chargeView });
