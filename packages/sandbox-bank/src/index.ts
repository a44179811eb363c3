// What a test imports: starts a bank in a process of its own, and calls its control plane by HTTP.
import { bankProcess, type StartedBank } from './bank-process.js';
import { isoDuration } from './duration.js';
import { fromWire, toWire } from './amounts.js';
import type { DisputeEvent, FaultEndpoint, FaultKind, Preset } from './words.js';

export type { DisputeEvent, FaultEndpoint, FaultKind, Preset } from './words.js';

/** In reais, exact: '149.90'. */
export type Amount = string;

export interface AccountOptions {
  name?: string;
  /** CPF or CNPJ. */
  document?: string;
  balance?: Amount;
  apiKey?: string;
  pixKeys?: readonly string[];
}

export interface ClockOptions {
  /** The bank's time at its start and after each reset, ISO 8601. Left out: the machine's time. */
  now?: string;
  /** A frozen clock moves by `advance` alone. */
  frozen?: boolean;
}

export interface FaultOptions {
  kind: FaultKind;
  endpoint: FaultEndpoint;
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** How often it fires. With neither `times` nor `probability` it fires every time. */
  times?: number;
  /** From 0 to 1. With a `seed`, every run is the same. */
  probability?: number;
  seed?: number;
  /** Why a Pix fails by `async-error`, such as `AB03`. */
  code?: string;
  delayMs?: number;
}

export interface BankOptions {
  /** Left out: three accounts, with R$ 100,000.00, R$ 5,000.00 and R$ 50,000.00. */
  accounts?: readonly AccountOptions[];
  clock?: ClockOptions;
  /** What the bank shows beyond its contract. Left out: `published`. */
  preset?: Preset;
  faults?: readonly FaultOptions[];
  /** Left out: a free one. */
  port?: number;
}

export interface BankAccount {
  branch: string;
  number: string;
  apiKey: string;
}

/** A movement as its line shows it. */
export interface Movement {
  nsu: number;
  account: string;
  amount: Amount;
  isCredit: boolean;
  type: string;
  endToEndId: string | null;
  correlationId: string | null;
  externalId: string | null;
  originalEndToEndId: string | null;
  idempotencyKey: string | null;
  createdAt: string;
}

export interface Ledger {
  accounts: { branch: string; number: string; balance: Amount }[];
  movements: Movement[];
  audit: { clean: boolean; problems: string[] };
}

export interface Payer {
  name?: string;
  document?: string;
}

export interface ReceivedPix {
  /** The text of a QR code may have the amount. */
  amount?: Amount;
  /** At most one of the three; with none, nobody expects the Pix. */
  key?: string;
  payloadPix?: string;
  correlationId?: string;
  payer?: Payer;
  /** The number of the account that receives it. Left out: the first one. */
  account?: string;
}

export interface Payment {
  correlationId: string;
  status: string;
  amount: Amount;
  nsu: number;
  endToEndId: string | null;
  createdAt: string;
}

export interface Dispute {
  endToEndId: string;
  /** Left out: `MED_REQUESTED`. */
  eventType?: DisputeEvent;
  amount?: Amount;
  deadline?: string;
  account?: string;
}

export interface Fault extends Required<Pick<FaultOptions, 'kind' | 'endpoint'>> {
  id: string;
  /** How often it could have fired, and how often it did. */
  chances: number;
  fired: number;
}

/** The bank refused a call. */
export class BankError extends Error {
  override readonly name = 'BankError';

  constructor(
    readonly status: number,
    /** With `title`, and `code` or `errors` where the bank says more. */
    readonly body: unknown,
    call: string,
  ) {
    super(`${call} answered ${status}: ${JSON.stringify(body)}`);
  }
}

