// Records of all kinds for the pages of the console: in the account `main` by the API and the
// sandbox bank, with names that a payer could choose to break a page; in the account `book` by SQL.
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { addBookAccount, bookOf, storeBook } from '../../bench/harness/book.js';
import { dayFromToday, pixSlip } from '../contract/samples.js';
import { internalTransfer } from '../contract/transfer-samples.js';
import type { ConciliaProcess } from './concilia-process.js';
import { fetchChargeSettlement, fetchSummary } from './payments.js';
import type { Receiver } from './receiver.js';
import { until } from './until.js';

/** What a payer could write: scripts, one long word, a mark that turns text around, emoji. */
export const hostileNames = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(2)>',
  'W'.repeat(100),
  'Ana \u202Egnirts desrever',
  '👩🏽‍💼 {{7*7}} ${7*7}',
] as const;

const bookLines = 400;

export async function fillConsole(
  concilia: ConciliaProcess,
  pool: pg.Pool,
  receiver: Receiver,
): Promise<void> {
  const book = await addBookAccount(pool, 'book');
  await storeBook(pool, bookOf(book, bookLines, 'open breaks'));
  await setUpAccount(concilia, receiver);
  await payAndReceive(concilia);
  await sendMoney(concilia);
  await until('each line is decided', async () => {
    const { statement, transactions, webhooks } = await fetchSummary(concilia);
    return statement.complete && transactions.pending + webhooks.pending === 0;
  });
}

async function call(
  concilia: ConciliaProcess,
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Record<string, unknown>> {
  const target = path.startsWith('/sandbox') ? 'callBank' : 'callService';
  const answer = await concilia[target](method, path, body, headers);
  if (answer.status >= 300)
    throw new Error(`${method} ${path} got ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Endpoints, rules, alerts, an approval policy, files. */
async function setUpAccount(concilia: ConciliaProcess, receiver: Receiver): Promise<void> {
  const post = (path: string, body: object, headers = {}) =>
    call(concilia, 'POST', path, body, headers);
  await post('/v1/webhook-endpoints', { url: receiver.url });
  const rule = await post('/v1/rules', {
    name: `Tarifas ${hostileNames[0]}`,
    priority: 10,
    when: { document: '11144477735', amount: { max: 100 } },
    then: { classify: 'fee', reason: 'Fees of the bank.' },
    reason: 'Fees of the bank.',
  });
  await post(`/v1/rules/${String(rule.id)}/versions/1/trial`, {});
  const channel = await post('/v1/alert-channels', {
    ...{ name: 'Tesouraria', kind: 'webhook', url: receiver.url },
  });
  await post('/v1/alert-rules', {
    ...{ name: 'Divergências', severity: 'high', channelIds: [channel.id], groupSeconds: 0 },
    condition: { kind: 'break_open' },
  });
  await post('/v1/expected-payments', {
    ...{ externalId: 'aluguel-11', direction: 'debit', amount: 5_000 },
    ...{ dateFrom: dayFromToday(1), dateTo: dayFromToday(5) },
    counterparty: { taxId: '11222333000181', name: hostileNames[1] },
  });
  const rows = [pixSlip({ correlationId: 'lote-1' }), { type: 'BANKSLIP' }];
  const file = rows.map((row) => JSON.stringify(row)).join('\n');
  const upload = await concilia.callService('POST', '/v1/charges/bulk', file, {
    'content-type': 'application/x-ndjson',
  });
  if (upload.status >= 300) throw new Error(`the upload got ${upload.status}`);
}

/** A charge that is paid, one that is not, and money that nobody expected. */
async function payAndReceive(concilia: ConciliaProcess): Promise<void> {
  const payer = { name: hostileNames[2], document: '52998224725' };
  await call(concilia, 'POST', '/baas/v1/charges', pixSlip({ correlationId: 'paid-1', payer }));
  await call(concilia, 'POST', '/baas/v1/charges', pixSlip({ correlationId: 'open-1', payer }));
  await call(concilia, 'POST', '/sandbox/pix/received', { correlationId: 'paid-1' });
  for (const [index, name] of hostileNames.entries())
    await call(concilia, 'POST', '/sandbox/pix/received', {
      ...{ amount: 1_234.56 + index, payer: { name } },
    });
  await call(concilia, 'POST', '/sandbox/transactions', {
    ...{ amount: 2.5, isCredit: false, typeName: 'DEBIT_FEE' },
  });
  await until(
    'the charge is settled',
    async () => (await fetchChargeSettlement(concilia, 'paid-1')) === 'settled',
  );
}

/** A transfer, a refund, a bill, and a transfer that awaits approval. */
async function sendMoney(concilia: ConciliaProcess): Promise<void> {
  const key = () => ({ IdempotencyKey: randomUUID() });
  const transfer = (description: string) =>
    call(concilia, 'POST', '/baas/api/v2/transfers', internalTransfer({ description }), key());
  await transfer(hostileNames[3]);
  const received = await call(concilia, 'POST', '/sandbox/pix/received', { amount: 80 });
  await until('the credit is stored', async () => {
    const { statement } = await fetchSummary(concilia);
    return statement.lastNsu >= Number(received.nsu);
  });
  const endToEndId = String(received.endToEndId);
  const path = `/baas/api/v1/transactions/${endToEndId}/refund?filterBy=END_TO_END_ID`;
  await call(concilia, 'PUT', path, { amount: 10 }, key());
  const bill = await call(concilia, 'POST', '/sandbox/bills', {
    ...{ type: 'BANKSLIP', status: 'PENDING_PAYMENT', amount: 80 },
  });
  const { barCode } = bill;
  await call(concilia, 'POST', '/baas/api/v1/bill-payments', { barCode, amount: 80 }, key());
  await call(concilia, 'PUT', '/v1/approval-policy', {
    ...{ aboveAmount: 0, kinds: [], approvals: 2 },
  });
  await transfer('awaits approval');
}
