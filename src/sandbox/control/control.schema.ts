// The sandbox's control plane: what a test does that no client of a bank can do.
import { z } from 'zod';
import { route } from '../../contract/route.js';
import {
  bigInteger,
  clientIdentifier,
  filledText,
  positiveReais,
  queryInteger,
  queryNsu,
  reais,
  text,
  timestamp,
} from '../../contract/wire.js';

const control = { chapter: 'Sandbox control', authentication: 'api-key' } as const;

/** A line of a customer's account, as the control plane tells every movement. */
export const movement = z.object({
  nsu: bigInteger,
  account: z.string(),
  amount: reais,
  isCredit: z.boolean(),
  type: z.string(),
  endToEndId: z.string().nullable(),
  correlationId: z.string().nullable(),
  externalId: z.string().nullable(),
  originalEndToEndId: z.string().nullable(),
  idempotencyKey: z.string().nullable(),
  createdAt: timestamp,
});

export type ControlMovement = z.output<typeof movement>;

const accountNumber = text(20);

export const receivePix = route({
  ...control,
  name: 'sandboxReceivePix',
  summary: 'A Pix comes in: for a charge, a QR payload, a key, or unexpected.',
  method: 'POST',
  path: '/sandbox/pix/received',
  body: z
    .looseObject({
      account: accountNumber.nullish(),
      amount: positiveReais.nullish(),
      key: text(77).nullish(),
      payloadPix: text(1_000).nullish(),
      correlationId: clientIdentifier.nullish(),
      payer: z
        .looseObject({ name: filledText(200).nullish(), document: filledText(18).nullish() })
        .nullish(),
    })
    .refine(
      ({ key, payloadPix, correlationId }) =>
        [key, payloadPix, correlationId].filter(Boolean).length <= 1,
      'Only one of key, payloadPix and correlationId can be sent.',
    ),
  response: movement,
});

export const postTransaction = route({
  ...control,
  name: 'sandboxPostTransaction',
  summary: 'Any other line: a TED, a fee, a type that nobody knows.',
  method: 'POST',
  path: '/sandbox/transactions',
  body: z.looseObject({
    account: accountNumber.nullish(),
    amount: positiveReais,
    isCredit: z.boolean('Must be true or false.'),
    typeName: filledText(60),
    notes: text(200).nullish(),
  }),
  response: movement,
});

export const readLedger = route({
  ...control,
  name: 'sandboxLedger',
  summary: 'Accounts, movements, and an audit of the whole book.',
  method: 'GET',
  path: '/sandbox/ledger',
  query: z.object({
    account: accountNumber.optional(),
    after: queryNsu.optional(),
    limit: queryInteger(1)
      .refine((value) => value <= 100_000, 'Must be at most 100000.')
      .optional(),
  }),
  response: z.object({
    accounts: z.array(z.object({ branch: z.string(), number: z.string(), balance: reais })),
    movements: z.array(movement),
    audit: z.object({ clean: z.boolean(), problems: z.array(z.string()) }),
  }),
});

export const readFixtures = route({
  ...control,
  name: 'sandboxFixtures',
  summary: 'What the sandbox holds for tests: accounts with their keys, DICT keys, bills.',
  method: 'GET',
  path: '/sandbox/fixtures',
  response: z.object({
    accounts: z.array(z.object({ branch: z.string(), number: z.string(), key: z.string() })),
    dictKeys: z.array(
      z.object({
        key: z.string(),
        holder: z.object({ name: z.string(), document: z.string() }),
      }),
    ),
    bills: z.array(
      z.object({
        barCode: z.string(),
        digitableLine: z.string(),
        type: z.string(),
        status: z.string(),
        amount: reais,
      }),
    ),
  }),
});
