// What the bank's ledger and the service's `/v1` report at the end of a round. The checker reads
// nothing else of the service.
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

export interface BankLedger {
  accounts: { number: string; balance: number }[];
  movements: BankMovement[];
  audit: { clean: boolean; problems: string[] };
}

export interface ListedOperation {
  id: string;
  kind: string;
  state: string;
  idempotencyKey: string | null;
  attempts: number;
  reason: string | null;
}

export interface ListedTransaction {
  nsu: number;
  amount: number;
  type: { name: string; isCredit: boolean };
  explanation: { state: string; rule: string | null };
}

export interface ListedBreak {
  id: string;
  kind: string;
  state: string;
  amount: number | null;
  nsu: number | null;
}

/** A transfer, refund or bill payment of `/v1`, with the fields that the checker reads. */
export interface ListedSentPayment {
  id: string;
  /** Absent where the operation's id is `id`. */
  operationId?: string;
  shape?: string;
  externalId?: string | null;
  nsu: number | null;
  state: string;
  settlement: string;
}

export interface ListedEvent {
  id: string;
  type: string;
  data: { operationId?: string; nsu?: number };
}

/** A charge or static QR code. */
export interface ListedCharge {
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

export interface FinalState {
  ledger: BankLedger;
  operations: ListedOperation[];
  transactions: ListedTransaction[];
  breaks: ListedBreak[];
  summary: ReportedSummary;
  transfers: ListedSentPayment[];
  refunds: ListedSentPayment[];
  billPayments: ListedSentPayment[];
  charges: ListedCharge[];
  events: ListedEvent[];
}

export const chaosAccountNumber = '1000001';

export async function readBankLedger(bank: ConciliaProcess): Promise<BankLedger> {
  const path = `/sandbox/ledger?account=${chaosAccountNumber}`;
  return (await bank.callBank<BankLedger>('GET', path)).body;
}

export async function readSummary(service: ConciliaProcess): Promise<ReportedSummary> {
  return (await service.callService<ReportedSummary>('GET', '/v1/summary')).body;
}

export async function readFinalState(
  service: ConciliaProcess,
  bank: ConciliaProcess,
): Promise<FinalState> {
  return {
    ledger: await readBankLedger(bank),
    operations: await listAll<ListedOperation>(service, '/v1/operations'),
    transactions: await listAll<ListedTransaction>(service, '/v1/transactions'),
    breaks: await listAll<ListedBreak>(service, '/v1/breaks'),
    transfers: await listAll<ListedSentPayment>(service, '/v1/transfers'),
    refunds: await listAll<ListedSentPayment>(service, '/v1/refunds'),
    billPayments: await listAll<ListedSentPayment>(service, '/v1/bill-payments'),
    charges: await listAll<ListedCharge>(service, '/v1/charges'),
    events: await listAll<ListedEvent>(service, '/v1/events'),
    summary: await readSummary(service),
  };
}

/** Reads every page of a list. A route that responds 404 gives an empty list. */
export async function listAll<Item>(service: ConciliaProcess, path: string): Promise<Item[]> {
  const all: Item[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const separator = path.includes('?') ? '&' : '?';
    const next: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { status, body }: { status: number; body: { data: Item[]; next: string | null } } =
      await service.callService('GET', `${path}${separator}limit=100${next}`);
    if (status === 404) return all;
    if (status !== 200) throw new Error(`GET ${path} failed: HTTP ${status}`);
    all.push(...body.data);
    cursor = body.next;
  }
  return all;
}
