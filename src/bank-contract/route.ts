// The form in which the contract's endpoints are declared: one value for each. The controller, the
// client, the OpenAPI document and the contract suite all use this value, so they cannot disagree.
import { z } from 'zod';

// Header names are case-insensitive in HTTP: the contract itself writes IdempotencyKey and
// idempotencyKey.
export const apiKeyHeader = 'x-service-api-key';
export const partnerKeyHeader = 'x-service-partner-key';
/** The header of the operator's key. The operator may also send it in the other two headers. */
export const adminKeyHeader = 'x-service-admin-key';
export const idempotencyKeyHeader = 'idempotencykey';

const idempotencyKeyText = /^[\x21-\x7e]{1,255}$/;

/**
 * The contract requires a GUID. Real clients also send other text, so any printable key is valid.
 */
export function isIdempotencyKey(value: string): boolean {
  return idempotencyKeyText.test(value);
}

const guidText = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A GUID is one key in either case. Other keys are compared as they are. */
export function normalizeKey(key: string): string {
  return guidText.test(key) ? key.toLowerCase() : key;
}

/**
 * The largest body of a route in bytes, unless the route declares another. A request with every
 * field at its greatest length is smaller.
 */
export const defaultMaxBodyBytes = 65_536;

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * The key that authenticates the caller: an API key, a partner key, the operator's key, or none.
 */
export type RouteAuthentication = 'api-key' | 'partner-key' | 'admin-key' | 'none';

/** The chapters of the API reference, in their order. */
export const chapters = {
  Charges: 'Slips and Pix codes that customers pay.',
  'Static Pix QR code': 'Codes that are paid any number of times.',
  Statement: 'The lines of the account, and its balance.',
  Transfers: 'Money to accounts, by Pix key or by account.',
  'Batch transfers between accounts': 'Many transfers inside the bank with one request.',
  'Bill payments': 'Slips and taxes that the company pays.',
  Refunds: 'Money of a received Pix that is returned to its payer.',
  'Pix key lookup': 'Whose account a Pix key is.',
  'Customer creation': 'Accounts of customers at the bank.',
  Webhooks: 'Where the bank reports what happened.',
  Operations: 'Every request that was sent to the bank, with its outcome.',
  Approvals: 'Who must approve what is sent.',
  'Payment controls': 'Limits and beneficiaries of what is sent.',
  'Bulk uploads': 'Files with many requests.',
  Reconciliation: 'Lines and the records that explain them.',
  Breaks: 'What is not explained, and what people decide.',
  Rules: 'What explains lines by their kind.',
  Disputes: 'Pix that were contested.',
  'Day closes': 'Certified days and months.',
  Exports: 'Files for people and for other systems.',
  Notifications: 'Events for business systems: endpoints, deliveries and history.',
  Alerts: 'What people are alerted of, and where.',
  'Webhook health': 'Whether the bank reports what its statement shows.',
  'Bank accounts': 'The accounts of the installation, and their keys.',
  'Sandbox control': 'What others do to the sandbox bank: payers, the clock, faults.',
} as const;
export type Chapter = keyof typeof chapters;

export interface Route<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
> {
  /** Unique, in camelCase. It is the operationId in OpenAPI. */
  name: string;
  /** Where the API reference lists it. */
  chapter: Chapter;
  summary: string;
  method: HttpMethod;
  /** Contains `{name}` for each path parameter. */
  path: string;
  authentication: RouteAuthentication;
  /**
   * The use of the `IdempotencyKey` header. `required`: a request without it gets 400. `accepted`:
   * it is optional. `none`: it is ignored.
   */
  idempotencyKey: 'required' | 'accepted' | 'none';
  successStatus: number;
  /** Whether nothing changes where the request is answered. Default: whether the method is GET. */
  isReading: boolean;
  /** Whether the contract lacks the route: it is publicly known of the real service. */
  isBeyondContract: boolean;
  /** Whether a body need not have the contract's exact form. Default: a route of the bank's API. */
  readsLeniently: boolean;
  /** The largest body in bytes. A larger one gets 413. */
  maxBodyBytes: number;
  /**
   * Whether a successful response of the bank may be text, or empty: it counts as a JSON string, or
   * as null.
   */
  mayRespondText: boolean;
  /** Whether the body is a file, which the handler reads while it arrives. */
  hasFileBody: boolean;
  /**
   * Whether fields and parameters that the schemas do not know are 400. Default: on `/v1`. The bank
   * decides what it takes beyond its contract.
   */
  refusesUnknown: boolean;
  /** The content types of a successful response that is not JSON. */
  responseContentTypes?: readonly string[];
  params: Params;
  query: Query;
  body: Body;
  response: Response;
}

/** The decoded parts of a request. */
export interface RouteInput<R extends Route> {
  params: z.output<R['params']>;
  query: z.output<R['query']>;
  body: z.output<R['body']>;
  /** Null when the caller sent none. */
  idempotencyKey: string | null;
}

export type RouteOutput<R extends Route> = z.output<R['response']>;

const noBody = z.undefined();
/** A route of the bank without query parameters ignores any that it receives. */
const anyQuery = z.looseObject({});
const noParams = z.looseObject({});

type RouteDefaults =
  | ('params' | 'query' | 'body' | 'idempotencyKey' | 'successStatus' | 'isReading')
  | ('isBeyondContract' | 'maxBodyBytes' | 'mayRespondText' | 'hasFileBody')
  | ('refusesUnknown' | 'readsLeniently');

/**
 * Declares a route without parameters, query, body or idempotency key, and with status 200, unless
 * given.
 */
export function route<
  Response extends z.ZodType,
  Params extends z.ZodType = typeof noParams,
  Query extends z.ZodType = typeof anyQuery,
  Body extends z.ZodType = typeof noBody,
>(
  declared: Omit<Route<Params, Query, Body, Response>, RouteDefaults> &
    Partial<Pick<Route<Params, Query, Body, Response>, RouteDefaults>>,
): Route<Params, Query, Body, Response> {
  return {
    params: noParams as unknown as Params,
    query: anyQuery as unknown as Query,
    body: noBody as unknown as Body,
    idempotencyKey: 'none',
    successStatus: 200,
    isReading: declared.method === 'GET',
    isBeyondContract: false,
    readsLeniently: declared.path.startsWith('/baas/'),
    maxBodyBytes: defaultMaxBodyBytes,
    mayRespondText: false,
    hasFileBody: false,
    refusesUnknown: declared.path.startsWith('/v1/'),
    ...declared,
  };
}
