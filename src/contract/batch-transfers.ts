// Several transfers between accounts of the bank in one request. Contract: chapters "Batch transfer
// item", "Batch transfer response", "Batch transfers between accounts".
import { z } from 'zod';
import { route } from './route.js';
import {
  clientIdentifier,
  filledText,
  integer,
  positiveReais,
  reais,
  timestamp,
  withExactNames,
} from './wire.js';

export const batchItemRequest = withExactNames(
  z.looseObject({
    externalId: clientIdentifier.nullish(),
    amount: positiveReais,
    beneficiaryAccountNumber: filledText(20),
  }),
);

/** The contract shows no maximum. The body is held, validated and stored as a whole. */
export const maxBatchItems = 1_000;

export const batchOf = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item, 'Must be an array.')
    .min(1, 'Must have at least one item.')
    .max(maxBatchItems, `Must have at most ${maxBatchItems} items.`);

export const batchRequest = batchOf(batchItemRequest);

export type BatchRequest = z.output<typeof batchRequest>;

const batchParty = z.looseObject({
  number: z.string(),
  branch: z.string().nullish(),
  type: z.string().nullish(),
  holder: z
    .looseObject({
      document: z.string().nullish(),
      name: z.string().nullish(),
      email: z.string().nullish(),
      type: z.string().nullish(),
    })
    .nullish(),
  bank: z
    .looseObject({
      code: z.string().nullish(),
      name: z.string().nullish(),
      nameFantasy: z.string().nullish(),
      ispbCode: z.string().nullish(),
    })
    .nullish(),
});

/** The response has one element for each item, in the order of the items. */
const batchElement = z.looseObject({
  id: z.string(),
  /** The externalId of the item. The contract does not list it. */
  externalId: z.string().nullish(),
  type: z.looseObject({
    id: integer.nullish(),
    name: z.string(),
    description: z.string().nullish(),
  }),
  status: z.string(),
  amount: reais,
  createdAt: timestamp,
  transferAt: timestamp.nullish(),
  transferredAt: timestamp.nullish(),
  sender: batchParty,
  recipient: batchParty,
  tags: z.array(z.unknown()).nullish(),
  /** Beyond the contract: why an item failed, for a bank that executes a batch in part. */
  error: z.looseObject({ code: z.string().nullish(), description: z.string().nullish() }).nullish(),
});

export type BatchElement = z.output<typeof batchElement>;

export const createTransferBatch = route({
  name: 'createTransferBatch',
  chapter: 'Batch transfers between accounts',
  summary: 'Sends transfers to several accounts of the bank and returns one result for each.',
  method: 'POST',
  path: '/baas/v1/transfers/batch',
  authentication: 'api-key',
  idempotencyKey: 'required',
  maxBodyBytes: 262_144,
  body: batchRequest,
  response: z.array(batchElement),
});
