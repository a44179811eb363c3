// A webhook ties a line to an id that the line lacks: it names, and the line settles, where the
// amount is exactly owed and no other line pays it. It never raises what can be refunded.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { listRefundDifferences } from '../../../src/reconciliation/runs/refund-identities.queries.js';
import { WebhookInbox } from '../../../src/webhooks/inbox/webhook-inbox.service.js';
import { slip } from '../../contract/samples.js';
import { BreaksFixture, statusAndCode } from '../../support/breaks.js';
import { cpfOf, MoneyWorld } from '../../support/money-world.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';
import { until } from '../../support/until.js';

let service: ServiceOnSandbox;
let world: MoneyWorld;
const fixture = new BreaksFixture(() => service);

beforeAll(async () => {
  service = await serviceOnSandbox({ SANDBOX_PRESET: 'published' });
  world = new MoneyWorld(service);
  await service.sync();
});
afterAll(() => service.stop());

const report = async (eventType: string, fields: object) => {
  const inbox = service.application.get(WebhookInbox, { strict: false });
  await inbox.store(service.accountId, eventType, Buffer.from(JSON.stringify(fields)));
  // A webhook of the millisecond in which a sync began waits for the next one.
  await until('the webhook is processed', async () => {
    await service.sync();
    await inbox.process({ accountId: service.accountId });
    return (
      (await service.database.prisma.webhookEvent.count({ where: { state: 'pending' } })) === 0
    );
  });
  await fixture.reconcile();
};
const createSlip = async (amount: number): Promise<string> => {
  const charge = slip({ dueDate: '2040-12-10', Amount: amount });
  await world.request('POST', '/baas/v1/charges', charge);
  return charge.correlationId;
};
const paySlip = async (correlationId: string, amount: number, count = 1): Promise<number> => {
  await world.atBank(`/baas/v1/charges/${correlationId}/pay`, {});
  const nsu = (await world.linesOf(amount, count)).at(-1) ?? 0;
  await service.sync();
  await fixture.reconcile();
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

it('settles the charge that a webhook names, of exactly its amount', async () => {
  const correlationId = await createSlip(40);
  const nsu = await paySlip(correlationId, 40);
  expect(await settlementOf(correlationId)).toBe('open');
  await report('CHARGE_PAID', { nsu, correlationId, amount: 39 });
  expect(await settlementOf(correlationId)).toBe('open');
  await report('CHARGE_PAID', { nsu, correlationId, amount: 40, source: 'PCR' });
  expect(await settlementOf(correlationId)).toBe('settled');
  expect(await fixture.explanation(nsu)).toMatchObject({
    state: 'matched',
    evidence: { referenceKind: 'correlation_id', referenceValue: correlationId, source: 'webhook' },
  });
  expect(await listRefundDifferences(service.database.prisma, service.accountId)).toEqual([]);
});

it.each([
  ['has another amount', 41, 41.5],
  ['is paid', 42, 42],
])('settles no charge that %s', async (what, owed, paid) => {
  const [named, other] = [await createSlip(owed), await createSlip(paid)];
  if (what === 'is paid') {
    const first = await paySlip(named, owed);
    await report('CHARGE_PAID', { nsu: first, correlationId: named, amount: owed });
  }
  const before = await settlementOf(named);
  const nsu = await paySlip(other, paid, what === 'is paid' ? 2 : 1);
  await report('CHARGE_PAID', { nsu, correlationId: named, amount: paid });
  expect(await settlementOf(named)).toBe(before);
  expect(await fixture.explanation(nsu)).toMatchObject({ state: 'in_break' });
});

it('names the Pix of a refund, which lowers what can be refunded and thaws nothing', async () => {
  const payer = { name: 'Pagador', document: cpfOf(1) };
  const [first, second] = [await world.paidCharge(60, payer), await world.paidCharge(60, payer)];
  const { endToEndId: originalEndToEndId } = second;
  const refunding = { endToEndId: originalEndToEndId, amount: 60 };
  const debit = await world.atBank('/sandbox/pix/med', refunding);
  await service.sync();
  await fixture.reconcile();
  const { endToEndId } = debit;
  const fields = { endToEndId, originalEndToEndId, amount: 60 };
  const failed = { ...fields, status: 'PIX_ERROR', error: { code: 'DEL20' } };
  await report('PIX_REFUND_PAYMENT_UPDATED', failed);
  expect(await fixture.explanation(debit.nsu as number)).toMatchObject({ state: 'in_break' });
  await report('PIX_REFUND_PAYMENT_UPDATED', { ...fields, status: 'PIX_EFFECTIVE' });
  const matches = await service.call('GET', `/v1/matches?nsu=${debit.nsu as number}`);
  expect(matches.body.data).toMatchObject([
    { expectedPaymentId: second.explainedBy, role: 'reversal' },
  ]);
  expect([await refund(first.nsu, 1), await refund(second.nsu, 1)]).toEqual([
    'refund_frozen',
    'refund_frozen',
  ]);
  expect(await listRefundDifferences(service.database.prisma, service.accountId)).toEqual([]);
});