export interface Bank {
  /** The base URL of the bank's API, such as `http://127.0.0.1:41234`. */
  readonly url: string;
  /** The key of the first account, for the header `x-service-api-key`. */
  readonly apiKey: string;
  /** One key an account. */
  readonly apiKeys: readonly string[];
  readonly accounts: readonly BankAccount[];
  /** The key of the onboarding API, for the header `x-service-partner-key`. */
  readonly partnerKey: string;
  /** Pays what a charge costs today. */
  pay(correlationId: string, options?: { account?: string }): Promise<Payment>;
  receivePix(pix: ReceivedPix): Promise<Movement>;
  /** Sends the webhook of an infraction or of a MED request. No money moves. */
  dispute(dispute: Dispute): Promise<{ id: string; eventType: string; endToEndId: string }>;
  /** Moves the clock by '2 days', '1 hour 30 minutes' or 'P2D'; what is due is done then. */
  advance(duration: string): Promise<Date>;
  now(): Promise<Date>;
  fault(fault: FaultOptions): Promise<Fault>;
  removeFaults(): Promise<void>;
  ledger(options?: { account?: string; after?: number; limit?: number }): Promise<Ledger>;
  /** Any other call: `bank.call('POST', '/sandbox/bills', { … })`. Amounts are exact texts. */
  call(
    method: string,
    path: string,
    body?: object,
    headers?: Readonly<Record<string, string>>,
  ): Promise<unknown>;
  /** The bank as it was started, with its first clock and faults. */
  reset(): Promise<void>;
  /** Ends the bank with its PostgreSQL, and deletes its data. */
  stop(): Promise<void>;
}

/** Starts a bank with a PostgreSQL of its own. It ends with this process at the latest. */
export async function startBank(options: BankOptions = {}): Promise<Bank> {
  const { faults = [], ...settings } = options;
  const started = await bankProcess(settings);
  const bank = connect(started, faults);
  try {
    await addFaults(bank, faults);
  } catch (error) {
    await bank.stop();
    throw error;
  }
  return bank;
}

function connect(
  { url, accounts, partnerKey, stop }: StartedBank,
  faults: readonly FaultOptions[],
): Bank {
  const [first] = accounts;
  if (!first) throw new Error('The bank has no account.');
  const keyOf = (number: string | undefined): string => {
    const account = number === undefined ? first : accounts.find((one) => one.number === number);
    if (!account) throw new TypeError(`The bank has no account ${number}.`);
    return account.apiKey;
  };
  const call: Bank['call'] = async (method, path, body, headers = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        'x-service-api-key': first.apiKey,
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(body ? { body: JSON.stringify(toWire(body)) } : {}),
    });
    const answer = fromWire(await response.text());
    if (!response.ok) throw new BankError(response.status, answer, `${method} ${path}`);
    return answer;
  };
  /** The bank's answers are those of its reference, which a test of each method holds. */
  const ask = async <Answer>(...request: Parameters<typeof call>) =>
    (await call(...request)) as Answer;
  const timeOf = async (answer: Promise<{ now: string }>) => new Date((await answer).now);
  const bank: Bank = {
    ...{ url, accounts, partnerKey, apiKey: first.apiKey, call, stop },
    apiKeys: accounts.map(({ apiKey }) => apiKey),
    pay: async (correlationId, { account } = {}) =>
      ask('POST', `/baas/v1/charges/${encodeURIComponent(correlationId)}/pay`, undefined, {
        'x-service-api-key': keyOf(account),
      }),
    receivePix: (pix) => ask('POST', '/sandbox/pix/received', pix),
    dispute: (dispute) =>
      ask('POST', '/sandbox/disputes', { eventType: 'MED_REQUESTED', ...dispute }),
    advance: async (duration) =>
      timeOf(ask('POST', '/sandbox/clock', { advance: isoDuration(duration) })),
    now: () => timeOf(ask('GET', '/sandbox/clock')),
    fault: (fault) => ask('POST', '/sandbox/faults', fault),
    removeFaults: async () => {
      await call('DELETE', '/sandbox/faults');
    },
    ledger: (query = {}) => {
      const fields = Object.entries(query).map(([name, value]) => [name, String(value)]);
      return ask('GET', `/sandbox/ledger?${new URLSearchParams(fields)}`);
    },
    reset: async () => {
      await call('POST', '/sandbox/reset');
      await addFaults(bank, faults);
    },
  };
  return bank;
}

async function addFaults(bank: Bank, faults: readonly FaultOptions[]): Promise<void> {
  for (const fault of faults) await bank.fault(fault);
}
