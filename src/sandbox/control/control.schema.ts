// The sandbox's control plane: what a test does that no client of a bank can do.
import { z } from 'zod';
import { movement } from '../ledger/posted-movement.js';
import { route } from '../../contract/route.js';
import {
  clientIdentifier,
  filledText,
  positiveReais,
  queryBoolean,
  queryInteger,
  queryNsu,
  reais,
  text,
} from '../../contract/wire.js';

const control = { chapter: 'Sandbox control', authentication: 'api-key' } as const;

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
    correlationId: clientIdentifier.nullish(),
    externalId: clientIdentifier.nullish(),
    endToEndId: filledText(64).nullish(),
    /** An account of this bank that the proof names as the other side; its money does not move. */
    counterpartyAccount: accountNumber.nullish(),
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
    audit: queryBoolean.optional(),
  }),
  response: z.object({
    accounts: z.array(z.object({ branch: z.string(), number: z.string(), balance: reais })),
    movements: z.array(movement),
    audit: z.object({ clean: z.boolean(), problems: z.array(z.string()) }).optional(),
  }),
});

const fixtures = z.object({
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
});

export const readFixtures = route({
  ...control,
  name: 'sandboxFixtures',
  summary: 'What the sandbox holds for tests: accounts with their keys, DICT keys, bills.',
  method: 'GET',
  path: '/sandbox/fixtures',
  response: fixtures,
});

export const resetBank = route({
  ...control,
  name: 'sandboxReset',
  summary: 'Makes the bank what it was on its first day, and tells its fixtures.',
  method: 'POST',
  path: '/sandbox/reset',
  response: fixtures,
});
