// The journal of outbound requests on a real database, with a bank client whose responses a test
// scripts.
import type { BankResponse, UnknownOutcome } from '../../src/bank/response-classification.js';
import type { BankProfile } from '../../src/bank/profiles.js';
import { createCharge } from '../../src/bank-contract/charges.js';
import type { RouteInput } from '../../src/bank-contract/route.js';
import type { Database } from '../../src/platform/postgres/database.service.js';
import { EventsService } from '../../src/events/events.service.js';
import { ApprovalRequirements } from '../../src/outbound/operations/approval-requirements.service.js';
import { OperationRecovery } from '../../src/outbound/operations/operation-recovery.service.js';
import { OperationSender } from '../../src/outbound/operations/operation-sender.service.js';
import { OperationStorage } from '../../src/outbound/operations/operation-storage.service.js';
import { OperationOutcomes } from '../../src/outbound/operations/operation-outcomes.service.js';
import {
  noPreferences,
  type OperationRequest,
  type Operation,
  type OperationKind,
} from '../../src/outbound/operations/operation.js';
import { OperationsService } from '../../src/outbound/operations/operations.service.js';
import { PaymentControls } from '../../src/outbound/payment-controls/payment-controls.service.js';
import { PossibleDuplicates } from '../../src/outbound/operations/possible-duplicates.service.js';
import { secretBoxOf } from './secret-box.js';
import { recordedQueues } from './recorded-queues.js';

export type ScriptedResponse = BankResponse<never>;
export type ChargeKind = OperationKind<typeof createCharge>;

export const accepted = {
  outcome: 'success',
  status: 200,
  text: '{"ok":true}',
  value: {},
  date: null,
} as never as ScriptedResponse;
export const rejected: ScriptedResponse = {
  outcome: 'rejection',
  status: 422,
  text: '{"title":"no"}',
};
export const unknownResponse = (
  reason: UnknownOutcome['reason'] = 'no_response',
  more: Partial<UnknownOutcome> = {},
): ScriptedResponse => ({ outcome: 'unknown', reason, status: null, ...more });

/** Gives the scripted responses in turn, then accepts every request. Records the requests. */
export class ScriptedBankClient {
  readonly profile = {
    isRepeatSafe: true,
    hasStatusById: false,
    visibilityBoundMs: null,
  } as Pick<BankProfile, 'isRepeatSafe' | 'hasStatusById' | 'visibilityBoundMs'>;
  script: (ScriptedResponse | (() => Promise<ScriptedResponse>))[] = [];
  sent: { key: string | null; body: string | null }[] = [];

  call = async (
    _route: unknown,
    _account: unknown,
    { idempotencyKey }: RouteInput<typeof createCharge>,
    { exactBody }: { exactBody: string | null },
  ): Promise<ScriptedResponse> => {
    this.sent.push({ key: idempotencyKey, body: exactBody });
    await new Promise((resolve) => setImmediate(resolve));
    const next = this.script.shift() ?? accepted;
    return typeof next === 'function' ? next() : next;
  };
}

/** A kind without outgoing money, as charges are. */
export const chargeKind: ChargeKind = {
  name: 'create_charge',
  route: createCharge,
  repeat: 'keyed',
  echoes: () => true,
  rowWrites: () => [],
  onRejected: () => Promise.resolve(),
};

/** The journal's services as one process holds them. */
export function createJournal(
  database: Database,
  bank: ScriptedBankClient,
  kinds: ChargeKind[] = [chargeKind],
  possibleDuplicates: { policy: 'off' | 'warn' | 'refuse'; windowMinutes: number } = {
    policy: 'off',
    windowMinutes: 60,
  },
) {
  const enqueuedJobs: string[] = [];
  const queueOf = recordedQueues((job) => enqueuedJobs.push(job));
  const accounts = { get: (id: number) => Promise.resolve({ id, slug: 'main' }) } as never;
  const events = new EventsService(database, queueOf('deliverEvents'));
  const outcomes = new OperationOutcomes(
    database,
    events,
    queueOf('reconcile'),
    queueOf('advanceOperation'),
  );
  const sender = new OperationSender(database, accounts, bank as never, outcomes);
  const recovery = new OperationRecovery(
    database,
    accounts,
    bank as never,
    sender,
    outcomes,
    queueOf('advanceOperation'),
    queueOf('closeStatement'),
  );
  const operations = new OperationsService(
    database,
    secretBoxOf(),
    outcomes,
    sender,
    new OperationStorage(
      database,
      accounts,
      new PossibleDuplicates({ possibleDuplicates } as never),
      new PaymentControls(),
      new ApprovalRequirements(events, secretBoxOf()),
    ),
    queueOf('advanceOperation'),
  );
  for (const kind of kinds) operations.register(kind);
  return { operations, recovery, sender, outcomes, enqueuedJobs };
}

