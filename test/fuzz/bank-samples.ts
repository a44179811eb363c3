// Requests that are accepted, of the bank's own interface: it is the same at the service and at the
// sandbox bank.
import { customer, dayFromToday, newCpf, pixSlip, slip, staticQr } from '../contract/samples.js';
import {
  batchItem,
  internalTransfer,
  keyTransfer,
  knownBeneficiaries,
  manualTransfer,
} from '../contract/transfer-samples.js';
import type { Dice } from '../chaos/dice.js';
import type { Sample } from './requests.js';

export const cents = (dice: Dice, most = 2_000) => dice.integer(1, most) / 100;

/** Data of the persons that the samples name, and the keys of the development set-up. */
export const secretsOfSamples =
  /52998224725|12345678909|11222333000181|João|Joana|Maria|@pagador|@cliente|concilia-dev-|sandbox-dev-/;

/** What names one of a path, where it is not the id of what is listed there. */
export const bankPaths: Record<string, string> = {
  '/baas/api/v1/bill-payments/{}': 'barCode',
  '/baas/api/v1/transactions/{}': 'received',
  '/baas/api/v2/transfers/{}': 'transfer',
  '/baas/api/v2/pix/qrcode/static/{}': 'staticQr',
  '/sandbox/customers/{}': 'customerId',
};

export const bankSamples: Record<string, Sample> = {
  createCharge: (dice) => dice.pick([slip, pixSlip])({ Amount: cents(dice) }),
  createStaticQr: (dice, pool) => {
    const body = staticQr({ amount: cents(dice) });
    pool.addValue('staticQr', body.correlationId);
    return body;
  },
  createTransfer: (dice, pool) =>
    dice.pick([
      () => manualTransfer({ amount: cents(dice) }),
      () => {
        const body = internalTransfer({ amount: cents(dice) });
        pool.addValue('transfer', body.externalId);
        return body;
      },
      () => {
        const endToEndId = pool.text(dice, 'endToEndId')!;
        pool.addValue('sentPix', endToEndId);
        return keyTransfer(endToEndId, { amount: cents(dice) });
      },
    ])(),
  createTransferBatch: (dice) =>
    Array.from({ length: dice.integer(1, 4) }, () => batchItem({ amount: cents(dice) })),
  createTed: (dice) => manualTransfer({ amount: cents(dice) }),
  refundTransaction: (dice) => ({ amount: cents(dice, 20) }),
  payBill: (dice, pool) => pool.value(dice, 'bill'),
  createCustomer: () => customer(),
};

/** Values by which fields of a drawn request are accepted. */
export const bankHints: Record<string, Sample> = {
  amount: (dice) => cents(dice),
  Amount: (dice) => cents(dice),
  document: (dice) => dice.pick(['52998224725', newCpf()]),
  key: () => knownBeneficiaries.dictKey,
  dueDate: (dice) => dayFromToday(dice.integer(1, 90)),
  zipCode: () => '01310-100',
  state: () => 'SP',
  eventType: (dice) => dice.pick(['CHARGE_PAID', 'PIX_RECEIVED', 'PIX_PAYMENT_UPDATED']),
  transferAt: (dice) => dayFromToday(dice.integer(0, 5)),
  birthDate: () => '1990-05-20',
  holderDocument: () => knownBeneficiaries.dictKeyDocument,
  url: (dice) => `http://127.0.0.1:41999/${dice.digits(4)}`,
  limit: (dice) => dice.integer(1, 50),
  page: (dice) => dice.integer(1, 3),
  count: (dice) => dice.integer(1, 20),
  days: (dice) => dice.integer(1, 5),
  filterBy: () => 'END_TO_END_ID',
};
