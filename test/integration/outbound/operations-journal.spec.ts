import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Socket } from 'node:net';
import { Prisma } from '../../../src/generated/service/client.js';
import type { OperationRecovery } from '../../../src/outbound/operations/operation-recovery.service.js';
import type { OperationSender } from '../../../src/outbound/operations/operation-sender.service.js';
import type { OperationsService } from '../../../src/outbound/operations/operations.service.js';
import type { Reply } from '../../../src/platform/http/contract-route.js';
import { holdCommits } from '../../support/held-commits.js';
import * as journal from '../../support/journal.js';
import { until } from '../../support/until.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

const { unknownResponse, chargeKind: kind } = journal;
const refused: journal.ScriptedResponse = {
  outcome: 'rejection',
  status: 400,
  text: '{"status":400}',
};

describe('the journal of outbound requests', () => {
  let service: ServiceDatabase;
  let bank: journal.ScriptedBankClient;
  let operations: OperationsService;
  let sender: OperationSender;
  let recovery: OperationRecovery;

  beforeEach(async () => {
    service = await serviceDatabase();
    bank = new journal.ScriptedBankClient();
    ({ operations, sender, recovery } = journal.createJournal(service.database, bank));
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await service.drop();
  });

  const perform = (over: Partial<journal.ChargeOptions> = {}): Promise<Reply> =>
    operations.perform(kind, journal.chargeOperation({ accountId: service.accountId, ...over }));
  const listOperations = () => journal.listStoredOperations(service.database, service.accountId);
  const advanceAll = () =>
    journal.advanceAllOperations(service.database, service.accountId, recovery);
  const onlyOperation = () => journal.onlyOperation(service.database, service.accountId);

  it('sends concurrent identical requests once and gives all of them one response', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => perform()));
    expect(bank.sent).toHaveLength(1);
    expect(new Set(replies.map(({ status, body }) => `${status} ${String(body)}`)).size).toBe(1);
    const replayed = replies.filter(({ headers }) => headers['Idempotent-Replayed'] === 'true');
    expect(replayed).toHaveLength(19);
    expect(await service.database.prisma.expectedPayment.count()).toBe(1);
  });

  describe('whose requests arrive at once', () => {
    const performAll = (numbers: readonly number[]) =>
      Promise.allSettled(numbers.map((number) => perform({ correlationId: `order-${number}` })));
    const numbers = Array.from({ length: 30 }, (_, index) => index);
    const transactions = async (table: string) => {
      const { rows } = await service.database.pool.query(
        `SELECT count(DISTINCT xmin::text)::int AS count FROM ${table}`,
      );
      return rows[0].count as number;
    };

    it('stores them in two transactions, and their responses in a few', async () => {
      const results = await performAll(numbers);
      expect(results.every(({ status }) => status === 'fulfilled')).toBe(true);
      expect(bank.sent).toHaveLength(30);
      expect(new Set(bank.sent.map(({ key }) => key)).size).toBe(30);
      // An identity is never updated; an operation is when its response is recorded.
      expect(await transactions('operation_identity')).toBe(2);
      expect(await transactions('operation')).toBeLessThan(10);
      const stored = await listOperations();
      expect(stored.map(({ state, attempts }) => `${state} ${attempts}`)).toEqual(
        numbers.map(() => 'succeeded 1'),
      );
    });

    it('has recorded each attempt before its first byte is sent', async () => {
      const seen: unknown[] = [];
      bank.script = numbers.map(() => async () => {
        const { rows } = await service.database.pool.query(
          `SELECT o.state, a.send_by > clock_timestamp() AS is_in_time
           FROM operation o JOIN operation_attempt a
             ON a.account_id = o.account_id AND a.operation_id = o.id AND a.number = o.attempts
           WHERE o.state = 'sending' AND a.finished_at IS NULL LIMIT 1`,
        );
        seen.push(rows[0]);
        return journal.accepted;
      });
      await performAll(numbers);
      expect(seen).toEqual(numbers.map(() => ({ state: 'sending', is_in_time: true })));
    });

    it('refuses the one that breaks a rule, and sends the others', async () => {
      const incomplete = { sql: Prisma.sql`DELETE FROM operation WHERE false`, rows: 1 };
      jest
        .spyOn(kind, 'rowWrites')
        .mockImplementation((_, rows) => (rows.includes('order-7') ? [incomplete] : []));
      const results = await performAll(numbers);
      const refused = results.flatMap(({ status }, index) => (status === 'rejected' ? index : []));
      expect(refused).toEqual([7]);
      expect(await listOperations()).toHaveLength(29);
      expect(new Set(bank.sent.map(({ key }) => key)).size).toBe(29);
      const refusedIdentity = { identity: 'correlationId order-7' };
      expect(
        await service.database.prisma.operationIdentity.count({ where: refusedIdentity }),
      ).toBe(0);
    });

    describe('of two kinds that share their ids', () => {
      const writeCharges = jest.fn(() => []);
      const writeQrCodes = jest.fn((_accountId: number, _rows: readonly unknown[]) => []);
      const charges = { ...kind, rowWrites: writeCharges };
      const qrCodes = {
        ...{ ...kind, name: 'create_static_qr', sharesIdentitiesWith: [kind.name] },
        rowWrites: writeQrCodes,
      };
      let create: (of: journal.ChargeKind, number: number) => Promise<Reply>;

      beforeEach(() => {
        writeCharges.mockClear();
        writeQrCodes.mockClear();
        const both = journal.createJournal(service.database, bank, [charges, qrCodes]);
        create = (of, number) =>
          both.operations.perform(
            of,
            journal.chargeOperation({
              ...{ accountId: service.accountId, correlationId: `order-${number}` },
            }),
          );
      });

      it('stores alone the one whose id is taken, and the others together', async () => {
        await create(charges, 7);
        await Promise.all(numbers.map((number) => create(qrCodes, number)));
        const batches = writeQrCodes.mock.calls.map(([, rows]) => rows.length);
        // All of them at first, and then those to which nothing objects.
        expect(batches.sort((a, b) => b - a)).toEqual([29, 28, 1, 1]);
        writeQrCodes.mockClear();
        // After a refusal, what objects is asked for first.
        await create(qrCodes, 7);
        expect(writeQrCodes).not.toHaveBeenCalled();
        await create(qrCodes, 31);
        expect(writeQrCodes).toHaveBeenCalledTimes(1);
      });

      it('stores two with one id in two transactions', async () => {
        await Promise.all([
          create(charges, 0),
          ...[create(charges, 1), create(qrCodes, 1), create(qrCodes, 2)],
        ]);
        const { rows } = await service.database.pool.query<{ name: string; transaction: string }>(
          `SELECT kind || ' ' || identity AS name, xmin::text AS transaction
           FROM operation_identity`,
        );
        const transactionOf = new Map(rows.map(({ name, transaction }) => [name, transaction]));
        const ofCharge = transactionOf.get('create_charge correlationId order-1');
        const ofQrCodes = [1, 2].map((number) =>
          transactionOf.get(`create_static_qr correlationId order-${number}`),
        );
        // The charge of the second batch is stored with the other QR code.
        expect(ofQrCodes.map((one) => one === ofCharge)).toEqual([false, true]);
      });
    });

    it.each([
      ['charge', () => journal.chargeOperation({ accountId: service.accountId, key: 'key-1' })],
      [
        'transfer',
        () =>
          journal.outgoingOperation({
            ...{ accountId: service.accountId, key: 'key-1', isDistinguishable: true },
          }),
      ],
    ])(
      'is one operation of a %s whose commit is slow and whose answer is lost',
      async (_, request) => {
        const { pool } = service.database;
        const commits = await holdCommits(pool, 'operation_identity');
        const waiting = async (count: number) => {
          const { rows } = await pool.query<{ pid: number }>(
            `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'
             AND datname = current_database() ORDER BY query_start`,
          );
          return rows.length === count && rows;
        };
        const connections = new Map<number | null, Socket>();
        pool.on('acquire', (client) => {
          // The types of the package leave these properties out.
          const { processID, connection } = client as unknown as {
            processID: number | null;
            connection: { stream: Socket };
          };
          connections.set(processID, connection.stream);
        });
        const first = operations.perform(kind, request());
        const [batch] = await until('the commit waits', () => waiting(1));
        connections.get(batch?.pid ?? null)?.destroy();
        await until('the request is stored alone', () => waiting(2));
        await commits.release();
        expect((await first).status).toBe(200);
        expect((await operations.perform(kind, request())).headers['Idempotent-Replayed']).toBe(
          'true',
        );
        expect(await listOperations()).toHaveLength(1);
        expect(bank.sent).toHaveLength(1);
      },
    );

    it('sends none twice when two processes get the same requests', async () => {
      const other = journal.createJournal(service.database, bank);
      await Promise.all([
        performAll(numbers),
        ...numbers.map((number) =>
          other.operations.perform(
            kind,
            journal.chargeOperation({
              ...{ accountId: service.accountId, correlationId: `order-${number}` },
            }),
          ),
        ),
      ]);
      expect(bank.sent).toHaveLength(30);
      expect(await listOperations()).toHaveLength(30);
    });

    it('stores and sends none when the account is stopped', async () => {
      await service.database.pool.query(`UPDATE bank_account SET mode = 'stopped'`);
      const results = await performAll(numbers);
      expect(results.every(({ status }) => status === 'rejected')).toBe(true);
      expect([await listOperations(), bank.sent]).toEqual([[], []]);
    });
  });

  it('sends the operation’s id as the key, and the bytes that were committed', async () => {
    await perform();
    const operation = await onlyOperation();
    expect(bank.sent).toEqual([{ key: operation.id, body: operation.requestBody }]);
    expect(operation.requestBody).toContain('"Amount":10');
  });

  it('refuses a key or a correlationId that was used with a different request', async () => {
    await perform({ key: 'k-1' });
    const keyReused = { status: 422, code: 'idempotency_key_reused' };
    await expect(perform({ amountCents: 2_000n })).rejects.toMatchObject(keyReused);
    const otherCharge = perform({ correlationId: 'order-2', key: 'k-1' });
    await expect(otherCharge).rejects.toMatchObject(keyReused);
    expect(bank.sent).toHaveLength(1);
  });

  it('recognizes an operation by every key that its request came with', async () => {
    await perform({ key: 'k-1' });
    const repeat = await perform({ key: 'k-2' });
    expect(repeat.headers['Idempotent-Replayed']).toBe('true');
    const otherCharge = perform({ correlationId: 'order-2', key: 'k-2' });
    await expect(otherCharge).rejects.toMatchObject({ status: 422 });
    expect(bank.sent).toHaveLength(1);
  });

  it('frees the correlationId of a rejected request and still replays its key', async () => {
    bank.script = [refused];
    const first = await perform({ key: 'k-1' });
    expect(first.status).toBe(400);
    const [withdrawn] = await service.database.prisma.expectedPayment.findMany();
    expect(withdrawn?.withdrawnAt).not.toBeNull();
    expect((await perform({ key: 'k-1' })).status).toBe(400);
    expect((await perform({ amountCents: 2_000n })).status).toBe(200);
    expect((await listOperations()).map(({ state }) => state)).toEqual(['rejected', 'succeeded']);
  });

  it('replies 202 with the operation when the bank does not respond', async () => {
    bank.script = [unknownResponse()];
    const reply = await perform();
    const operation = await onlyOperation();
    expect(reply).toMatchObject({
      status: 202,
      headers: { Location: `/v1/operations/${operation.id}` },
    });
    expect(JSON.parse(String(reply.body))).toMatchObject({ id: operation.id, state: 'unknown' });
  });

  it('resends the same bytes with the same key where a repeat is safe', async () => {
    bank.script = [unknownResponse(), unknownResponse()];
    await perform();
    await advanceAll();
    await advanceAll();
    const operation = await onlyOperation();
    expect(operation).toMatchObject({ state: 'succeeded', attempts: 3 });
    expect(new Set(bank.sent.map(({ key }) => key))).toEqual(new Set([operation.id]));
    expect(new Set(bank.sent.map(({ body }) => body)).size).toBe(1);
    expect((await perform()).status).toBe(200);
  });

  it('never resends where a repeat may have a second effect', async () => {
    bank.profile.isRepeatSafe = false;
    bank.script = [unknownResponse()];
    await perform();
    await advanceAll();
    await advanceAll();
    expect(bank.sent).toHaveLength(1);
    expect(await onlyOperation()).toMatchObject({ state: 'unknown', reason: 'no_response' });
  });

  it('does not reject an operation after an attempt that may have had its effect', async () => {
    bank.script = [unknownResponse(), refused];
    await perform();
    await advanceAll();
    expect(await onlyOperation()).toMatchObject({ state: 'unknown', reason: 'refused_a_repeat' });
    // Also when the statement has changed the reason since.
    await service.database.prisma.operation.updateMany({ data: { reason: 'seen_in_part' } });
    await advanceAll();
    expect(bank.sent).toHaveLength(2);
  });

  it('returns an operation to received when no byte left, and sends it later', async () => {
    bank.profile.isRepeatSafe = false;
    bank.script = [unknownResponse('not_sent')];
    await perform();
    expect(await onlyOperation()).toMatchObject({ state: 'received', attempts: 1 });
    await advanceAll();
    expect(await onlyOperation()).toMatchObject({ state: 'succeeded', attempts: 2 });
  });

  const eventTypes = async () =>
    (await service.database.prisma.event.findMany()).map(({ type }) => type);

  it('records an event for the end of an operation that got 202 before a byte left', async () => {
    bank.script = [unknownResponse('not_sent')];
    expect((await perform()).status).toBe(202);
    await advanceAll();
    expect(await eventTypes()).toEqual(['operation.succeeded']);
  });

  it('records an event for the end of an operation whose repeat did not wait', async () => {
    let respond = (): void => undefined;
    bank.script = [() => new Promise((resolve) => (respond = () => resolve(journal.accepted)))];
    const first = perform();
    await until('the request is being sent', () => Promise.resolve(bank.sent.length === 1));
    const request = journal.chargeOperation({ accountId: service.accountId });
    const preferences = { ...request.preferences, respondAsync: true };
    expect((await operations.perform(kind, { ...request, preferences })).status).toBe(202);
    respond();
    expect((await first).status).toBe(200);
    expect(await eventTypes()).toEqual(['operation.succeeded']);
  });

  it('records no event when every caller got the response', async () => {
    await perform();
    expect((await perform()).status).toBe(200);
    expect(await eventTypes()).toEqual([]);
  });

  it('succeeds by the statement where the bank does not respond', async () => {
    bank.profile.isRepeatSafe = false;
    bank.script = [unknownResponse()];
    await perform();
    const [expected] = await service.database.prisma.expectedPayment.findMany();
    await service.database.pool.query(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
         balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
       VALUES ($1, 1, '1', true, 1000, 'CREDIT_PIX', 0, 1000, now(), 'x', '{}')`,
      [service.accountId],
    );
    await service.database.pool.query(
      `INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, rule, evidence)
       VALUES ($1, gen_random_uuid(), 1, $2, 1000, 'reference', '{}')`,
      [service.accountId, expected?.id],
    );
    await advanceAll();
    expect(await onlyOperation()).toMatchObject({
      state: 'succeeded',
      reason: 'seen_on_statement',
    });
  });

  it('does not send when the operation was already sent since it was read', async () => {
    bank.profile.isRepeatSafe = false;
    bank.script = [unknownResponse()];
    await perform();
    const stale = { ...(await onlyOperation()), state: 'received' } as never;
    await sender.send(stale, 'received');
    expect(bank.sent).toHaveLength(1);
  });

  it('records a success that comes after the lease of the attempt', async () => {
    const performing = perform();
    while (bank.sent.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await service.database.pool.query(`UPDATE operation SET state = 'unknown'`);
    await performing;
    expect(await onlyOperation()).toMatchObject({ state: 'succeeded', responseStatus: 200 });
  });

  it('needs an operator after a day', async () => {
    bank.profile.isRepeatSafe = false;
    bank.script = [unknownResponse()];
    await perform();
    await service.database.pool.query(
      `UPDATE operation SET created_at = created_at - interval '25 hours'`,
    );
    await advanceAll();
    expect(await onlyOperation()).toMatchObject({ state: 'needs_operator' });
    expect((await perform()).status).toBe(202);
  });

  it('recovers as unknown an operation that a killed process was sending', async () => {
    await perform();
    await service.database.pool.query(
      `UPDATE operation SET state = 'sending', ended_at = NULL, response_status = NULL,
         response_body = NULL, next_action_at = now() + interval '1 hour'`,
    );
    const { accountId, id } = await onlyOperation();
    await recovery.advance({ accountId, operationId: id });
    expect(bank.sent).toHaveLength(1);
    await advanceAll();
    expect(bank.sent).toHaveLength(2);
    expect(bank.sent[1]?.key).toBe(id);
    expect(await onlyOperation()).toMatchObject({ state: 'succeeded' });
  });

  it('makes one attempt when several processes advance an operation at once', async () => {
    bank.script = [unknownResponse()];
    await perform();
    await service.database.pool.query(`UPDATE operation SET next_action_at = now()`);
    const { accountId, id } = await onlyOperation();
    await Promise.all(
      Array.from({ length: 8 }, () => recovery.advance({ accountId, operationId: id })),
    );
    expect(bank.sent).toHaveLength(2);
  });
});
