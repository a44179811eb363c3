import { expect, it } from '@jest/globals';
import { getBill, payBill } from '../bank-contract/bill-payments.js';
import { createCharge, getCharge } from '../bank-contract/charges.js';
import { createCustomer } from '../bank-contract/customers.js';
import { lookUpPixKey } from '../bank-contract/pix-lookup.js';
import { refundTransaction } from '../bank-contract/refunds.js';
import { listTransactions, listTransactionsV1 } from '../bank-contract/statement.js';
import { createStaticQr } from '../bank-contract/static-qr.js';
import { createTransfer, getTransfer } from '../bank-contract/transfers.js';
import { createTransferBatch } from '../bank-contract/batch-transfers.js';
import { createWebhookRegistration } from '../bank-contract/webhook-registrations.js';
import { endpointClassOf } from './endpoint-class.js';

it.each([
  ['charges', [createCharge, createStaticQr]],
  ['money', [createTransfer, createTransferBatch, payBill, refundTransaction]],
  ['statement', [listTransactions, listTransactionsV1]],
  ['lookup', [getBill, getCharge, getTransfer, lookUpPixKey]],
  ['webhooks', [createWebhookRegistration]],
  ['customers', [createCustomer]],
])('assigns the class %s to its routes only', (expected, routes) => {
  expect(routes.map(endpointClassOf)).toEqual(routes.map(() => expected));
});
