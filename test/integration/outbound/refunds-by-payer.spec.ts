// Refunds by the bank that carry no id of their Pix: the only Pix of their payer that they can be
// of is their original. Everything else freezes what they may be of, until a person decides.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { listRefundDifferences } from '../../../src/reconciliation/runs/refund-identities.queries.js';
import { eraseLine } from '../../../src/statement/lines/line-erasure.queries.js';
import { keepOriginals } from '../../../src/webhooks/processing/webhook-reports.queries.js';
import { slip } from '../../contract/samples.js';
import { BreaksFixture, statusAndCode } from '../../support/breaks.js';
import { cpfOf } from '../../support/money-world.js';
import { makeAllDue } from '../../support/reconciliation.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';

let service: ServiceOnSandbox;
const fixture = new BreaksFixture(() => service);
const { sql } = fixture;
let payers = 0;

beforeAll(async () => {
  service = await serviceOnSandbox();
  await service.bank.call('PATCH', '/sandbox/modes', { body: { lineOriginalId: 'absent' } });
});
afterAll(() => service.stop());

const syncAndReconcile = async () => {
  await service.sync();
  await fixture.reconcile();
};
const newPayer = () => ({ name: 'Pagador', document: cpfOf((payers += 1)) });
const receive = async (amount: number, payer: object, fields: object = {}) => {
  const body = { amount, payer, ...fields };
  const pix = (await service.bank.call('POST', '/sandbox/pix/received', { body })).body;
  await syncAndReconcile();
  return pix as { nsu: number; endToEndId: string };
};
const receiveForCharge = async (amount: number, payer: object) => {
  const charge = slip({ type: 'BANKSLIP_PIX', Amount: amount });
  expect((await service.call('POST', '/baas/v1/charges', { body: charge })).status).toBe(200);
  const { correlationId } = charge;
  return { ...(await receive(amount, payer, { correlationId })), correlationId };
};
const returnByBank = async (endToEndId: string, amount: number): Promise<number> => {
  const body = { endToEndId, amount };
  const { nsu } = (await service.bank.call('POST', '/sandbox/pix/med', { body })).body;
  await syncAndReconcile();
  return nsu;
};
const settlementOf = async (correlationId: string) =>
  (await service.call('GET', `/v1/charges/${correlationId}`)).body.settlement;
const refund = async (nsu: number, amount: number) => {
  const headers = { IdempotencyKey: randomUUID(), 'Concilia-Allow-Duplicate': 'true' };
  const path = `/baas/api/v1/transactions/${nsu}/refund?filterBy=NSU`;
  const response = await service.call('PUT', path, { body: { amount }, headers });
  return response.status === 200 ? 'sent' : statusAndCode(response)[1];
};
const unlink = async (nsu: number) => {
  const [match] = (await service.call('GET', `/v1/matches?nsu=${nsu}`)).body.data;
  return service.call('DELETE', `/v1/matches/${match.id}?reason=not+theirs`);
};
const verify = () => listRefundDifferences(service.database.prisma, service.accountId);

it('counts as a refund of the only Pix of its payer that has so much left', async () => {
  const payer = newPayer();
  const paid = await receiveForCharge(70, payer);
  const small = await receive(69.99, payer);
  const nsu = await returnByBank(paid.endToEndId, 70);
  expect(await settlementOf(paid.correlationId)).toBe('refunded');
  expect(await fixture.explanation(nsu)).toMatchObject({ state: 'matched' });
  expect(await refund(paid.nsu, 0.01)).toBe('refund_exceeds_original');
  expect(await refund(small.nsu, 1)).toBe('sent');
  expect(await verify()).toEqual([]);
});

it('counts for a Pix that pays nothing too', async () => {
  const payer = newPayer();
  const pix = await receive(50, payer);
  await returnByBank(pix.endToEndId, 20);
  expect(await refund(pix.nsu, 30.01)).toBe('refund_exceeds_original');
  expect(await refund(pix.nsu, 30)).toBe('sent');
  expect(await verify()).toEqual([]);
});

it('freezes each Pix of its payer that it may be of, and no other payer’s', async () => {
  const payer = newPayer();
  const [first, second] = [await receiveForCharge(70, payer), await receiveForCharge(70, payer)];
  const nsu = await returnByBank(first.endToEndId, 70);
  expect(await settlementOf(first.correlationId)).toBe('settled');
  expect([await refund(first.nsu, 1), await refund(second.nsu, 1)]).toEqual([
    'refund_frozen',
    'refund_frozen',
  ]);
  const refundOf = [{ nsu: first.nsu, amount: 70 }];
  const link = { nsu, refundOf, reason: 'as agreed' };
  expect((await service.call('POST', '/v1/matches', { body: link })).status).toBe(201);
  expect(await refund(second.nsu, 1)).toBe('sent');
  expect(await verify()).toEqual([]);
});

