// The API of the steps by which the severity of a break is computed.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import {
  bigInteger,
  instant,
  integer,
  positiveReais,
  reais,
  integerBetween,
  nameSchemas,
} from '../../bank-contract/wire.js';
import { reasonText } from './breaks.schema.js';

const base = { chapter: 'Breaks', authentication: 'api-key', path: '/v1/severity-steps' } as const;
const stepCount = 3;
const maxBusinessDays = 250;

const isAscending = (steps: readonly (number | bigint)[]) =>
  steps.every((step, index) => index === 0 || step > (steps[index - 1] ?? step));
const threeSteps = <Step extends z.ZodType<number | bigint>>(step: Step) =>
  z
    .array(step)
    .min(stepCount, 'Must have three steps.')
    .max(stepCount, 'Must have three steps.')
    .refine((steps) => isAscending(steps as (number | bigint)[]), 'Must be ascending.');

const businessDays = integerBetween(1, maxBusinessDays);

const stepsView = z.object({
  amounts: z.array(reais).describe('A break has a point for each that it reaches.'),
  businessDays: z.array(integer).describe('And one for each of these ages in business days.'),
  changes: z.array(
    z.object({
      sequence: bigInteger,
      amounts: z.array(reais),
      businessDays: z.array(integer),
      actor: z.string(),
      reason: z.string(),
      at: instant,
    }),
  ),
});

export const getSeveritySteps = route({
  ...base,
  method: 'GET',
  name: 'getSeveritySteps',
  summary: 'Returns the steps by which the severity of a break is computed, and their changes.',
  response: stepsView,
});

export const changeSeveritySteps = route({
  ...base,
  method: 'PUT',
  name: 'changeSeveritySteps',
  summary:
    'Changes the steps by which the severity of a break is computed, at once for all breaks.',
  idempotencyKey: 'accepted',
  body: z.strictObject({
    amounts: threeSteps(positiveReais),
    businessDays: threeSteps(businessDays),
    reason: reasonText,
  }),
  response: stepsView,
});

export type SeverityStepsBody = z.output<typeof changeSeveritySteps.body>;

nameSchemas({ SeveritySteps: stepsView });
