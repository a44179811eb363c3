// The journal of outbound intents on a real database, before a bank whose answers a test lays out.
import type { BankAnswer } from '../../src/bank/answer.js';
import type { BankProfile } from '../../src/bank/profiles.js';
import { createCharge } from '../../src/contract/charges.js';
import type { RouteInput } from '../../src/contract/route.js';
import type { Database } from '../../src/database.service.js';
import { EventsService } from '../../src/events/events.service.js';
import { ExpectedPaymentsService } from '../../src/expected-payments/expected-payments.service.js';
import { OperationRecovery } from '../../src/operations/operation-recovery.service.js';
import { OperationSender } from '../../src/operations/operation-sender.service.js';
import { OperationOutcomes } from '../../src/operations/operation-outcomes.service.js';
import {
  noPreferences,
  type OperationRequest,
  type Operation,
  type OperationKind,
} from '../../src/operations/operation.js';
import { OperationsService } from '../../src/operations/operations.service.js';
import { PossibleDuplicates } from '../../src/operations/possible-duplicates.service.js';
import { SecretBox } from '../../src/platform/secret-box.js';

export type Answer = BankAnswer<never>;
export type Kind = OperationKind<typeof createCharge>;

export const yes = {
  outcome: 'success',
  status: 200,
  text: '{"ok":true}',
  value: {},
  date: null,
} as never as Answer;
export const no: Answer = { outcome: 'rejection', status: 422, text: '{"title":"no"}' };
export const unknown = (
  reason: Extract<Answer, { outcome: 'unknown' }>['reason'] = 'no_answer',
  more: Partial<Extract<Answer, { outcome: 'unknown' }>> = {},
): Answer => ({ outcome: 'unknown', reason, status: null, ...more });

/** What the bank answers, in turn, and yes when that is used up; and what it was sent. */
export class AnsweringBank {
  readonly profile = {
    isRepeatSafe: true,
    hasStatusById: false,
    visibilityBoundMs: null,
  } as Pick<BankProfile, 'isRepeatSafe' | 'hasStatusById' | 'visibilityBoundMs'>;
  script: (Answer | (() => Promise<Answer>))[] = [];
  sent: { key: string | null; body: string | null }[] = [];

  call = async (
    _route: unknown,
    _account: unknown,
    { idempotencyKey }: RouteInput<typeof createCharge>,
    { exactBody }: { exactBody: string | null },
  ): Promise<Answer> => {
    this.sent.push({ key: idempotencyKey, body: exactBody });
    await new Promise((resolve) => setImmediate(resolve));
    const next = this.script.shift() ?? yes;
    return typeof next === 'function' ? next() : next;
  };
}

/** A kind that asks for money: as it is for charges. */
export const chargeKind: Kind = {
  name: 'create_charge',
  route: createCharge,
  repeat: 'keyed',
  echoes: () => true,
  onRejected: () => Promise.resolve(),
};

/** The journal as one process has it. */
export function journalOn(
  database: Database,
  bank: AnsweringBank,
  kinds: Kind[] = [chargeKind],
  possibleDuplicates: { policy: 'off' | 'warn' | 'refuse'; windowMinutes: number } = {
    policy: 'off',
    windowMinutes: 60,
  },
) {
  const woken: string[] = [];
  const jobQueue = { enqueue: (name: string) => Promise.resolve(void woken.push(name)) } as never;
  const accounts = { get: (id: number) => Promise.resolve({ id, slug: 'main' }) } as never;
  const expected = new ExpectedPaymentsService();
  const events = new EventsService(database, jobQueue);
  const outcomes = new OperationOutcomes(database, expected, events, jobQueue);
  const sender = new OperationSender(database, accounts, bank as never, outcomes);
  const recovery = new OperationRecovery(
    database,
    accounts,
    bank as never,
    sender,
    outcomes,
    jobQueue,
  );
  const operations = new OperationsService(
    database,
    expected,
    new SecretBox({ credentialsKey: 'x'.repeat(32) } as never),
    outcomes,
    sender,
    new PossibleDuplicates({ possibleDuplicates } as never),
    jobQueue,
  );
  for (const kind of kinds) operations.register(kind);
  return { operations, recovery, sender, outcomes, woken };
}

export interface Asked {
  accountId: number;
  id?: string;
  key?: string | null;
  cents?: bigint;
}

/** Asks for a charge. */
export function chargeOperation({
  accountId,
  id = 'order-1',
  key = null,
  cents = 1_000n,
}: Asked): OperationRequest<typeof createCharge> {
  return {
    accountId,
    idempotencyKey: key,
    naturalIdentity: `correlationId ${id}`,
    input: {
      params: {},
      query: {},
      idempotencyKey: key,
      body: {
        type: 'BANKSLIP',
        correlationId: id,
        dueDate: '2030-12-31',
        Amount: cents,
        payer: { name: 'Maria', document: '12345678909' },
      },
    },
    expectedPayments: [
      {
        isCredit: true,
        amountCents: cents,
        dueDate: '2030-12-31',
        terms: null,
        isMultiUse: false,
        references: [{ kind: 'correlation_id', value: id }],
      },
    ],
    joinsSameRequest: false,
    outgoing: null,
    preferences: noPreferences,
    record: () => Promise.resolve(),
  };
}