it('is decided again when a Pix arrives late that it may be of', async () => {
  const payer = newPayer();
  const paid = await receiveForCharge(41, payer);
  const nsu = await returnByBank(paid.endToEndId, 41);
  expect(await settlementOf(paid.correlationId)).toBe('refunded');
  await sql(
    `WITH counted AS (
       UPDATE statement_state SET line_count = line_count + 1 WHERE account_id = $1
     )
     INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
       balance_previous_cents, current_balance_cents, occurred_at, content_hash, content,
       counterparty_document, end_to_end_id)
     SELECT account_id, nsu + 5_000_000, 'x', true, 4_200, 'CREDIT_PIX', 0, 0,
       occurred_at - interval '1 day', 'h', '{}', counterparty_document, 'E-late'
     FROM statement_line WHERE account_id = $1 AND nsu = $2`,
    service.accountId,
    paid.nsu,
  );
  await fixture.reconcile();
  expect(await settlementOf(paid.correlationId)).toBe('settled');
  expect(await fixture.explanation(nsu)).toMatchObject({ state: 'in_break' });
  expect(await refund(paid.nsu, 1)).toBe('refund_frozen');
  expect(await refund(paid.nsu + 5_000_000, 1)).toBe('refund_frozen');
});

it('freezes again what a person unlinks', async () => {
  const payer = newPayer();
  const paid = await receiveForCharge(33, payer);
  const nsu = await returnByBank(paid.endToEndId, 30);
  expect(await refund(paid.nsu, 3.01)).toBe('refund_exceeds_original');
  expect((await unlink(nsu)).status).toBe(200);
  await fixture.reconcile();
  expect(await fixture.explanation(nsu)).toMatchObject({ state: 'in_break' });
  expect(await refund(paid.nsu, 1)).toBe('refund_frozen');
});

it('stays the refund of its Pix when the personal data of both lines is erased', async () => {
  const payer = newPayer();
  const paid = await receiveForCharge(28, payer);
  const nsu = await returnByBank(paid.endToEndId, 28);
  for (const one of [nsu, paid.nsu])
    await service.database.transaction(async (tx) => {
      await keepOriginals(tx, service.accountId, BigInt(one));
      await eraseLine(tx, service.accountId, BigInt(one), 'LGPD');
    });
  await makeAllDue(service.database, service.accountId);
  await fixture.reconcile();
  expect(await settlementOf(paid.correlationId)).toBe('refunded');
  expect(await refund(paid.nsu, 0.01)).toBe('refund_exceeds_original');
  expect(await verify()).toEqual([]);
});

it('waits while a refund of ours may be the line', async () => {
  const payer = newPayer();
  const paid = await receiveForCharge(24, payer);
  const fault = { endpoint: 'refunds', kind: 'error-before-effect', times: 1 };
  await service.bank.call('POST', '/sandbox/faults', { body: fault });
  await refund(paid.nsu, 12);
  const other = await receiveForCharge(13, payer);
  const nsu = await returnByBank(other.endToEndId, 12);
  expect(await settlementOf(other.correlationId)).toBe('settled');
  expect(await fixture.explanation(nsu)).toMatchObject({ state: 'pending' });
  expect(await refund(other.nsu, 1)).toBe('refund_frozen');
});

it.each([
  ['the tax id, whatever its account', { isOfPayer: true, account: '1/1/9' }, 10, 'refund_frozen'],
  ['the account, where the line shows no tax id', { account: 'same' }, 10, 'refund_frozen'],
  ['its amount, where the line shows no payer', {}, 10, 'refund_frozen'],
  ['no line of more without a payer', {}, 10.01, 'sent'],
  ['no line of another payer', { isOfPayer: false, account: '1/1/9' }, 10, 'sent'],
])('freezes a Pix by %s', async (_, { isOfPayer, account }: Shown, amount, result) => {
  const payer = newPayer();
  const pix = await receive(10, payer);
  const of = (isOfPayer ?? true) ? payer.document : cpfOf(999_999);
  // Another Pix that the debit may be of.
  await receive(9_000, { ...payer, document: of });
  await sql(
    `WITH counted AS (
       UPDATE statement_state SET line_count = line_count + 1 WHERE account_id = $1
     )
     INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
       balance_previous_cents, current_balance_cents, occurred_at, content_hash, content,
       counterparty_document, counterparty)
     SELECT account_id, nsu + 7000000, 'x', false, $3::numeric * 100, 'DEBIT_PIX_REFUND', 0, 0,
       (SELECT max(occurred_at) FROM statement_line WHERE account_id = $1), 'h', '{}',
       $4, CASE $5 WHEN 'same' THEN counterparty ELSE $5 END
     FROM statement_line WHERE account_id = $1 AND nsu = $2`,
    ...[service.accountId, pix.nsu, amount, isOfPayer === undefined ? null : of, account ?? null],
  );
  await fixture.reconcile();
  expect(await refund(pix.nsu, 1)).toBe(result);
});

/** What the line of a refund shows of its payer. */
interface Shown {
  isOfPayer?: boolean;
  account?: string;
}
