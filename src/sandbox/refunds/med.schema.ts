// The control routes of the Mecanismo Especial de Devolução (MED): the bank notifies a dispute, and
// refunds a received Pix.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import { filledText, positiveReais, text } from '../../bank-contract/wire.js';
import { postedMovement } from '../ledger/posted-movement.js';

export const takePixBack = route({
  name: 'sandboxTakePixBack',
  chapter: 'Sandbox control',
  summary: 'The bank refunds a received Pix (MED): `amount`, or all that is still refundable.',
  method: 'POST',
  path: '/sandbox/pix/med',
  authentication: 'api-key',
  body: z.looseObject({
    account: text(20).nullish(),
    endToEndId: filledText(64),
    amount: positiveReais.nullish(),
    reason: filledText(140).nullish(),
  }),
  response: postedMovement,
});

/** The event types of disputes. */
export const reportableDisputes = [
  'INFRACTION_NOTIFICATION_CREATED',
  'MED_REQUESTED',
  'MED_ACCEPTED',
  'MED_REJECTED',
] as const;

export const reportDispute = route({
  name: 'sandboxReportDispute',
  chapter: 'Sandbox control',
  summary: 'Sends the webhook of an infraction notice or a MED request. No money moves.',
  method: 'POST',
  path: '/sandbox/disputes',
  authentication: 'api-key',
  body: z.looseObject({
    account: text(20).nullish(),
    eventType: z.enum(reportableDisputes),
    endToEndId: filledText(64),
    amount: positiveReais.nullish(),
    deadline: text(40).nullish().describe('When left out, the webhook has none.'),
  }),
  response: z.object({ id: z.string(), eventType: z.string(), endToEndId: z.string() }),
});
