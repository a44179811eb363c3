// Refunds of received Pix, in full or in part, up to 90 days after receipt. Contract: chapter
// "Refund of a received Pix". It documents no idempotency key: each call is a refund.
import { z } from 'zod';
import { route } from './route.js';
import { transaction } from './statement.js';
import { filledText, freeText, maxIdLength, positiveReais, nameSchemas } from './wire.js';

/** The kinds of ids that the path may contain. */
export const refundFilters = ['CORRELATION_ID', 'END_TO_END_ID', 'NSU'] as const;
export type RefundFilter = (typeof refundFilters)[number];

/** Calendar days of São Paulo. The day of receipt does not count. */
export const refundWindowDays = 90;

export const refundRequest = z.looseObject({
  amount: positiveReais,
  description: freeText.nullish(),
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
  params: z.object({ transactionId: filledText(maxIdLength) }),
  query: z.object({
    filterBy: z.enum(refundFilters),
  }),
  body: refundRequest,
  /** The transaction of type DEBIT_PIX_REFUND, as on the statement. */
  response: transaction,
});

nameSchemas({ RefundRequest: refundRequest });