export interface ChargeOptions {
  accountId: number;
  correlationId?: string;
  key?: string | null;
  amountCents?: bigint;
}

/** A request for a charge. */
export function chargeOperation({
  accountId,
  correlationId = 'order-1',
  key = null,
  amountCents = 1_000n,
}: ChargeOptions): OperationRequest<typeof createCharge> {
  return {
    accountId,
    idempotencyKey: key,
    naturalIdentity: `correlationId ${correlationId}`,
    input: {
      params: {},
      query: {},
      idempotencyKey: key,
      body: {
        type: 'BANKSLIP',
        correlationId,
        dueDate: '2030-12-31',
        Amount: amountCents,
        payer: { name: 'Maria', document: '12345678909' },
      },
    },
    expectedPayments: [
      {
        isCredit: true,
        amountCents,
        dueDate: '2030-12-31',
        terms: null,
        isMultiUse: false,
        references: [{ kind: 'correlation_id', value: correlationId }],
      },
    ],
    joinsSameRequest: false,
    outgoing: null,
    preferences: noPreferences,
    rowOf: () => correlationId,
  };
}

/**
 * A request that sends money to one counterparty, R$ 10.00 by default; a batch when it has several
 * movements.
 */
export function outgoingOperation(
  options: ChargeOptions & {
    isDistinguishable?: boolean;
    externalId?: string;
    counterparty?: string;
    movements?: number;
  },
): OperationRequest<typeof createCharge> {
  const { isDistinguishable = false, externalId } = options;
  const { counterparty = '1/1/1', movements = 1 } = options;
  const request = chargeOperation(options);
  const [expected] = request.expectedPayments;
  const { amountCents = 1_000n } = options;
  const debit = { ...expected, isCredit: false, dueDate: null, amountCents, references: [] };
  return {
    ...request,
    naturalIdentity: null,
    input: { ...request.input, body: { ...request.input.body, externalId } },
    outgoing: { counterparty, amountCents, isDistinguishable },
    expectedPayments: Array.from({ length: movements }, () => ({ ...debit }) as never),
  };
}

export async function listStoredOperations(
  database: Database,
  accountId: number,
): Promise<Operation[]> {
  const rows = await database.prisma.operation.findMany({
    where: { accountId },
    orderBy: { id: 'asc' },
  });
  return rows as Operation[];
}

/** The account's operation; throws when there is none or more than one. */
export async function onlyOperation(database: Database, accountId: number): Promise<Operation> {
  const [operation, ...others] = await listStoredOperations(database, accountId);
  if (!operation || others.length > 0)
    throw new Error(`expected one operation, found ${operation ? others.length + 1 : 0}`);
  return operation;
}

/** Makes every unfinished operation due, also by the end of its lease, and advances all of them. */
export async function advanceAllOperations(
  database: Database,
  accountId: number,
  recovery: OperationRecovery,
): Promise<void> {
  await database.pool.query(
    `UPDATE operation SET next_action_at = now() - interval '1 second'
     WHERE account_id = $1 AND next_action_at IS NOT NULL`,
    [accountId],
  );
  for (const { id } of await listStoredOperations(database, accountId))
    await recovery.advance({ accountId, operationId: id });
}

