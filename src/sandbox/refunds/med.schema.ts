// The control route of the Mecanismo Especial de Devolução (MED): the bank refunds a received Pix.
import { z } from 'zod';
import { route } from '../../contract/route.js';
import { filledText, positiveReais, text } from '../../contract/wire.js';
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
