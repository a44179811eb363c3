// What a round stands on: which chapters are served, Pix that came in, and what an intent needs before it is asked.
import type { ConciliaProcess } from '../support/concilia-process.js';
import { forEachConcurrently } from '../support/payments.js';
import { until } from '../support/until.js';
import { readLedger, readSummary } from './books.js';
import type { Dice } from './dice.js';
import type { House } from './deployment.js';
import { known } from '../contract/transfer-samples.js';
import { chargeBody, intentKinds, type Ground, type IntentKind } from './chaos-request.js';

const lookUpPath = '/baas/api/v2/pix/dict/payment-initialization';

const chapters: Record<IntentKind, [method: string, path: string]> = {
  charge: ['POST', '/baas/v1/charges'],
  'static QR': ['POST', '/baas/api/v2/pix/qrcode/static'],
  'by key': ['POST', lookUpPath],
  manual: ['POST', '/baas/api/v2/transfers'],
  internal: ['POST', '/baas/api/v2/transfers'],
  batch: ['POST', '/baas/v1/transfers/batch'],
  bill: ['POST', '/baas/api/v1/bill-payments'],
  refund: ['PUT', '/baas/api/v1/transactions/1/refund'],
  customer: ['POST', '/v1/customers'],
};

/** Kinds whose chapter the service answers with 404 to a request that says nothing. */
export async function unservedKinds(service: ConciliaProcess): Promise<IntentKind[]> {
  const unserved: IntentKind[] = [];
  for (const kind of intentKinds) {
    const [method, path] = chapters[kind];
    if ((await service.callService(method, path, {})).status === 404) unserved.push(kind);
  }
  return unserved;
}

/** Pix of 25.00 that are in the book before anything goes wrong: what refunds go back to. */
export async function receivePixes(house: House, seed: number, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, place) => `original-${seed}-${place}`);
  await forEachConcurrently(ids, 4, async (id) => {
    const { status } = await house.service.callService('POST', '/baas/v1/charges', chargeBody(id, 25_00));
    if (status !== 200) throw new Error(`a charge is answered ${status}`);
    await house.bank.callBank('POST', `/baas/v1/charges/${id}/pay`);
  });
  await until('what was paid is in the book', async () => {
    const { transactions } = await readSummary(house.service);
    return transactions.total >= count && transactions.pending === 0;
  });
  const { movements } = await readLedger(house.bank);
  return movements.flatMap(({ endToEndId }) => endToEndId ?? []);
}

export function groundOf(house: House, dice: Dice, originals: string[]): Ground {
  return {
    lookUp: () =>
      until('a key is looked up', async () => {
        const service = dice.pick(house.services);
        const { status, body } = await service.callService('POST', lookUpPath, { key: known.dictKey });
        return status === 200 && String(body.endToEndId);
      }),
    newBill: (cents) =>
      until('there is a bill', async () => {
        const bill = { type: 'BANKSLIP', status: 'PENDING_PAYMENT', amount: cents / 100 };
        const { status, body } = await house.bank.callBank('POST', '/sandbox/bills', bill);
        return status === 200 && String(body.barCode);
      }),
    receivedPix: () => ({ endToEndId: dice.pick(originals) }),
  };
}
