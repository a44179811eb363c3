// Disputes as business systems read them.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import { bigInteger, instant, reais, text, nameSchemas } from '../../bank-contract/wire.js';
import { DisputeKind, DisputeStatus } from '../../generated/service/enums.js';
import { listOf, listQuery } from '../../platform/http/listing.js';

export const disputeView = z.object({
  id: z.string(),
  kind: z.enum(DisputeKind),
  status: z.enum(DisputeStatus).describe('The last that a webhook of the bank reported.'),
  endToEndId: z.string().nullable().describe('The Pix; null where the webhook does not say which.'),
  amount: reais.nullable().describe('The disputed amount; null for the whole Pix.'),
  reportedAt: instant,
  deadlineAt: instant,
  returnedNsu: bigInteger.nullable().describe('The line of the returned amount; null until then.'),
});

const disputes = { chapter: 'Disputes', authentication: 'api-key', method: 'GET' } as const;

export const listDisputesRoute = route({
  ...disputes,
  name: 'listDisputes',
  summary: 'Lists infraction notices and MED requests about received Pix, newest first.',
  path: '/v1/disputes',
  query: listQuery({}),
  response: listOf(disputeView),
});

export const getDisputeRoute = route({
  ...disputes,
  name: 'getDispute',
  summary: 'Returns one dispute.',
  path: '/v1/disputes/{id}',
  params: z.object({ id: text(100) }),
  response: disputeView,
});

nameSchemas({ Dispute: disputeView });
