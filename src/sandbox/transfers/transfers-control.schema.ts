// The control plane of money that is sent: whom keys lead to, and what comes back.
import { z } from 'zod';
import { pixKeyText } from '../../contract/pix-lookup.js';
import { route } from '../../contract/route.js';
import { accountType, ispbText, taxIdText } from '../../contract/transfers.js';
import { filledText, positiveReais, text } from '../../contract/wire.js';
import { movement } from '../ledger/posted-movement.js';

const control = { chapter: 'Sandbox control', authentication: 'api-key' } as const;

export const registerDictKey = route({
  ...control,
  name: 'sandboxRegisterDictKey',
  summary: 'Registers a Pix key, of an account of the bank or of somebody at another institution.',
  method: 'POST',
  path: '/sandbox/dict/keys',
  body: z.looseObject({
    key: pixKeyText,
    /** Without it, the key is of another institution's customer. */
    account: text(20).nullish(),
    holder: z
      .looseObject({ name: filledText(200).nullish(), document: taxIdText.nullish() })
      .nullish(),
    participant: z
      .looseObject({ name: filledText(200).nullish(), ispb: ispbText.nullish() })
      .nullish(),
    number: filledText(20).nullish(),
    branch: filledText(10).nullish(),
    type: accountType.nullish(),
  }),
  response: z.object({
    key: z.string(),
    holder: z.object({ name: z.string(), document: z.string() }),
  }),
});

export const returnSentPix = route({
  ...control,
  name: 'sandboxReturnSentPix',
  summary: 'A Pix that the account sent comes back, whole or in part.',
  method: 'POST',
  path: '/sandbox/pix/returned',
  body: z.looseObject({
    account: text(20).nullish(),
    endToEndId: filledText(64),
    /** Without it, all that has not come back yet. */
    amount: positiveReais.nullish(),
    reason: text(140).nullish(),
  }),
  response: movement,
});
