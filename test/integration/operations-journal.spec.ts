import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { OperationRecovery } from '../../src/operations/operation-recovery.service.js';
import type { OperationSender } from '../../src/operations/operation-sender.service.js';
import type { OperationsService } from '../../src/operations/operations.service.js';
import type { Reply } from '../../src/platform/contract-route.js';
import * as journal from '../support/journal.js';
import { until } from '../support/until.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

const { unknown, chargeKind: kind } = journal;
const refused: journal.Answer = { outcome: 'rejection', status: 400, text: '{"status":400}' };

describe('the journal of outbound intents', () => {
  let service: ServiceDatabase;
  let bank: journal.AnsweringBank;
  let operations: OperationsService;
  let sender: OperationSender;
  let recovery: OperationRecovery;

  beforeEach(async () => {
    service = await serviceDatabase();
    bank = new journal.AnsweringBank();
    ({ operations, sender, recovery } = journal.journalOn(service.database, bank));
  });

  afterEach(async () => {
    await service.drop();
  });

  const perform = (over: Partial<journal.Asked> = {}): Promise<Reply> =>
    operations.perform(kind, journal.chargeOperation({ accountId: service.accountId, ...over }));
  const list = () => journal.operationsOf(service.database, service.accountId);
  const advanceAll = () => journal.advanceAll(service.database, service.accountId, recovery);
  const only = () => journal.onlyOperation(service.database, service.accountId);

  it('sends one intent once, however many ask for it at once, and answers them all the same', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => perform()));
    expect(bank.sent).toHaveLength(1);
    expect(new Set(replies.map(({ status, body }) => `${status} ${String(body)}`)).size).toBe(1);
    const replayed = replies.filter(({ headers }) => headers['Idempotent-Replayed'] === 'true');
    expect(replayed).toHaveLength(19);
    expect(await service.database.prisma.expectedPayment.count()).toBe(1);
  });

  it('sends the operation’s id as the key, and the bytes that were committed', async () => {
    await perform();
    const operation = await only();
    expect(bank.sent).toEqual([{ key: operation.id, body: operation.requestBody }]);
    expect(operation.requestBody).toContain('"Amount":10');
  });

  it('refuses a key or a correlationId that comes with another request', async () => {
    await perform({ key: 'k-1' });
    const another = { status: 422, code: 'idempotency_key_reused' };
    await expect(perform({ cents: 2_000n })).rejects.toMatchObject(another);
    await expect(perform({ id: 'order-2', key: 'k-1' })).rejects.toMatchObject(another);
    expect(bank.sent).toHaveLength(1);
  });

  it('knows one intent by all the keys that it came with', async () => {
    await perform({ key: 'k-1' });
    const again = await perform({ key: 'k-2' });
    expect(again.headers['Idempotent-Replayed']).toBe('true');
    await expect(perform({ id: 'order-2', key: 'k-2' })).rejects.toMatchObject({ status: 422 });
    expect(bank.sent).toHaveLength(1);
  });

  it('frees the correlationId that the bank rejected, and goes on answering the key', async () => {
    bank.script = [refused];
    const first = await perform({ key: 'k-1' });
    expect(first.status).toBe(400);
    const [withdrawn] = await service.database.prisma.expectedPayment.findMany();
    expect(withdrawn?.withdrawnAt).not.toBeNull();
    expect((await perform({ key: 'k-1' })).status).toBe(400);
    expect((await perform({ cents: 2_000n })).status).toBe(200);
    expect((await list()).map(({ state }) => state)).toEqual(['rejected', 'succeeded']);
  });

  it('answers 202 with the operation when the bank does not answer', async () => {
    bank.script = [unknown()];
    const reply = await perform();
    const operation = await only();
    expect(reply).toMatchObject({
      status: 202,
      headers: { Location: `/v1/operations/${operation.id}` },
    });
    expect(JSON.parse(String(reply.body))).toMatchObject({ id: operation.id, state: 'unknown' });
  });

  it('sends again under the same key where a repeat is safe', async () => {
    bank.script = [unknown(), unknown()];
    await perform();
    await advanceAll();
    await advanceAll();
    const operation = await only();
    expect(operation).toMatchObject({ state: 'succeeded', attempts: 3 });
    expect(new Set(bank.sent.map(({ key }) => key))).toEqual(new Set([operation.id]));
    expect(new Set(bank.sent.map(({ body }) => body)).size).toBe(1);
    expect((await perform()).status).toBe(200);
  });

  it('never sends again where a repeat may have a second effect', async () => {
    bank.profile.isRepeatSafe = false;
    bank.script = [unknown()];
    await perform();
    await advanceAll();
    await advanceAll();
    expect(bank.sent).toHaveLength(1);
    expect(await only()).toMatchObject({ state: 'unknown', reason: 'no_answer' });
  });

  it('does not end an operation by a refusal once an attempt may have had its effect', async () => {
    bank.script = [unknown(), refused];
    await perform();
    await advanceAll();
    expect(await only()).toMatchObject({ state: 'unknown', reason: 'refused_a_repeat' });
  });

  it('is as it was when no byte left', async () => {
    bank.profile.isRepeatSafe = false;
    bank.script = [unknown('not_sent')];
    await perform();
    expect(await only()).toMatchObject({ state: 'received', attempts: 1 });
    await advanceAll();
    expect(await only()).toMatchObject({ state: 'succeeded', attempts: 2 });
  });

  const reportedEnds = async () =>
    (await service.database.prisma.event.findMany()).map(({ type }) => type);

  it('tells by an event of the end of what was answered with 202 before a byte left', async () => {
    bank.script = [unknown('not_sent')];
    expect((await perform()).status).toBe(202);
    await advanceAll();
    expect(await reportedEnds()).toEqual(['operation.succeeded']);
  });

  it('tells by an event of the end of what a repeat would not wait for', async () => {
    let answer = (): void => undefined;
    bank.script = [() => new Promise((resolve) => (answer = () => resolve(journal.yes)))];
    const first = perform();
    await until('it is being sent', () => Promise.resolve(bank.sent.length === 1));
    const intent = journal.chargeOperation({ accountId: service.accountId });
    const preferences = { ...intent.preferences, respondAsync: true };
    expect((await operations.perform(kind, { ...intent, preferences })).status).toBe(202);
    answer();
    expect((await first).status).toBe(200);
    expect(await reportedEnds()).toEqual(['operation.succeeded']);
  });

  it('tells nothing by an event of what everybody was answered', async () => {
    await perform();
    expect((await perform()).status).toBe(200);
    expect(await reportedEnds()).toEqual([]);
  });

  it('believes the statement where the bank does not answer', async () => {
    bank.profile.isRepeatSafe = false;
    bank.script = [unknown()];
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
    expect(await only()).toMatchObject({ state: 'succeeded', reason: 'seen_on_statement' });
  });

  it('does not send for the second time what it took for unsent', async () => {
    bank.profile.isRepeatSafe = false;
    bank.script = [unknown()];
    await perform();
    const stale = { ...(await only()), state: 'received' } as never;
    await sender.send(stale, 'received');
    expect(bank.sent).toHaveLength(1);
  });

  it('takes a success that comes after its lease for what it is', async () => {
    const performing = perform();
    while (bank.sent.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await service.database.pool.query(`UPDATE operation SET state = 'unknown'`);
    await performing;
    expect(await only()).toMatchObject({ state: 'succeeded', responseStatus: 200 });
  });

  it('asks a person when a day has passed', async () => {
    bank.profile.isRepeatSafe = false;
    bank.script = [unknown()];
    await perform();
    await service.database.pool.query(
      `UPDATE operation SET created_at = created_at - interval '25 hours'`,
    );
    await advanceAll();
    expect(await only()).toMatchObject({ state: 'needs_operator' });
    expect((await perform()).status).toBe(202);
  });

  it('takes up what a killed process had begun to send, as unknown', async () => {
    await perform();
    await service.database.pool.query(
      `UPDATE operation SET state = 'sending', ended_at = NULL, response_status = NULL, response_body = NULL,
         next_action_at = now() + interval '1 hour'`,
    );
    const { accountId, id } = await only();
    await recovery.advance({ accountId, operationId: id });
    expect(bank.sent).toHaveLength(1);
    await advanceAll();
    expect(bank.sent).toHaveLength(2);
    expect(bank.sent[1]?.key).toBe(id);
    expect(await only()).toMatchObject({ state: 'succeeded' });
  });

  it('makes one attempt when two processes reach for it', async () => {
    bank.script = [unknown()];
    await perform();
    await service.database.pool.query(`UPDATE operation SET next_action_at = now()`);
    const { accountId, id } = await only();
    await Promise.all(
      Array.from({ length: 8 }, () => recovery.advance({ accountId, operationId: id })),
    );
    expect(bank.sent).toHaveLength(2);
  });
});
