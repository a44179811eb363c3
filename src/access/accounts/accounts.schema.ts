// The routes by which an operator manages bank accounts and API keys. No response holds a
// credential, and an API key is shown only in the response that creates it.
import { z } from 'zod';
import { failing } from '../../bank-contract/field-errors.js';
import { route } from '../../bank-contract/route.js';
import { AccountMode } from '../../generated/service/enums.js';
import {
  filledText,
  instant,
  integer,
  text,
  integerBetween,
  nameSchemas,
} from '../../bank-contract/wire.js';
import { listOf, listQuery } from '../../platform/http/listing.js';
import { bankDetails, bankDetailsView } from './bank-details.schema.js';
import { certificatePem, privateKeyPem } from './certificates.schema.js';
import { firstAccountModes } from '../../platform/settings/config.js';
import { isFreeHeader } from '../../platform/settings/setting-values.js';
import { scopes } from './scope.decorator.js';

const base = { chapter: 'Bank accounts', authentication: 'admin-key' } as const;
/** A certificate, its key and an authority's certificate may be long. */
const maxBodyBytes = 131_072;
const accountParams = z.object({ slug: text(60) });
const keyParams = z.object({ slug: text(60), id: text(100) });

const slug = text(60).regex(/^[a-z0-9]([a-z0-9-]{0,58}[a-z0-9])?$/, failing('slug'));
const headerName = text(60)
  .regex(/^[A-Za-z0-9-]+$/, failing('header_name'))
  .refine((name) => isFreeHeader(name), 'Must not be a header that every request already has.')
  .transform((name) => name.toLowerCase());
const headerValue = (minLength: number) =>
  text(2000)
    .regex(/^[\x21-\x7e]+$/, 'Must be printable characters without spaces.')
    .min(minLength);
const goLiveText = text(40).refine(
  (value) => /^\d{4}-\d{2}-\d{2}T/.test(value) && !Number.isNaN(Date.parse(value)),
  'Must be an ISO 8601 date and time.',
);
const rateLimit = integerBetween(1, 100_000);

const weight = integerBetween(1, 100);
const triesKey = z
  .boolean()
  .optional()
  .describe(
    'Tries the key at the bank first. Where the bank does not accept it, nothing is saved.',
  );

const optionalCredentials = {
  partnerKey: headerValue(1).nullish(),
  apiKeyHeader: headerName.nullish(),
  partnerKeyHeader: headerName.nullish(),
  accountHeader: z.object({ name: headerName, value: headerValue(1) }).nullish(),
  clientCertificate: certificatePem.nullish(),
  clientKey: privateKeyPem.nullish(),
  ca: certificatePem.nullish(),
  rateLimitPerSecond: rateLimit.nullish(),
  webhookSecret: headerValue(16).nullish(),
};

export const accountView = z.object({
  slug: z.string(),
  name: z.string().nullable(),
  origin: z.enum(['settings', 'api']).describe('`settings`: its credentials are settings.'),
  mode: z.enum(AccountMode).describe('`/v1/accounts/{slug}/mode` has who changed it, and why.'),
  registersWebhooks: z.boolean().describe('Whether the service registers webhooks at the bank.'),
  weight: integer.describe('How many turns its requests get for each turn of one with weight 1.'),
  goLiveAt: instant.nullable().describe("Null until a sync has read the bank's clock."),
  /** What export files state of the account. Null: not set, or of the sandbox bank. */
  bankDetails: bankDetailsView.nullable(),
  credentialsSet: z.array(z.string()).describe('The names of the credentials that are set.'),
  createdAt: instant,
  updatedAt: instant,
});

export const createAccount = route({
  ...base,
  name: 'createBankAccount',
  summary: 'Adds a bank account, registers its webhooks and starts to sync its statement.',
  method: 'POST',
  path: '/v1/accounts',
  idempotencyKey: 'accepted',
  maxBodyBytes,
  successStatus: 201,
  body: z.object({
    slug,
    name: filledText(200).nullish(),
    goLiveAt: goLiveText.nullish(),
    mode: z.enum(firstAccountModes).optional().describe('`reconcile_only`: nothing is ever sent.'),
    registersWebhooks: z.boolean().optional().describe('By default true in `live` only.'),
    weight: weight.optional().describe('By default 1.'),
    bankDetails: bankDetails.nullish(),
    credentials: z.object({ apiKey: headerValue(1), ...optionalCredentials }),
    triesKey,
  }),
  response: accountView,
});

