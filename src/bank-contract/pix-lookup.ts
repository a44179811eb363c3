// The look-up of a Pix key, the first step of a transfer by key. Contract: chapters "Pix key lookup
// request / response", "Pix key lookup".
import { z } from 'zod';
import { failing } from './field-errors.js';
import { parsePixKey } from '../brazil/pix-key.js';
import { route } from './route.js';
import { taxIdText, transferParty } from './transfers.js';
import { answeredId, text, unneeded, unneededText, nameSchemas } from './wire.js';

/** A Pix key in any spelling that can be converted to the form of the DICT. */
export const pixKeyText = text(100)
  .refine((value) => parsePixKey(value) !== null, failing('pix_key'))
  .describe('A CPF, a CNPJ, an e-mail address, a random key, or a phone with its `+`.');

export const pixLookupRequest = z.looseObject({
  key: pixKeyText,
  holderDocument: taxIdText.nullish(),
});

export type PixLookupRequest = z.output<typeof pixLookupRequest>;

export const pixLookupResponse = z.looseObject({
  /** Can be used for one transfer by key. */
  endToEndId: answeredId,
  key: unneededText,
  /** The document is partly masked. */
  beneficiary: unneeded(transferParty),
  keyBelongsHolder: unneeded(z.boolean()).describe('False also without a holderDocument.'),
});

export type PixLookupResponse = z.output<typeof pixLookupResponse>;

export const lookUpPixKey = route({
  name: 'lookUpPixKey',
  chapter: 'Pix key lookup',
  summary: 'Returns the holder of a Pix key and an endToEndId for a transfer to it.',
  method: 'POST',
  path: '/baas/api/v2/pix/dict/payment-initialization',
  authentication: 'api-key',
  idempotencyKey: 'accepted',
  isReading: true,
  body: pixLookupRequest,
  response: pixLookupResponse,
});

nameSchemas({ PixLookupRequest: pixLookupRequest, PixLookup: pixLookupResponse });
