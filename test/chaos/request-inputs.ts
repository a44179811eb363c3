// Prepares a round through the APIs: finds the routes that the service does not serve, creates
// received Pix payments, and supplies what a request needs before it can be sent.
import type { ConciliaProcess } from '../support/concilia-process.js';
import { forEachConcurrently } from '../support/payments.js';
import { until } from '../support/until.js';
import { knownBeneficiaries } from '../contract/transfer-samples.js';
import {
  chargeBody,
  chaosRequestKinds,
  type ChaosRequestKind,
  type RequestInputs,
} from './chaos-request.js';
import type { ChaosDeployment } from './deployment.js';
import type { Dice } from './dice.js';
import { readBankLedger, readSummary } from './final-state.js';

const keyLookupPath = '/baas/api/v2/pix/dict/payment-initialization';

const routes: Record<ChaosRequestKind, [method: string, path: string]> = {
  charge: ['POST', '/baas/v1/charges'],
  'static QR': ['POST', '/baas/api/v2/pix/qrcode/static'],
  'by key': ['POST', keyLookupPath],
  manual: ['POST', '/baas/api/v2/transfers'],
  internal: ['POST', '/baas/api/v2/transfers'],
  batch: ['POST', '/baas/v1/transfers/batch'],
  bill: ['POST', '/baas/api/v1/bill-payments'],
  refund: ['PUT', '/baas/api/v1/transactions/1/refund'],
  customer: ['POST', '/v1/customers'],
};

/** Kinds whose route responds 404 to an empty request. */
export async function listUnservedKinds(service: ConciliaProcess): Promise<ChaosRequestKind[]> {
  const unserved: ChaosRequestKind[] = [];
  for (const kind of chaosRequestKinds) {
    const [method, path] = routes[kind];
    if ((await service.callService(method, path, {})).status === 404) unserved.push(kind);
  }
  return unserved;
}

/** Pays charges of 25.00 before any fault starts. Returns the endToEndIds, for later refunds. */
export async function receivePixPayments(
  deployment: ChaosDeployment,
  seed: number,
  count: number,
): Promise<string[]> {
  const { service, bank } = deployment;
  const ids = Array.from({ length: count }, (_, index) => `original-${seed}-${index}`);
  await forEachConcurrently(ids, 4, async (id) => {
    const charge = chargeBody(id, 25_00);
    const { status } = await service.callService('POST', '/baas/v1/charges', charge);
    // On a busy machine the response may be 202: recovery creates the charge.
    if (status !== 200 && status !== 202)
      throw new Error(`the charge was not created: HTTP ${status}`);
    await until('the charge is created', async () => {
      const { body } = await service.callService('GET', `/v1/charges/${id}`);
      return body.operationState === 'succeeded';
    });
    await bank.callBank('POST', `/baas/v1/charges/${id}/pay`);
  });
  await until('the received payments are processed', async () => {
    const { transactions } = await readSummary(service);
    return transactions.total >= count && transactions.pending === 0;
  });
  const { movements } = await readBankLedger(bank);
  return movements.flatMap(({ endToEndId }) => endToEndId ?? []);
}

export function requestInputs(
  deployment: ChaosDeployment,
  dice: Dice,
  receivedEndToEndIds: string[],
): RequestInputs {
  return {
    lookUpKey: () =>
      until('the Pix key is looked up', async () => {
        const service = dice.pick(deployment.services);
        const request = { key: knownBeneficiaries.dictKey };
        const { status, body } = await service.callService('POST', keyLookupPath, request);
        return status === 200 && String(body.endToEndId);
      }),
    createBill: (cents) =>
      until('a bill is created', async () => {
        const bill = { type: 'BANKSLIP', status: 'PENDING_PAYMENT', amount: cents / 100 };
        const { status, body } = await deployment.bank.callBank('POST', '/sandbox/bills', bill);
        return status === 200 && String(body.barCode);
      }),
    pickReceivedPix: () => dice.pick(receivedEndToEndIds),
  };
}
