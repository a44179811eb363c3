// Several transfers between accounts of the bank in one request. Contract: chapters "Batch transfer
// item", "Batch transfer response", "Batch transfers between accounts".
import { z } from 'zod';
import { route } from './route.js';
import { schedulingFields } from './transfers.js';
import {
  answeredId,
  clientIdentifier,
  filledText,
  integer,
  positiveReais,
  reais,
  timestamp,
  unneeded,
  unneededId,
  unneededText,
  nameSchemas,
  ofTheBank,
} from './wire.js';

export const batchItemRequest = z.looseObject({
  externalId: clientIdentifier.nullish(),
  amount: positiveReais,
  beneficiaryAccountNumber: filledText(20),
  ...schedulingFields,
});

/** The contract shows no maximum. The body is held, validated and stored as a whole. */
export const maxBatchItems = 1_000;

export const batchOf = <Item extends z.ZodType>(item: Item) =>
  z.array(item).min(1).max(maxBatchItems);

export const batchRequest = batchOf(batchItemRequest);

export type BatchRequest = z.output<typeof batchRequest>;

const batchParty = z.looseObject({
  number: unneededText,
  branch: unneededText,
  type: unneededText,
  holder: unneeded(
    z.looseObject({
      ...{ document: unneededText, name: unneededText },
      ...{ email: unneededText, type: unneededText },
    }),
  ),
  bank: unneeded(
    z.looseObject({
      ...{ code: unneededText, name: unneededText },
      ...{ nameFantasy: unneededText, ispbCode: unneededText },
    }),
  ),
});

/** The response has one element for each item, in the order of the items. */
const batchElement = z.looseObject({
  id: answeredId,
  /** The externalId of the item. The contract does not list it. */
  externalId: unneededId,
  type: unneeded(
    z.looseObject({ id: unneeded(integer), name: unneededText, description: unneededText }),
  ),
  status: unneededText,
  amount: reais,
  createdAt: unneeded(timestamp),
  transferAt: unneeded(timestamp),
  transferredAt: unneeded(timestamp),
  sender: unneeded(batchParty),
  recipient: unneeded(batchParty),
  tags: unneeded(z.array(ofTheBank)),
  /** Beyond the contract: why an item failed, for a bank that executes a batch in part. */
  error: unneeded(z.looseObject({ code: unneededText, description: unneededText })),
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

nameSchemas({
  BatchItemRequest: batchItemRequest,
  BatchParty: batchParty,
  BatchItem: batchElement,
});
