// What the checker may look at: the bank's ledger, and what the service tells of its own book.
import type { ConciliaProcess } from '../support/concilia-process.js';

export interface BankMovement {
  nsu: number;
  amount: number;
  isCredit: boolean;
  type: string;
  endToEndId: string | null;
  correlationId: string | null;
  externalId: string | null;
  originalEndToEndId: string | null;
  idempotencyKey: string | null;
}

export interface Ledger {
  accounts: { number: string; balance: number }[];
  movements: BankMovement[];
  audit: { clean: boolean; problems: string[] };
}

export interface ToldOperation {
  id: string;
  kind: string;
  state: string;
  idempotencyKey: string | null;
  attempts: number;
  reason: string | null;
}

export interface ToldTransaction {
  nsu: number;
  amount: number;
  type: { name: string; isCredit: boolean };
  explanation: { state: string; rule: string | null };
}

export interface ToldBreak {
  id: string;
  kind: string;
  state: string;
  amount: number | null;
  nsu: number | null;
}

/** A transfer, refund or bill payment of `/v1`, as far as this looks at it. */
export interface ToldThing {
  id: string;
  /** Left out where it is the id. */
  operationId?: string;
  shape?: string;
  externalId?: string | null;
  nsu: number | null;
  state: string;
  settlement: string;
}

export interface ToldEvent {
  id: string;
  type: string;
  data: { operationId?: string; nsu?: number };
}

/** A charge or static QR code. */
export interface ToldCharge {
  correlationId: string;
  settlement: string;
  payments: { nsu: number }[];
}

export interface ToldSummary {
  statement: { complete: boolean; balance: number | null };
  transactions: { total: number; pending: number; inBreak: number };
  operations: { sending: number; unknown: number; needsOperator: number };
  webhooks: { pending: number };
}

export interface Books {
  ledger: Ledger;
  operations: ToldOperation[];
  transactions: ToldTransaction[];
  breaks: ToldBreak[];
  summary: ToldSummary;
  transfers: ToldThing[];
  refunds: ToldThing[];
  billPayments: ToldThing[];
  charges: ToldCharge[];
  events: ToldEvent[];
}

export const ourAccount = '1000001';

export async function readLedger(bank: ConciliaProcess): Promise<Ledger> {
  return (await bank.bank<Ledger>('GET', `/sandbox/ledger?account=${ourAccount}`)).body;
}

export async function readSummary(service: ConciliaProcess): Promise<ToldSummary> {
  return (await service.ask<ToldSummary>('GET', '/v1/summary')).body;
}

export async function readBooks(service: ConciliaProcess, bank: ConciliaProcess): Promise<Books> {
  return {
    ledger: await readLedger(bank),
    operations: await listAll<ToldOperation>(service, '/v1/operations'),
    transactions: await listAll<ToldTransaction>(service, '/v1/transactions'),
    breaks: await listAll<ToldBreak>(service, '/v1/breaks'),
    transfers: await listAll<ToldThing>(service, '/v1/transfers'),
    refunds: await listAll<ToldThing>(service, '/v1/refunds'),
    billPayments: await listAll<ToldThing>(service, '/v1/bill-payments'),
    charges: await listAll<ToldCharge>(service, '/v1/charges'),
    events: await listAll<ToldEvent>(service, '/v1/events'),
    summary: await readSummary(service),
  };
}

/** Every page of a list; a chapter that is not served has nothing. */
export async function listAll<Item>(service: ConciliaProcess, path: string): Promise<Item[]> {
  const all: Item[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const query: string = `${path.includes('?') ? '&' : '?'}limit=100${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
    const { status, body }: { status: number; body: { data: Item[]; next: string | null } } =
      await service.ask('GET', path + query);
    if (status === 404) return all;
    if (status !== 200) throw new Error(`GET ${path} answers ${status}`);
    all.push(...body.data);
    cursor = body.next;
  }
  return all;
}
