// What the fuzzer needs to send accepted requests to the service: keys, what exists at the start,
// and samples.
import { Dice } from '../chaos/dice.js';
import { dayFromToday, newCpf, slip } from '../contract/samples.js';
import { internalTransfer } from '../contract/transfer-samples.js';
import { scopes } from '../../src/access/accounts/scope.decorator.js';
import type { ConciliaProcess } from '../support/concilia-process.js';
import type { TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';
import { insertUnreadableLine } from '../support/unreadable-lines.js';
import { bankHints, bankPaths, bankSamples, cents, secretsOfSamples } from './bank-samples.js';
import { receivePayments } from './bank-world.js';
import type { FuzzRun } from './fuzz.js';
import { readOperations } from './operations.js';
import { Pool } from './pool.js';

const adminKey = 'concilia-dev-admin';
const other = 'fuzz-other';

const expectedPayment = (dice: Dice) => ({
  externalId: `fuzz-${dice.digits(9)}`,
  ...{ direction: dice.pick(['credit', 'debit']), amount: cents(dice) },
  dateFrom: dayFromToday(dice.integer(0, 9)),
});
const rows = (row: (dice: Dice) => object) => (dice: Dice) =>
  Array.from({ length: dice.integer(1, 3) }, () => row(dice));
const rule = (dice: Dice) => ({
  ...{ name: `fuzz ${dice.digits(9)}`, priority: dice.integer(1, 900), reason: 'fuzz' },
  when: { isCredit: true, types: [`FUZZ_${dice.digits(3)}`] },
  then: { classify: 'fee', reason: 'fuzz' },
});
const charge = (dice: Dice) => slip({ Amount: cents(dice) });
const transfer = (dice: Dice) => internalTransfer({ amount: cents(dice) });

const chartCsv = 'Código;Descrição;Natureza;Analítica\n1;Banco;Ativo;Sim\n2;Outros;Despesa;Sim';
const breakIds = (dice: Dice, pool: Pool) => [pool.value(dice, 'openBreakId')];

/** The month has no certified end, and nothing that may be accepted stands in its way. */
const ofAClosedMonth = 'the month is not over: test/integration/reporting/months.spec.ts';
const excluded = {
  ...{ acceptMonthItem: ofAClosedMonth, signMonth: ofAClosedMonth, reopenMonth: ofAClosedMonth },
};

const samples: FuzzRun['samples'] = {
  ...bankSamples,
  ...{ uploadCharges: rows(charge), checkCharges: rows(charge) },
  ...{ uploadTransfers: rows(transfer), checkTransfers: rows(transfer) },
  uploadExpectedPayments: rows(expectedPayment),
  checkExpectedPayments: rows(expectedPayment),
  declareExpectedPayment: expectedPayment,
  amendExpectedPayment: (dice) => ({ amount: cents(dice), reason: 'fuzz' }),
  linkManually: (dice, pool) => ({
    nsu: Number(pool.value(dice, 'receivedNsu')),
    allocations: [{ expectedPaymentId: pool.value(dice, 'unpaidId'), amount: 90 }],
    reason: 'fuzz',
  }),
  updateBankAccount: (dice) => ({ name: `Fuzz ${dice.digits(3)}` }),
  createRule: rule,
  createRuleVersion: (dice) => ({ ...rule(dice), name: undefined }),
  replayDelivery: (dice, pool) => ({ endpointId: pool.value(dice, 'keptEndpointId') }),
  replayDeliveries: () => ({ after: 0 }),
  acknowledgeAlerts: (dice, pool) => ({ ruleId: pool.value(dice, 'keptRuleId'), reason: 'fuzz' }),
  changeChartOfAccounts: () => ({ csv: chartCsv, reason: 'fuzz' }),
  changeJournalMapping: () => ({ bankCode: '1', entries: [{ contraCode: '2' }], reason: 'fuzz' }),
  assignBreaks: (dice, pool) => ({ ids: breakIds(dice, pool), assignee: null }),
  snoozeBreaks: (dice, pool) => ({
    ...{ ids: breakIds(dice, pool), until: dice.pick([null, dayFromToday(9)]) },
  }),
  createWebhookEndpoint: () => ({ url: 'http://127.0.0.1:41999/fuzz', isEnabled: false }),
  changeSeveritySteps: () => ({
    ...{ amounts: [100, 1_000, 10_000], businessDays: [1, 3, 5], reason: 'fuzz' },
  }),
};

const hints: FuzzRun['hints'] = {
  ...bankHints,
  slug: (dice) => `fuzz-${dice.integer(1, 2)}`,
  name: (dice) => `fuzz ${dice.digits(9)}`,
  taxId: newCpf,
  timezone: () => 'America/Sao_Paulo',
  cron: (dice) => dice.pick(['0 6 * * *', '30 7 * * 1-5']),
  dateFrom: () => dayFromToday(0),
  dateTo: () => dayFromToday(3),
  from: () => dayFromToday(-3),
  to: () => dayFromToday(0),
  reason: () => 'fuzz',
  bill: (dice, pool) => pool.value(dice, 'barCode'),
  clientCertificate: () => null,
  clientKey: () => null,
  ca: () => null,
  goLiveAt: () => dayFromToday(-3),
};

export const serviceSettings = {
  RATE_LIMITS_PER_KEY: 'reads=0,writes=0,money-out=0,look-ups=0,uploads=0',
  RATE_LIMITS_PER_ACCOUNT: 'reads=0,writes=0,money-out=0,look-ups=0,uploads=0',
  SYNC_INTERVAL_MS: '20000',
  ENDPOINTS_PER_ACCOUNT: '1000',
  UNFINISHED_UPLOADS_PER_ACCOUNT: '0',
};

const pathsOfMonths = [
  ...['exports/reports/{}', 'exports/fees/{}', 'exports/journal/{}', 'fee-checks/{}'],
  ...['months/{}', 'months/{}/bundle', 'months/{}/auditor-pack', 'months/{}/journal'],
];

/** Sets up what the requests name. The account whose keys, mode and controls change is another. */
export async function serviceWorld(
  concilia: ConciliaProcess,
  database: TestDatabase,
  receiverUrl: string,
): Promise<FuzzRun> {
  const { operations, schemas } = readOperations('service');
  const pool = new Pool({ operations, schemas }, bankPaths);
  const send = async (method: string, path: string, body?: object) => {
    const headers = { 'x-service-admin-key': adminKey };
    const answer = await concilia.callService(method, path, body, headers);
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    pool.learn(path, path, answer.body);
    return answer.body;
  };
  await send('POST', '/v1/accounts', { slug: other, credentials: { apiKey: 'sandbox-dev-key-2' } });
  const newKey = async (slug: string, name: string) =>
    send('POST', `/v1/accounts/${slug}/keys`, { name, kind: 'api', scopes });
  const [own, approver] = [await newKey('main', 'own'), await newKey('main', 'approver')];
  const others = await newKey(other, 'others');
  const keys: Record<string, unknown> = {
    ...{ 'x-service-api-key': own.key, 'x-service-admin-key': adminKey },
    'x-service-partner-key': 'concilia-dev-partner',
  };
  for (let seed = 0; seed < 10; seed += 1) {
    const { id } = await send('POST', '/v1/rules', rule(new Dice(seed)));
    pool.addPath('/v1/rules/{}/versions/{}', `/v1/rules/${String(id)}/versions/1`);
  }
  await receivePayments(concilia, pool);
  await concilia.callBank('POST', '/sandbox/generate', { count: 20, days: 4, seed: 1 });
  for (let nsu = 990_001; nsu < 990_011; nsu += 1)
    await insertUnreadableLine(database.pool, 1, { nsu, id: String(nsu).repeat(10) });
  const channel = await send('POST', '/v1/alert-channels', {
    ...{ kind: 'slack', name: 'fuzz', url: receiverUrl },
  });
  const kept = [channel, await send('POST', '/v1/webhook-endpoints', { url: receiverUrl })];
  for (const name of ['one', 'two', 'three']) {
    const channelIds = [channel.id];
    const rule = { name, condition: { kind: 'break_open' }, channelIds };
    kept.push(await send('POST', '/v1/alert-rules', rule));
    const payment = { ...expectedPayment(new Dice(0)), externalId: name, direction: 'credit' };
    const { id } = await send('POST', '/v1/expected-payments', { ...payment, amount: 5_000 });
    pool.addValue('unpaidId', id);
  }
  pool.addValue('keptEndpointId', kept[1]!.id);
  pool.addValue('keptRuleId', kept.at(-1)!.id);
  await send('PUT', '/v1/approval-policy', { aboveAmount: 12, reason: 'fuzz' });
  const endToEndId = pool.value(new Dice(0), 'received');
  await concilia.callBank('POST', '/sandbox/disputes', { eventType: 'MED_REQUESTED', endToEndId });
  await concilia.callBank('POST', '/sandbox/clock', { advance: 'P1DT1M' });
  for (const path of ['/v1/breaks', '/v1/disputes', '/v1/alert-notifications', '/v1/day-closes'])
    await until(
      `there is one of ${path}`,
      async () => ((await send('GET', path)).data as unknown[]).length > 0,
      90_000,
    );
  await addBooks(send, pool);
  return {
    excluded,
    ...{ application: 'service', url: concilia.serviceUrl, operations, schemas, pool },
    // Who sent a payment does not approve it.
    keyOf: ({ name, keyHeader }) => String(/^decide/.test(name) ? approver.key : keys[keyHeader]),
    otherKeys: { 'x-service-api-key': String(others.key) },
    mayChange: (path, method) =>
      !path.startsWith('/v1/accounts/main') &&
      !path.includes(String(others.id)) &&
      !(method === 'DELETE' && kept.some(({ id }) => path.includes(String(id)))),
    ...{ samples, hints, secrets: secretsOfSamples },
  };
}

type Send = (method: string, path: string, body?: object) => Promise<Record<string, unknown>>;

/** The month and open breaks that requests name, and the chart of which a mapping has codes. */
async function addBooks(send: Send, pool: Pool): Promise<void> {
  const month = dayFromToday(0).slice(0, 7);
  for (const path of pathsOfMonths) pool.addPath(`/v1/${path}`, `/v1/${path.replace('{}', month)}`);
  const { data } = await send('GET', '/v1/breaks?state=open');
  pool.addValue('openBreakId', ...(data as { id: string }[]).map(({ id }) => id));
  await send('PUT', '/v1/chart-of-accounts', { csv: chartCsv, reason: 'fuzz' });
}
