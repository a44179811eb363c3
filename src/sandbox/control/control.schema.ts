// The sandbox's control plane: actions that a test needs and that no bank offers its clients.
import { z } from 'zod';
import { postedMovement } from '../ledger/posted-movement.js';
import { route } from '../../bank-contract/route.js';
import {
  clientIdentifier,
  filledText,
  positiveReais,
  queryBoolean,
  queryInteger,
  queryNsu,
  reais,
  text,
} from '../../bank-contract/wire.js';

const control = { chapter: 'Sandbox control', authentication: 'api-key' } as const;

const accountNumber = text(20);

export const receivePix = route({
  ...control,
  name: 'sandboxReceivePix',
  summary: 'Receives a Pix: for a charge, a QR payload or a Pix key, or an unexpected one.',
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
      'Send at most one of key, payloadPix and correlationId.',
    ),
  response: postedMovement,
});

export const postTransaction = route({
  ...control,
  name: 'sandboxPostTransaction',
  summary: 'Posts any other statement line: a TED, a fee, an unknown type.',
  method: 'POST',
  path: '/sandbox/transactions',
  body: z.looseObject({
    account: accountNumber.nullish(),
    amount: positiveReais,
    isCredit: z.boolean(),
    typeName: filledText(60),
    notes: text(200).nullish(),
    correlationId: clientIdentifier.nullish(),
    externalId: clientIdentifier.nullish(),
    endToEndId: filledText(64).nullish(),
    counterpartyAccount: accountNumber
      .nullish()
      .describe('The account that the proof names as counterparty. Its balance does not change.'),
  }),
  response: postedMovement,
});

export const readSandboxLedger = route({
  ...control,
  name: 'sandboxLedger',
  summary: 'Returns accounts, movements and an audit of the whole ledger.',
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
    movements: z.array(postedMovement),
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
  summary: 'Returns the fixtures for tests: accounts with their API keys, DICT keys and bills.',
  method: 'GET',
  path: '/sandbox/fixtures',
  response: fixtures,
});

export const resetBank = route({
  ...control,
  name: 'sandboxReset',
  summary: 'Resets the bank to its initial state and returns its fixtures.',
  method: 'POST',
  path: '/sandbox/reset',
  response: fixtures,
});
