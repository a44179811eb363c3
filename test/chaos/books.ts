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

export interface ReportedOperation {
  id: string;
  kind: string;
  state: string;
  idempotencyKey: string | null;
  attempts: number;
  reason: string | null;
}

export interface ReportedTransaction {
  nsu: number;
  amount: number;
  type: { name: string; isCredit: boolean };
  explanation: { state: string; rule: string | null };
}

export interface ReportedBreak {
  id: string;
  kind: string;
  state: string;
  amount: number | null;
  nsu: number | null;
}

/** A transfer, refund or bill payment of `/v1`, as far as this looks at it. */
export interface ReportedThing {
  id: string;
  /** Left out where it is the id. */
  operationId?: string;
  shape?: string;
  externalId?: string | null;
  nsu: number | null;
  state: string;
  settlement: string;
}

export interface ReportedEvent {
  id: string;
  type: string;
  data: { operationId?: string; nsu?: number };
}

/** A charge or static QR code. */
export interface EventCharge {
  correlationId: string;
  settlement: string;
  payments: { nsu: number }[];
}

export interface ReportedSummary {
  statement: { complete: boolean; balance: number | null };
  transactions: { total: number; pending: number; inBreak: number };
  operations: { sending: number; unknown: number; needsOperator: number };
  webhooks: { pending: number };
}

export interface Books {
  ledger: Ledger;
  operations: ReportedOperation[];
  transactions: ReportedTransaction[];
  breaks: ReportedBreak[];
  summary: ReportedSummary;
  transfers: ReportedThing[];
  refunds: ReportedThing[];
  billPayments: ReportedThing[];
  charges: EventCharge[];
  events: ReportedEvent[];
}

export const ourAccount = '1000001';

export async function readLedger(bank: ConciliaProcess): Promise<Ledger> {
  return (await bank.callBank<Ledger>('GET', `/sandbox/ledger?account=${ourAccount}`)).body;
}

export async function readSummary(service: ConciliaProcess): Promise<ReportedSummary> {
  return (await service.callService<ReportedSummary>('GET', '/v1/summary')).body;
}

export async function readBooks(service: ConciliaProcess, bank: ConciliaProcess): Promise<Books> {
  return {
    ledger: await readLedger(bank),
    operations: await listAll<ReportedOperation>(service, '/v1/operations'),
    transactions: await listAll<ReportedTransaction>(service, '/v1/transactions'),
    breaks: await listAll<ReportedBreak>(service, '/v1/breaks'),
    transfers: await listAll<ReportedThing>(service, '/v1/transfers'),
    refunds: await listAll<ReportedThing>(service, '/v1/refunds'),
    billPayments: await listAll<ReportedThing>(service, '/v1/bill-payments'),
    charges: await listAll<EventCharge>(service, '/v1/charges'),
    events: await listAll<ReportedEvent>(service, '/v1/events'),
    summary: await readSummary(service),
  };
}

/** Every page of a list; a chapter that is not served has nothing. */
export async function listAll<Item>(service: ConciliaProcess, path: string): Promise<Item[]> {
  const all: Item[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const query: string = `${path.includes('?') ? '&' : '?'}limit=100${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
    const { status, body }: { status: number; body: { data: Item[]; next: string | null } } =
      await service.callService('GET', path + query);
    if (status === 404) return all;
    if (status !== 200) throw new Error(`GET ${path} answers ${status}`);
    all.push(...body.data);
    cursor = body.next;
  }
  return all;
}
