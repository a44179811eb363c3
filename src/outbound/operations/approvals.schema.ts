// The API of approvals: the policy of an account, and decisions about operations that wait.
import { z } from 'zod';
import { sendingKinds } from '../../bank-contract/operation-kinds.js';
import { route } from '../../bank-contract/route.js';
import {
  filledText,
  instant,
  integer,
  reais,
  text,
  integerBetween,
  notNegativeReais,
  nameSchemas,
  storedWord,
} from '../../bank-contract/wire.js';
import { ApprovalDecision, OperationSource } from '../../generated/service/enums.js';
import { operationDetail } from './operations.schema.js';

const common = { chapter: 'Approvals', authentication: 'api-key' } as const;
const maxHours = 720;
const sources = Object.values(OperationSource);

const policyFields = {
  aboveAmount: reais.nullable().describe('Larger amounts need approval; null: none does.'),
  kinds: z.array(storedWord(sendingKinds)).describe('Empty: all kinds that send money.'),
  approvals: integer,
  newBeneficiary: z.boolean().describe('Whether the first money for a beneficiary needs approval.'),
  sources: z.array(z.enum(OperationSource)).describe('What requested the operation; empty: all.'),
  expiresAfterHours: integer.describe('After so many hours, a waiting operation expires.'),
};

export const approvalPolicyView = z.object({
  ...policyFields,
  /** Changes that weaken the policy and wait for a key of another holder. */
  proposed: z.array(
    z.object({ ...policyFields, actor: z.string(), reason: z.string().nullable(), at: instant }),
  ),
  changes: z.array(
    z.object({
      sequence: integer,
      ...policyFields,
      isInForce: z.boolean(),
      actor: z.string(),
      reason: z.string().nullable(),
      at: instant,
    }),
  ),
});

const policy = { ...common, path: '/v1/approval-policy', response: approvalPolicyView } as const;

export const getApprovalPolicy = route({
  ...policy,
  name: 'getApprovalPolicy',
  summary: 'Returns the approval policy, its proposed changes and its history.',
  method: 'GET',
});

const distinct = (list: readonly string[]) => new Set(list).size === list.length;
const atMostOnce = { message: 'Must have each value at most once.' };

export const changeApprovalPolicy = route({
  ...policy,
  name: 'changeApprovalPolicy',
  summary:
    'Sets the approval policy. A change that weakens it is 202, and takes effect when a key of ' +
    'another holder sends the same change within 72 hours.',
  method: 'PUT',
  body: z.strictObject({
    aboveAmount: notNegativeReais.nullable(),
    kinds: z
      .array(z.enum(sendingKinds))
      .max(sendingKinds.length)
      .refine(distinct, atMostOnce)
      .default([]),
    approvals: integerBetween(1, 2).default(1),
    newBeneficiary: z.boolean().default(false),
    sources: z
      .array(z.enum(OperationSource))
      .max(sources.length)
      .refine(distinct, atMostOnce)
      .default([]),
    expiresAfterHours: integerBetween(1, maxHours).default(72),
    reason: filledText(500).nullish(),
  }),
});

/** What was decided, and why. */
export const decisionFields = {
  decision: z.enum(ApprovalDecision),
  reason: filledText(500),
};

export const decideOperation = route({
  ...common,
  name: 'decideOperation',
  summary: 'Approves or declines an operation that awaits approval. Its maker cannot decide it.',
  method: 'POST',
  path: '/v1/operations/{id}/approvals',
  params: z.object({ id: text(100) }),
  body: z.strictObject({
    ...decisionFields,
    requestHash: text(200).optional().describe('The `requestHash` that the approver has seen.'),
  }),
  response: operationDetail,
});

nameSchemas({ ApprovalPolicy: approvalPolicyView });
