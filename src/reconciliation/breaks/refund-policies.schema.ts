// The API of refund policies: automatic refunds by kind of break, off by default.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import {
  bigInteger,
  instant,
  positiveReais,
  reais,
  nameSchemas,
  storedWord,
} from '../../bank-contract/wire.js';
import { policyKinds } from '../decide/break-kinds.js';
import { reasonText } from './breaks.schema.js';

const base = { chapter: 'Breaks', authentication: 'api-key', path: '/v1/refund-policies' } as const;

const policiesView = z.object({
  data: z.array(
    z.object({
      kind: z.enum(policyKinds),
      isOn: z.boolean(),
      maxAmount: reais.nullable().describe('Larger amounts are left to a person; null: no limit.'),
      changedBy: z.string().nullable(),
      reason: z.string().nullable(),
      changedAt: instant.nullable().describe('Breaks opened before are left to a person.'),
    }),
  ),
  changes: z.array(
    z.object({
      sequence: bigInteger,
      kind: storedWord(policyKinds),
      isOn: z.boolean(),
      maxAmount: reais.nullable(),
      actor: z.string(),
      reason: z.string(),
      at: instant,
    }),
  ),
});

export const getRefundPolicies = route({
  ...base,
  method: 'GET',
  name: 'getRefundPolicies',
  summary: 'Returns the refund policies and their changes.',
  response: policiesView,
});

export const changeRefundPolicies = route({
  ...base,
  method: 'PUT',
  name: 'changeRefundPolicies',
  summary: 'Switches automatic refunds on or off by kind of break; omitted kinds do not change.',
  idempotencyKey: 'accepted',
  body: z.strictObject({
    policies: z
      .array(
        z.strictObject({
          kind: z.enum(policyKinds),
          isOn: z.boolean(),
          maxAmount: positiveReais.nullish(),
        }),
      )
      .min(1)
      .max(policyKinds.length)
      .refine((list) => new Set(list.map(({ kind }) => kind)).size === list.length, {
        message: 'Must have each kind at most once.',
      }),
    reason: reasonText,
  }),
  response: policiesView,
});

export type RefundPolicyChange = z.output<typeof changeRefundPolicies.body>;

nameSchemas({ RefundPolicies: policiesView });
