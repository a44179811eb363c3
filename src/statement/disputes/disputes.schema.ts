// Disputes as business systems read them.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import { bigInteger, instant, reais, text, nameSchemas } from '../../bank-contract/wire.js';
import { DisputeKind, DisputeStatus } from '../../generated/service/enums.js';
import { listOf, listQuery } from '../../platform/http/listing.js';

export const disputeView = z.object({
  id: z.string(),
  kind: z.enum(DisputeKind),
  /** The last that the bank reported by a webhook. The statement shows whether money moved. */
  status: z.enum(DisputeStatus),
  /** The Pix; null where the webhook does not say which. */
  endToEndId: z.string().nullable(),
  /** The disputed amount; null for the whole Pix. */
  amount: reais.nullable(),
  reportedAt: instant,
  deadlineAt: instant,
  /** The line by which the bank returned the amount; null until then. */
  returnedNsu: bigInteger.nullable(),
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
