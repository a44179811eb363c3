// What is given back without a person: off until someone says so, of one kind of break at a time.
import { z } from 'zod';
import { route } from '../../contract/route.js';
import { integer, positiveReais, reais, timestamp } from '../../contract/wire.js';
import { reasonText } from './breaks.schema.js';

const base = { chapter: 'Breaks', authentication: 'api-key', path: '/v1/refund-policies' } as const;

export const policyKinds = [
  'duplicate_payment',
  'overpaid',
  'paid_after_cancellation',
  'paid_after_expiry',
] as const;
export type PolicyKind = (typeof policyKinds)[number];

const policiesView = z.object({
  data: z.array(
    z.object({
      kind: z.enum(policyKinds),
      isOn: z.boolean(),
      /** More than this is left to a person; null: nothing is. */
      maxAmount: reais.nullable(),
      changedBy: z.string().nullable(),
      reason: z.string().nullable(),
      /** Breaks opened before are left to a person. */
      changedAt: timestamp.nullable(),
    }),
  ),
  /** All changes that were made, the newest first, up to a hundred. */
  changes: z.array(
    z.object({
      sequence: integer,
      kind: z.string(),
      isOn: z.boolean(),
      maxAmount: reais.nullable(),
      actor: z.string(),
      reason: z.string(),
      at: timestamp,
    }),
  ),
});

export const getRefundPolicies = route({
  ...base,
  method: 'GET',
  name: 'getRefundPolicies',
  summary: 'What is given back without a person, and who said so.',
  response: policiesView,
});

export const changeRefundPolicies = route({
  ...base,
  method: 'PUT',
  name: 'changeRefundPolicies',
  summary: 'Switches refunds by policy on or off; kinds that are left out stay as they are.',
  idempotencyKey: 'accepted',
  body: z.strictObject({
    policies: z
      .array(
        z.strictObject({
          kind: z.enum(policyKinds, `Must be one of ${policyKinds.join(', ')}.`),
          isOn: z.boolean('Must be true or false.'),
          maxAmount: positiveReais.nullish(),
        }),
        'Must be a list of policies.',
      )
      .min(1, 'Must name at least one.')
      .max(policyKinds.length)
      .refine((named) => new Set(named.map(({ kind }) => kind)).size === named.length, {
        message: 'A kind is named twice.',
      }),
    reason: reasonText,
  }),
  response: policiesView,
});
