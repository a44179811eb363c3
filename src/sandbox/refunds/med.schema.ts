// The control plane of the Mecanismo Especial de Devolução: the bank takes a received Pix back.
import { z } from 'zod';
import { route } from '../../contract/route.js';
import { filledText, positiveReais, text } from '../../contract/wire.js';
import { movement } from '../ledger/posted-movement.js';

export const takePixBack = route({
  name: 'sandboxTakePixBack',
  chapter: 'Sandbox control',
  summary:
    'The bank takes a received Pix back (MED), all that is left of it unless told otherwise.',
  method: 'POST',
  path: '/sandbox/pix/med',
  authentication: 'api-key',
  body: z.looseObject({
    account: text(20).nullish(),
    endToEndId: filledText(64),
    amount: positiveReais.nullish(),
    reason: filledText(140).nullish(),
  }),
  response: movement,
});