/** Moves the creation and the attempts of all operations into the past by an interval. */
export async function makeOlder(
  database: Database,
  accountId: number,
  interval: string,
): Promise<void> {
  await database.pool.query(
    `UPDATE operation SET created_at = created_at - $2::interval WHERE account_id = $1`,
    [accountId, interval],
  );
  await database.pool.query(
    `UPDATE operation_attempt
     SET started_at = started_at - $2::interval, send_by = send_by - $2::interval
     WHERE account_id = $1`,
    [accountId, interval],
  );
}

/** Stores a decided debit line, matched to an expected payment where one is named. */
export async function storeLine(
  database: Database,
  accountId: number,
  {
    nsu,
    cents = 1_000,
    expectedPaymentId = null,
    ago = null,
  }: { nsu: number; cents?: number; expectedPaymentId?: string | null; ago?: string | null },
): Promise<void> {
  await database.pool.query(
    `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
       balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
     VALUES ($1, $2::bigint, $2::bigint::text, false, $3, 'DEBIT_PIX', 0, 0,
       COALESCE(now() - $4::interval,
                (SELECT min(started_at) FROM operation_attempt WHERE account_id = $1), now()),
       $2::bigint::text, '{}')`,
    [accountId, nsu, cents, ago],
  );
  if (expectedPaymentId !== null)
    await database.pool.query(
      `WITH matched AS (
         INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, rule, evidence)
         VALUES ($1, gen_random_uuid(), $2, $3, $4, 'reference', '{}'))
       INSERT INTO expected_payment_total AS total (account_id, expected_payment_id, paid_cents,
         reversed_cents, refunded_cents, unrefunded_cents, settlement)
       VALUES ($1, $3, $4, 0, 0, $4, 'settled')
       ON CONFLICT (account_id, expected_payment_id)
         DO UPDATE SET paid_cents = total.paid_cents + EXCLUDED.paid_cents`,
      [accountId, nsu, expectedPaymentId, cents],
    );
  await markLinesDecided(database, accountId);
}

/** As if reconciliation had decided everything that is due. */
export async function markLinesDecided(database: Database, accountId: number): Promise<void> {
  await database.pool.query('DELETE FROM reconciliation_task WHERE account_id = $1', [accountId]);
  await database.pool.query(
    `INSERT INTO reconciliation_state (account_id, decided_arrival)
     SELECT $1, COALESCE(max(arrival), 0) FROM statement_line WHERE account_id = $1
     ON CONFLICT (account_id) DO UPDATE SET decided_arrival = EXCLUDED.decided_arrival`,
    [accountId],
  );
}

/** A sync completed a day ago and measured the bank's clock. */
export async function measureClock(database: Database, accountId: number): Promise<void> {
  await database.pool.query(
    `INSERT INTO statement_state (account_id, clock_measured_at)
     VALUES ($1, now() - interval '1 day')`,
    [accountId],
  );
}

/**
 * A sync completes, and the statement is closed from two days ago until now, or until `before`
 * earlier than now.
 */
export async function closeStatement(
  database: Database,
  accountId: number,
  before = '0 seconds',
): Promise<void> {
  await database.pool.query('DELETE FROM reconciliation_task WHERE account_id = $1', [accountId]);
  await database.pool.query(
    `INSERT INTO statement_state
       (account_id, closed_from, closed_until, last_sync_started_at, clock_measured_at)
     VALUES ($1, now() - interval '2 days', now() - $2::interval, now(), now())
     ON CONFLICT (account_id) DO UPDATE
     SET closed_from = EXCLUDED.closed_from, closed_until = EXCLUDED.closed_until,
       last_sync_started_at = EXCLUDED.last_sync_started_at,
       clock_measured_at = EXCLUDED.clock_measured_at`,
    [accountId, before],
  );
}

export async function expectedPaymentIds(database: Database, accountId: number): Promise<string[]> {
  const rows = await database.prisma.expectedPayment.findMany({
    where: { accountId },
    orderBy: { id: 'asc' },
  });
  return rows.map(({ id }) => id);
}

export async function eventTypesOf(database: Database, accountId: number): Promise<string[]> {
  const rows = await database.prisma.event.findMany({
    where: { accountId },
    orderBy: { id: 'asc' },
  });
  return rows.map(({ type }) => type);
}