/** Sends money: R$ 10.00 unless told otherwise, to one counterparty; a batch when it expects several. */
export function outgoingOperation(
  asked: Asked & { isDistinguishable?: boolean; counterparty?: string; movements?: number },
): OperationRequest<typeof createCharge> {
  const { isDistinguishable = false, counterparty = '1/1/1', movements = 1 } = asked;
  const intent = chargeOperation(asked);
  const [expected] = intent.expectedPayments;
  const { cents: amountCents = 1_000n } = asked;
  const debit = { ...expected, isCredit: false, dueDate: null, amountCents, references: [] };
  return {
    ...intent,
    naturalIdentity: null,
    outgoing: { counterparty, amountCents, isDistinguishable },
    expectedPayments: Array.from({ length: movements }, () => ({ ...debit }) as never),
  };
}

export async function operationsOf(database: Database, accountId: number): Promise<Operation[]> {
  const rows = await database.prisma.operation.findMany({
    where: { accountId },
    orderBy: { id: 'asc' },
  });
  return rows as Operation[];
}

export async function onlyOperation(database: Database, accountId: number): Promise<Operation> {
  const [operation, ...others] = await operationsOf(database, accountId);
  if (!operation || others.length > 0) throw new Error(`there are ${others.length} others`);
  return operation;
}

/** The time has come at which it is looked at again: a pause is over, or a lease has ended. */
export async function advanceAll(
  database: Database,
  accountId: number,
  recovery: OperationRecovery,
): Promise<void> {
  await database.pool.query(
    `UPDATE operation SET next_action_at = now() - interval '1 second'
     WHERE account_id = $1 AND next_action_at IS NOT NULL`,
    [accountId],
  );
  for (const { id } of await operationsOf(database, accountId))
    await recovery.advance({ accountId, operationId: id });
}

/** Makes everything that was done an hour and more older. */
export async function letPass(database: Database, accountId: number, time: string): Promise<void> {
  await database.pool.query(
    `UPDATE operation SET created_at = created_at - $2::interval WHERE account_id = $1`,
    [accountId, time],
  );
  await database.pool.query(
    `UPDATE operation_attempt SET started_at = started_at - $2::interval, send_by = send_by - $2::interval
     WHERE account_id = $1`,
    [accountId, time],
  );
}

/** A line of the statement, judged; it pays the expected payment where one is named. */
export async function storeLine(
  database: Database,
  accountId: number,
  {
    nsu,
    cents = 1_000,
    paying = null,
    ago = null,
  }: { nsu: number; cents?: number; paying?: string | null; ago?: string | null },
): Promise<void> {
  await database.pool.query(
    `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
       balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
     VALUES ($1, $2::bigint, $2::bigint::text, false, $3, 'DEBIT_PIX', 0, 0,
       COALESCE(now() - $4::interval, (SELECT min(started_at) FROM operation_attempt WHERE account_id = $1), now()), $2::bigint::text, '{}')`,
    [accountId, nsu, cents, ago],
  );
  if (paying !== null)
    await database.pool.query(
      `INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, rule, evidence)
       VALUES ($1, gen_random_uuid(), $2, $3, $4, 'reference', '{}')`,
      [accountId, nsu, paying, cents],
    );
  await decideAll(database, accountId);
}

export async function decideAll(database: Database, accountId: number): Promise<void> {
  await database.pool.query(
    `INSERT INTO reconciliation_state (account_id, decided_arrival)
     SELECT $1, COALESCE(max(arrival), 0) FROM statement_line WHERE account_id = $1
     ON CONFLICT (account_id) DO UPDATE SET decided_arrival = EXCLUDED.decided_arrival`,
    [accountId],
  );
}

/** The statement is closed from two days ago until now, or so far before. */
export async function closeStatement(
  database: Database,
  accountId: number,
  before = '0 seconds',
): Promise<void> {
  await database.pool.query(
    `INSERT INTO statement_state (account_id, closed_from, closed_until)
     VALUES ($1, now() - interval '2 days', now() - $2::interval)
     ON CONFLICT (account_id) DO UPDATE
     SET closed_from = EXCLUDED.closed_from, closed_until = EXCLUDED.closed_until`,
    [accountId, before],
  );
}

export async function expectedIds(database: Database, accountId: number): Promise<string[]> {
  const rows = await database.prisma.expectedPayment.findMany({
    where: { accountId },
    orderBy: { id: 'asc' },
  });
  return rows.map(({ id }) => id);
}

export async function eventsOf(database: Database, accountId: number): Promise<string[]> {
  const rows = await database.prisma.event.findMany({
    where: { accountId },
    orderBy: { id: 'asc' },
  });
  return rows.map(({ type }) => type);
}