export const listAccounts = route({
  ...base,
  name: 'listBankAccounts',
  summary: 'Lists the bank accounts, newest first.',
  method: 'GET',
  path: '/v1/accounts',
  query: listQuery({}),
  response: listOf(accountView),
});

export const getAccount = route({
  ...base,
  name: 'getBankAccount',
  summary: 'Returns one bank account.',
  method: 'GET',
  path: '/v1/accounts/{slug}',
  params: accountParams,
  response: accountView,
});

export const updateAccount = route({
  ...base,
  name: 'updateBankAccount',
  summary:
    'Changes the name, weight, bank details or credentials of an account. ' +
    'Omitted fields stay, null removes a value. Bank details are replaced as a whole.',
  method: 'PATCH',
  path: '/v1/accounts/{slug}',
  idempotencyKey: 'accepted',
  maxBodyBytes,
  params: accountParams,
  body: z.object({
    name: filledText(200).nullish(),
    weight: weight.optional().describe('For the requests that arrive after the change.'),
    bankDetails: bankDetails.nullish(),
    credentials: z.object({ apiKey: headerValue(1).optional(), ...optionalCredentials }).optional(),
    /** Confirms that the new apiKey or accountHeader is of the same account at the bank. */
    isSameBankAccount: z.boolean().optional(),
    triesKey,
  }),
  response: accountView,
});

const kinds = ['api', 'partner'] as const;

export const keyView = z.object({
  id: z.string(),
  name: z.string().nullable(),
  kind: z.enum(kinds),
  scopes: z.array(z.string()),
  hint: z.string().nullable().describe('The last characters of the key.'),
  createdAt: instant,
  expiresAt: instant.nullable(),
  revokedAt: instant.nullable(),
});
const newKeyView = keyView.extend({ key: z.string() });

export const createKey = route({
  ...base,
  name: 'createKey',
  summary: 'Creates an API key for the account. Only this response shows the key.',
  method: 'POST',
  path: '/v1/accounts/{slug}/keys',
  idempotencyKey: 'accepted',
  successStatus: 201,
  params: accountParams,
  body: z
    .object({
      name: filledText(100),
      kind: z.enum(kinds).default('api'),
      scopes: z.array(z.enum(scopes)).min(1).max(scopes.length),
      /** A person who has the key: with it, they are the same maker and the same approver. */
      holder: text(60)
        .regex(/^person:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'Must be person: and an id.')
        .optional(),
    })
    .refine(
      ({ kind, scopes: requested }) =>
        kind === 'api' || requested.every((scope) => scope === 'onboard'),
      { path: ['scopes'], message: 'A partner key can only have the scope onboard.' },
    ),
  response: newKeyView,
});

export const listKeys = route({
  ...base,
  name: 'listKeys',
  summary: 'Lists the API keys of the account, newest first.',
  method: 'GET',
  path: '/v1/accounts/{slug}/keys',
  params: accountParams,
  query: listQuery({}),
  response: listOf(keyView),
});

const maxOverlapSeconds = 30 * 86_400;

export const rotateKey = route({
  ...base,
  name: 'rotateKey',
  summary: 'Creates a successor with the same scopes. The old key works until the overlap ends.',
  method: 'POST',
  path: '/v1/accounts/{slug}/keys/{id}/rotate',
  idempotencyKey: 'accepted',
  successStatus: 201,
  params: keyParams,
  body: z.object({
    overlapSeconds: integerBetween(0, maxOverlapSeconds).optional(),
  }),
  response: newKeyView,
});

export const revokeKey = route({
  ...base,
  name: 'revokeKey',
  summary: 'Revokes a key at once.',
  method: 'DELETE',
  path: '/v1/accounts/{slug}/keys/{id}',
  params: keyParams,
  idempotencyKey: 'accepted',
  response: keyView,
});

nameSchemas({ Account: accountView, ApiKey: keyView, NewApiKey: newKeyView });
