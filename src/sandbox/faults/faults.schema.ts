// The control plane of faults: add, list and remove.
import { LosslessNumber } from 'lossless-json';
import { z } from 'zod';
import { fieldError, refuse } from '../../bank-contract/field-errors.js';
import { route } from '../../bank-contract/route.js';
import {
  integer,
  integerBetween,
  jsonNumber,
  rejectInput,
  text,
  nameSchemas,
} from '../../bank-contract/wire.js';
import {
  endpointsOfKind,
  callKinds,
  faultEndpoints,
  faultKinds,
  type FaultEndpoint,
  type FaultKind,
} from './fault.js';
import { pixFailureCodes } from './pix-failures.js';

/** A probability from 0 (never) to 1 (always). */
const probability = z
  .codec(jsonNumber, z.number(), {
    decode: (number, context) => {
      const value = Number(number.value);
      if (value >= 0 && value <= 1) return value;
      return rejectInput(context, number.value, fieldError('between', { least: 0, most: 1 }));
    },
    encode: (value) => new LosslessNumber(String(value)),
  })
  .meta({ minimum: 0, maximum: 1 });

const endpoint = z.enum(faultEndpoints);
const kind = z.enum(faultKinds);
const method = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
const code = z.enum(pixFailureCodes);
const longestDelayMs = 600_000;
const maxTimes = 1_000_000_000;

const request = z
  .looseObject({
    endpoint,
    kind,
    method: method.nullish(),
    times: integerBetween(1, maxTimes).nullish(),
    probability: probability.nullish(),
    seed: integer.nullish(),
    code: code.nullish(),
    delayMs: integerBetween(0, longestDelayMs).nullish(),
  })
  .superRefine((values, context) => {
    const endpoints = endpointsOfKind(values.kind);
    if (!canFire(values.kind, values.endpoint))
      refuse(
        context,
        ['endpoint'],
        `${values.kind} can fire only at ${[...(endpoints ?? []), '*'].join(', ')}.`,
      );
    if (typeof values.times === 'number' && typeof values.probability === 'number')
      refuse(context, ['probability'], 'Send either times or probability, not both.');
    if (values.code && values.kind !== 'async-error')
      refuse(context, ['code'], `${values.kind} has no code.`);
    if (values.method && !(callKinds as readonly FaultKind[]).includes(values.kind))
      refuse(context, ['method'], `${values.kind} cannot be limited to a method.`);
  });

function canFire(ofKind: FaultKind, at: FaultEndpoint): boolean {
  return at === '*' || (endpointsOfKind(ofKind)?.includes(at) ?? true);
}

const fault = z.object({
  id: z.string(),
  endpoint,
  kind,
  method: method.nullable(),
  times: integer.nullable(),
  probability: probability.nullable(),
  seed: integer,
  code: code.nullable(),
  delayMs: integer.nullable(),
  chances: integer,
  fired: integer,
});

const control = { chapter: 'Sandbox control', authentication: 'api-key' } as const;
const path = '/sandbox/faults';
const removal = z.object({ removed: integer });

export const addFault = route({
  ...control,
  name: 'sandboxAddFault',
  summary: 'Adds a fault that fires a number of times, with a probability, or until it is removed.',
  method: 'POST',
  path,
  body: request,
  response: fault,
});

export const listFaults = route({
  ...control,
  name: 'sandboxListFaults',
  summary: 'Lists the faults, each with its chances so far and how often it fired.',
  method: 'GET',
  path,
  response: z.object({ faults: z.array(fault) }),
});

export const removeFaults = route({
  ...control,
  name: 'sandboxRemoveFaults',
  summary: 'Removes every fault.',
  method: 'DELETE',
  path,
  response: removal,
});

export const removeFault = route({
  ...control,
  name: 'sandboxRemoveFault',
  summary: 'Removes one fault.',
  method: 'DELETE',
  path: `${path}/{id}`,
  params: z.object({ id: text(100) }),
  response: removal,
});

nameSchemas({ Fault: fault });
