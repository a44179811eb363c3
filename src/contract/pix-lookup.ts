// The look-up of a Pix key, which begins a transfer by key. Contract: chapters "Pix key lookup request / response",
// "Pix key lookup".
import { z } from 'zod';
import { parsePixKey } from '../brazil/pix-key.js';
import { route } from './route.js';
import { taxIdText, transferParty } from './transfers.js';
import { text } from './wire.js';

/** A Pix key in any spelling that the DICT's form can be read from. */
export const pixKeyText = text(100).refine(
  (value) => parsePixKey(value) !== null,
  'Is not a Pix key.',
);

export const pixLookupRequest = z.looseObject({
  key: pixKeyText,
  holderDocument: taxIdText.nullish(),
});

export type PixLookupRequest = z.output<typeof pixLookupRequest>;

export const pixLookupResponse = z.looseObject({
  /** Begins one transfer by key. */
  endToEndId: z.string(),
  key: z.string(),
  /** The document is partly masked. */
  beneficiary: transferParty,
  /** False too when no holder document was sent. */
  keyBelongsHolder: z.boolean(),
});

export type PixLookupResponse = z.output<typeof pixLookupResponse>;

export const lookUpPixKey = route({
  name: 'lookUpPixKey',
  chapter: 'Pix key lookup',
  summary: 'Tells who a Pix key leads to, and the endToEndId of a transfer there.',
  method: 'POST',
  path: '/baas/api/v2/pix/dict/payment-initialization',
  authentication: 'api-key',
  idempotencyKey: 'accepted',
  body: pixLookupRequest,
  response: pixLookupResponse,
});
