// The control routes for sent money: registration of Pix keys and returns of sent Pix.
import { z } from 'zod';
import { pixKeyText } from '../../bank-contract/pix-lookup.js';
import { route } from '../../bank-contract/route.js';
import { accountType, ispbText, taxIdText } from '../../bank-contract/transfers.js';
import { filledText, positiveReais, text } from '../../bank-contract/wire.js';
import { postedMovement } from '../ledger/posted-movement.js';

const control = { chapter: 'Sandbox control', authentication: 'api-key' } as const;

export const registerDictKey = route({
  ...control,
  name: 'sandboxRegisterDictKey',
  summary: 'Registers a Pix key of an account of the bank or of a customer of another institution.',
  method: 'POST',
  path: '/sandbox/dict/keys',
  body: z.looseObject({
    key: pixKeyText,
    account: text(20).nullish().describe('Without it, the key is one of another institution.'),
    holder: z
      .looseObject({ name: filledText(200).nullish(), document: taxIdText.nullish() })
      .nullish(),
    participant: z
      .looseObject({ name: filledText(200).nullish(), ispb: ispbText.nullish() })
      .nullish(),
    number: filledText(20).nullish(),
    branch: filledText(10).nullish(),
    type: accountType.nullish(),
    replaces: z
      .boolean()
      .nullish()
      .describe(
        'Gives a registered key a new holder, as a claim or a portability in the DICT does.',
      ),
  }),
  response: z.object({
    key: z.string(),
    holder: z.object({ name: z.string(), document: z.string() }),
  }),
});

export const returnSentPix = route({
  ...control,
  name: 'sandboxReturnSentPix',
  summary: 'Returns a Pix that the account sent, whole or in part.',
  method: 'POST',
  path: '/sandbox/pix/returned',
  body: z.looseObject({
    account: text(20).nullish(),
    endToEndId: filledText(64),
    amount: positiveReais.nullish().describe('Without it, all that was not returned yet.'),
    reason: text(140).nullish(),
  }),
  response: postedMovement,
});
