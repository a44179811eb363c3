import { expect, it } from '@jest/globals';
import { getBill, payBill } from '../contract/bill-payments.js';
import { createCharge, getCharge } from '../contract/charges.js';
import { createCustomer } from '../contract/customers.js';
import { lookUpPixKey } from '../contract/pix-lookup.js';
import { refundTransaction } from '../contract/refunds.js';
import { listTransactions, listTransactionsV1 } from '../contract/statement.js';
import { createStaticQr } from '../contract/static-qr.js';
import { createTransfer, getTransfer } from '../contract/transfers.js';
import { createTransferBatch } from '../contract/batch-transfers.js';
import { createWebhookRegistration } from '../contract/webhook-registrations.js';
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
