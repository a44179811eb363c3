// Charges as business systems read them: the bank's own answer, with what the book knows of its payment.
import { z } from 'zod';
import { sentSettlements } from '../expected-payments/sent-settlement.js';
import { route } from '../contract/route.js';
import { bigInteger, clientIdentifier, reais, text, timestamp } from '../contract/wire.js';
import { listOf, listQuery } from '../platform/listing.js';
import { settlements } from './settlement.js';

export const chargeView = z.looseObject({
  correlationId: z.string(),
  settlement: z.enum(settlements),
  payments: z.array(
    z.object({
      nsu: bigInteger,
      amount: reais,
      endToEndId: z.string().nullable(),
      occurredAt: timestamp,
    }),
  ),
  /** When the bank was found to have withdrawn it, and when its day was found to have passed unpaid. */
  cancelledAt: timestamp.nullable(),
  expiredAt: timestamp.nullable(),
  /** What was given back of its payments. */
  refunds: z.array(
    z.object({
      id: z.string(),
      originalNsu: bigInteger,
      amount: reais,
      state: z.string(),
      /** What the statement says of it: whether its money went, and whether it came back. */
      settlement: z.enum(sentSettlements),
      nsu: bigInteger.nullable(),
      /** The bank, where it gave a Pix back without being asked here. */
      orderedBy: z.enum(['us', 'bank']),
    }),
  ),
});

const charges = { chapter: 'Charges', authentication: 'api-key', method: 'GET' } as const;

export const listChargesRoute = route({
  ...charges,
  name: 'listCharges',
  summary: 'Charges and static QR codes with their payments, newest first.',
  path: '/v1/charges',
  query: listQuery({ correlationId: clientIdentifier.optional(), type: text(40).optional() }),
  response: listOf(chargeView),
});

export const getChargeRoute = route({
  ...charges,
  name: 'getCharge',
  summary: 'One charge, by its correlationId or by the id of its operation.',
  path: '/v1/charges/{correlationId}',
  params: z.object({ correlationId: text(100) }),
  response: chargeView,
});
