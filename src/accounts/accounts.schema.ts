// Bank accounts and keys as an operator sees them. What a credential or a key says is never answered again.
import { z } from 'zod';
import { route } from '../contract/route.js';
import { filledText, integer, text, timestamp } from '../contract/wire.js';
import { listOf, listQuery } from '../platform/listing.js';
import { certificatePem, privateKeyPem } from './certificates.schema.js';
import { isFreeHeader } from '../config.js';
import { scopes } from './scopes.js';

const base = { chapter: 'Bank accounts', authentication: 'admin-key' } as const;
const ofAccount = z.object({ slug: text(60) });
const ofKey = z.object({ slug: text(60), id: text(100) });

const slug = text(60).regex(
  /^[a-z0-9]([a-z0-9-]{0,58}[a-z0-9])?$/,
  'Must be small letters, digits and inner hyphens: it stands in webhook addresses.',
);
const headerName = text(60)
  .regex(/^[A-Za-z0-9-]+$/, 'Must be an HTTP header’s name.')
  .refine((name) => isFreeHeader(name), 'Is a header that requests have of their own.')
  .transform((name) => name.toLowerCase());
const headerValue = (minLength: number) =>
  text(2000)
    .regex(/^[\x21-\x7e]+$/, 'Must be printable characters without spaces.')
    .min(minLength, `Must have at least ${minLength} characters.`);
const instant = text(40).refine(
  (value) => /^\d{4}-\d{2}-\d{2}T/.test(value) && !Number.isNaN(Date.parse(value)),
  'Must be an instant in ISO 8601.',
);
const positive = integer.refine(
  (value) => value >= 1 && value <= 100_000,
  'Must be from 1 to 100000.',
);

const optionalCredentials = {
  partnerKey: headerValue(1).nullish(),
  apiKeyHeader: headerName.nullish(),
  partnerKeyHeader: headerName.nullish(),
  accountHeader: z.object({ name: headerName, value: headerValue(1) }).nullish(),
  clientCertificate: certificatePem.nullish(),
  clientKey: privateKeyPem.nullish(),
  ca: certificatePem.nullish(),
  rateLimitPerSecond: positive.nullish(),
  webhookSecret: headerValue(16).nullish(),
};

export const accountView = z.object({
  slug: z.string(),
  name: z.string().nullable(),
  /** `settings`: its credentials stand in the environment. */
  origin: z.enum(['settings', 'api']),
  goLiveAt: timestamp,
  /** The names of the credentials that are set. */
  credentialsSet: z.array(z.string()),
  createdAt: timestamp,
  updatedAt: timestamp,
});

export const createAccount = route({
  ...base,
  name: 'createBankAccount',
  summary:
    'Adds a bank account: its webhooks are registered and its statement is read from now on.',
  method: 'POST',
  path: '/v1/accounts',
  idempotencyKey: 'accepted',
  successStatus: 201,
  body: z.object({
    slug,
    name: filledText(200).nullish(),
    goLiveAt: instant.nullish(),
    credentials: z.object({ apiKey: headerValue(1), ...optionalCredentials }),
  }),
  response: accountView,
});

export const listAccounts = route({
  ...base,
  name: 'listBankAccounts',
  summary: 'The bank accounts, newest first.',
  method: 'GET',
  path: '/v1/accounts',
  query: listQuery({}),
  response: listOf(accountView),
});

export const getAccount = route({
  ...base,
  name: 'getBankAccount',
  summary: 'One bank account.',
  method: 'GET',
  path: '/v1/accounts/{slug}',
  params: ofAccount,
  response: accountView,
});

export const updateAccount = route({
  ...base,
  name: 'updateBankAccount',
  summary: 'Changes its name or credentials: what is left out stays, null takes away.',
  method: 'PATCH',
  path: '/v1/accounts/{slug}',
  idempotencyKey: 'accepted',
  params: ofAccount,
  body: z.object({
    name: filledText(200).nullish(),
    credentials: z.object({ apiKey: headerValue(1).optional(), ...optionalCredentials }).optional(),
    /** Says that another apiKey or accountHeader is still of the same account at the bank. */
    isSameBankAccount: z.boolean('Must be true or false.').optional(),
  }),
  response: accountView,
});

const kinds = ['api', 'partner'] as const;

export const keyView = z.object({
  id: z.string(),
  name: z.string().nullable(),
  kind: z.enum(kinds),
  scopes: z.array(z.string()),
  /** Its last characters. */
  hint: z.string().nullable(),
  createdAt: timestamp,
  expiresAt: timestamp.nullable(),
  revokedAt: timestamp.nullable(),
});
const newKeyView = keyView.extend({ key: z.string() });

export const createKey = route({
  ...base,
  name: 'createKey',
  summary: 'Makes a business system’s key for the account; the answer tells it, once.',
  method: 'POST',
  path: '/v1/accounts/{slug}/keys',
  idempotencyKey: 'accepted',
  successStatus: 201,
  params: ofAccount,
  body: z
    .object({
      name: filledText(100),
      kind: z.enum(kinds, `Must be one of ${kinds.join(', ')}.`).default('api'),
      scopes: z
        .array(z.enum(scopes, `Must be one of ${scopes.join(', ')}.`), 'Must be a list of scopes.')
        .min(1, 'Must name at least one scope.')
        .max(scopes.length, 'Must name each scope once.'),
    })
    .refine(
      ({ kind, scopes: asked }) => kind === 'api' || asked.every((scope) => scope === 'onboard'),
      { path: ['scopes'], message: 'A partner’s key has the scope onboard, and no other.' },
    ),
  response: newKeyView,
});

export const listKeys = route({
  ...base,
  name: 'listKeys',
  summary: 'The account’s keys, newest first.',
  method: 'GET',
  path: '/v1/accounts/{slug}/keys',
  params: ofAccount,
  query: listQuery({}),
  response: listOf(keyView),
});

const maxOverlapSeconds = 30 * 86_400;

export const rotateKey = route({
  ...base,
  name: 'rotateKey',
  summary: 'Makes a key that may do the same; the old one works until the overlap is over.',
  method: 'POST',
  path: '/v1/accounts/{slug}/keys/{id}/rotate',
  idempotencyKey: 'accepted',
  successStatus: 201,
  params: ofKey,
  body: z.object({
    overlapSeconds: integer
      .refine(
        (value) => value >= 0 && value <= maxOverlapSeconds,
        `Must be from 0 to ${maxOverlapSeconds}.`,
      )
      .optional(),
  }),
  response: newKeyView,
});

export const revokeKey = route({
  ...base,
  name: 'revokeKey',
  summary: 'Takes a key back at once.',
  method: 'DELETE',
  path: '/v1/accounts/{slug}/keys/{id}',
  params: ofKey,
  idempotencyKey: 'accepted',
  response: keyView,
});
