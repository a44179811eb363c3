// The settings that bound what a caller may request: rate limits, requests at once, quotas, and
// the proxies whose word on a client's address is believed.
import { isIP } from 'node:net';
import { z } from 'zod';

/** Requests with a key, by what they cost and risk. */
export const requestClasses = ['reads', 'writes', 'money-out', 'look-ups', 'uploads'] as const;
export type RequestClass = (typeof requestClasses)[number];

/** Requests of an address, before a key is read: the bank's webhooks, and all others. */
export const addressClasses = ['requests', 'webhooks'] as const;
export type AddressClass = (typeof addressClasses)[number];

/** Requests per second, by class. 0 is no limit. */
type ClassLimits<Class extends string> = Readonly<Record<Class, number>>;

/** Of all callers together, of one account, and of one key. */
export type ConcurrentRequests = ClassLimits<'total' | 'account' | 'key'>;

/** What each limit means is in docs/reference/limits.md. In all of them, 0 is no limit. */
export interface RequestLimitSettings {
  perKey: ClassLimits<RequestClass>;
  perAccount: ClassLimits<RequestClass>;
  perAddress: ClassLimits<AddressClass>;
  /** Requests that one process works on at once. */
  concurrent: { reads: ConcurrentRequests; changes: ConcurrentRequests };
  /** Requests of one key that wait for that, and how long each of them may wait. */
  waiting: { perKey: number; maxMs: number };
}

/** How many of each an account may have. 0 is no quota. */
export interface Quotas {
  apiKeys: number;
  rules: number;
  unfinishedUploads: number;
  unprocessedWebhooks: number;
}

/** The number of proxies in front of the service, or their addresses and networks. */
export type TrustedProxies = number | readonly string[];

/** `name=number` for some of the names; the others keep their default. */
function numbers<Class extends string>(name: string, defaults: ClassLimits<Class>) {
  const classes = Object.keys(defaults) as Class[];
  const message =
    `${name} must be a list such as ${classes[0]}=100,${classes[1]}=0. ` +
    `Its names are ${classes.join(', ')}; 0 is no limit.`;
  const entry = new RegExp(`^(${classes.join('|')})=(\\d{1,9})$`);
  return z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean),
    )
    .refine((parts) => parts.every((part) => entry.test(part)), message)
    .transform((parts): ClassLimits<Class> => {
      const given = parts.map((part) => part.split('=') as [Class, string]);
      const read = given.map(([one, count]) => [one, Number(count)] as const);
      return { ...defaults, ...(Object.fromEntries(read) as Partial<ClassLimits<Class>>) };
    });
}

const wholeNumber = (name: string) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `${name} must be a whole number; 0 is no limit.`)
    .transform(Number);

const networkNames = ['loopback', 'linklocal', 'uniquelocal'];
const maxHops = 16;
const trustProxyMessage =
  'TRUST_PROXY must be the number of proxies in front of the service, or a comma-separated list ' +
  `of their addresses and networks, such as 10.0.0.0/8,${networkNames[0]}. It must not name ` +
  'every address: then each client could choose the address under which it is limited.';

function isProxyNetwork(text: string): boolean {
  if (networkNames.includes(text)) return true;
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  const length = /^\d{1,3}$/.test(prefix) ? Number(prefix) : 0;
  return length >= 1 && length <= (family === 4 ? 32 : 128);
}

const trustProxy = z
  .string()
  .default('')
  .transform((text): TrustedProxies => {
    if (/^\d+$/.test(text)) return Number(text);
    return text
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean);
  })
  .refine(
    (proxies) => (typeof proxies === 'number' ? proxies <= maxHops : proxies.every(isProxyNetwork)),
    trustProxyMessage,
  );

/**
 * One key may send what the largest known business system sends, some 1,500 charges and transfers
 * per second with a look-up and reads for each. The bank may send 6,000 webhooks per second from
 * one address.
 */
export const requestLimitSchemas = {
  TRUST_PROXY: trustProxy,
  RATE_LIMITS_PER_KEY: numbers<RequestClass>('RATE_LIMITS_PER_KEY', {
    ...{ reads: 3_000, writes: 3_000, 'money-out': 3_000, 'look-ups': 3_000, uploads: 5 },
  }),
  RATE_LIMITS_PER_ACCOUNT: numbers<RequestClass>('RATE_LIMITS_PER_ACCOUNT', {
    ...{ reads: 6_000, writes: 6_000, 'money-out': 6_000, 'look-ups': 6_000, uploads: 10 },
  }),
  RATE_LIMITS_PER_ADDRESS: numbers<AddressClass>('RATE_LIMITS_PER_ADDRESS', {
    ...{ requests: 10_000, webhooks: 20_000 },
  }),
  // A read is work of this process and of PostgreSQL from begin to end: two of them keep both busy.
  CONCURRENT_READS: numbers('CONCURRENT_READS', { total: 8, account: 4, key: 2 }),
  CONCURRENT_CHANGES: numbers('CONCURRENT_CHANGES', { total: 12, account: 10, key: 8 }),
  WAITING_REQUESTS_PER_KEY: wholeNumber('WAITING_REQUESTS_PER_KEY').default(1_000),
  REQUEST_WAIT_MS: wholeNumber('REQUEST_WAIT_MS').default(10_000),
  API_KEYS_PER_ACCOUNT: wholeNumber('API_KEYS_PER_ACCOUNT').default(100),
  RULES_PER_ACCOUNT: wholeNumber('RULES_PER_ACCOUNT').default(1_000),
  UNFINISHED_UPLOADS_PER_ACCOUNT: wholeNumber('UNFINISHED_UPLOADS_PER_ACCOUNT').default(20),
  UNPROCESSED_WEBHOOKS_PER_ACCOUNT: wholeNumber('UNPROCESSED_WEBHOOKS_PER_ACCOUNT').default(
    1_000_000,
  ),
} as const;

type LimitValues = z.output<z.ZodObject<typeof requestLimitSchemas>>;

export function readRequestLimits(values: LimitValues): {
  trustedProxies: TrustedProxies;
  requestLimits: RequestLimitSettings;
  quotas: Quotas;
} {
  return {
    trustedProxies: values.TRUST_PROXY,
    requestLimits: {
      perKey: values.RATE_LIMITS_PER_KEY,
      perAccount: values.RATE_LIMITS_PER_ACCOUNT,
      perAddress: values.RATE_LIMITS_PER_ADDRESS,
      concurrent: { reads: values.CONCURRENT_READS, changes: values.CONCURRENT_CHANGES },
      waiting: { perKey: values.WAITING_REQUESTS_PER_KEY, maxMs: values.REQUEST_WAIT_MS },
    },
    quotas: {
      apiKeys: values.API_KEYS_PER_ACCOUNT,
      rules: values.RULES_PER_ACCOUNT,
      unfinishedUploads: values.UNFINISHED_UPLOADS_PER_ACCOUNT,
      unprocessedWebhooks: values.UNPROCESSED_WEBHOOKS_PER_ACCOUNT,
    },
  };
}
