// Refunds of received Pix, in full or in part, up to 90 days after receipt. Contract: chapter "Refund of a received
// Pix". No idempotency key is documented: each call is a refund.
import { z } from 'zod';
import { route } from './route.js';
import { transaction } from './statement.js';
import { filledText, positiveReais, text } from './wire.js';

/** What kind of id the path carries. */
export const refundFilters = ['CORRELATION_ID', 'END_TO_END_ID', 'NSU'] as const;
export type RefundFilter = (typeof refundFilters)[number];

/** Days of São Paulo, the day of receipt not counted. */
export const refundWindowDays = 90;

export const refundRequest = z.looseObject({
  amount: positiveReais,
  description: text(140).nullish(),
});
export type RefundRequest = z.output<typeof refundRequest>;

export const refundTransaction = route({
  name: 'refundTransaction',
  chapter: 'Refunds',
  summary: 'Refunds a received Pix in full or in part.',
  method: 'PUT',
  path: '/baas/api/v1/transactions/{transactionId}/refund',
  authentication: 'api-key',
  idempotencyKey: 'accepted',
  params: z.object({ transactionId: filledText(100) }),
  query: z.object({
    filterBy: z.enum(refundFilters, `Must be one of ${refundFilters.join(', ')}.`),
  }),
  body: refundRequest,
  /** A line of type DEBIT_PIX_REFUND, as the statement tells it. */
  response: transaction,
});
