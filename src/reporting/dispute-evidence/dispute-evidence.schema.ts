// What a company answers a dispute with.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import { nameSchemas, text } from '../../bank-contract/wire.js';
import { chargeView } from '../../outbound/charges/charges.schema.js';
import { transactionView } from '../../reconciliation/api/transactions.schema.js';
import { disputeView } from '../../statement/disputes/disputes.schema.js';

const evidenceView = z.object({
  dispute: disputeView,
  transaction: transactionView.nullable().describe('The Pix; null where no line shows it.'),
  charges: z.array(chargeView).describe('What the Pix paid, with metadata: at most 20.'),
  returned: transactionView.nullable().describe('The line by which the bank returned the amount.'),
});

export const getDisputeEvidence = route({
  name: 'getDisputeEvidence',
  chapter: 'Disputes',
  authentication: 'api-key',
  summary:
    'Returns the Pix of a dispute, the charges that it paid, and what became of the dispute.',
  method: 'GET',
  path: '/v1/disputes/{id}/evidence',
  params: z.object({ id: text(100) }),
  response: evidenceView,
});

nameSchemas({ DisputeEvidence: evidenceView });
