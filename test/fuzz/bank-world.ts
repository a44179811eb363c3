// What the fuzzer needs to send accepted requests to a sandbox bank.
import { Dice } from '../chaos/dice.js';
import { newKeyHeader } from '../contract/samples.js';
import { internalTransfer, keyTransfer, knownBeneficiaries } from '../contract/transfer-samples.js';
import type { ConciliaProcess } from '../support/concilia-process.js';
import type { FuzzRun } from './fuzz.js';
import { readOperations } from './operations.js';
import { Pool } from './pool.js';
import { bankHints, bankPaths, bankSamples, secretsOfSamples } from './bank-samples.js';

/** They change how the bank answers, or forget what the requests name. */
const disturbing = /^sandbox(Reset|ChangeClock|ChangeModes|AddFault|RemoveFaults?)$/;

const samples: FuzzRun['samples'] = {
  ...bankSamples,
  sandboxTakePixBack: (dice, pool) => ({ endToEndId: pool.value(dice, 'received'), amount: 0.01 }),
  sandboxReportDispute: (dice, pool) => ({
    eventType: 'MED_REQUESTED',
    endToEndId: pool.value(dice, 'received'),
  }),
  sandboxReturnSentPix: (dice, pool) => ({
    endToEndId: pool.value(dice, 'sentPix'),
    amount: 0.01,
  }),
  sandboxCreateBill: (dice) => ({
    ...{ type: 'BANKSLIP', status: 'PENDING_PAYMENT', amount: dice.integer(1, 90) },
  }),
  sandboxRegisterDictKey: (dice) => ({ key: `fuzz-${dice.digits(9)}@dict.example` }),
  sandboxAddFault: () => ({ endpoint: 'transfers', kind: 'slow', times: 1, delayMs: 1 }),
};

/** Received Pix, which are refunded in small parts, sent transfers, and bills to pay. */
export async function receivePayments(bank: ConciliaProcess, pool: Pool): Promise<void> {
  const post = async (path: string, body: object) =>
    (await bank.callBank('POST', path, body, newKeyHeader())).body;
  await bank.callBank('PATCH', '/sandbox/modes', { billPaymentHours: { open: 0, close: 24 } });
  await post('/sandbox/pix/received', { amount: 1_000_000 });
  for (let index = 0; index < 3; index += 1) {
    const transfer = internalTransfer();
    await post('/baas/api/v2/transfers', transfer);
    const lookUp = '/baas/api/v2/pix/dict/payment-initialization';
    const { endToEndId } = await post(lookUp, { key: knownBeneficiaries.dictKey });
    await post('/baas/api/v2/transfers', keyTransfer(String(endToEndId)));
    pool.addValue('transfer', transfer.externalId);
    pool.addValue('sentPix', endToEndId);
  }
  for (let index = 0; index < 30; index += 1) {
    const { endToEndId, nsu } = await post('/sandbox/pix/received', { amount: 90 });
    pool.addValue('received', endToEndId);
    pool.addValue('receivedNsu', nsu);
    const bill = { type: 'BANKSLIP', status: 'PENDING_PAYMENT', amount: 1 + index };
    const { barCode } = await post('/sandbox/bills', bill);
    pool.addValue('barCode', barCode);
    pool.addValue('bill', { barCode, amount: bill.amount });
  }
}

/** Waits for a day on which the bank pays bills: then their payments can be charged back. */
async function payBills(bank: ConciliaProcess, pool: Pool): Promise<void> {
  for (let seed = 0; seed < 20; seed += 1) {
    const bill = pool.value(new Dice(seed), 'bill');
    await bank.callBank('POST', '/baas/api/v1/bill-payments', bill, newKeyHeader());
  }
  for (let days = 0; days < 5; days += 1) {
    const { body } = await bank.callBank('GET', '/sandbox/bill-payments');
    if (JSON.stringify(body).includes('"PAID"')) return;
    await bank.callBank('POST', '/sandbox/clock', { advance: 'P1D' });
  }
  throw new Error('The bank pays no bills.');
}

export async function bankWorld(bank: ConciliaProcess, isDisturbing: boolean): Promise<FuzzRun> {
  const { operations, schemas } = readOperations('sandbox');
  const pool = new Pool({ operations, schemas }, bankPaths);
  await receivePayments(bank, pool);
  await payBills(bank, pool);
  return {
    ...{ application: 'sandbox', url: bank.bankUrl, schemas, pool, samples },
    operations: operations.filter(({ name }) => disturbing.test(name) === isDisturbing),
    keyOf: ({ keyHeader }) =>
      keyHeader === 'x-service-partner-key' ? 'sandbox-dev-partner' : 'sandbox-dev-key',
    otherKeys: { 'x-service-api-key': 'sandbox-dev-key-2' },
    hints: { ...bankHints, account: (dice) => dice.pick(['1000001', '1000002']) },
    secrets: secretsOfSamples,
  };
}
