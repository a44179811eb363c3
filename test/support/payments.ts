// Helpers of the whole-service tests: charge requests, summary, settlements, event receiver.
import type { ConciliaProcess } from './concilia-process.js';
import type { Receiver } from './receiver.js';

export function sampleChargeRequest(correlationId: string, amount = 10.5) {
  return {
    type: 'BANKSLIP_PIX',
    correlationId,
    yourNumber: '1',
    dueDate: '2030-12-31',
    Amount: amount,
    payer: { name: 'Maria da Silva', document: '12345678909' },
  };
}

export interface Summary {
  statement: { complete: boolean; syncs: number; balance: number; lastNsu: number };
  transactions: {
    total: number;
    matched: number;
    classified: number;
    inBreak: number;
    pending: number;
  };
  webhooks: { received: number; pending: number };
  deliveries: { pending: number; dead: number };
}

export async function fetchSummary(concilia: ConciliaProcess): Promise<Summary> {
  return (await concilia.callService<Summary>('GET', '/v1/summary')).body;
}

export async function fetchChargeSettlement(
  concilia: ConciliaProcess,
  correlationId: string,
): Promise<unknown> {
  return (await concilia.callService('GET', `/v1/charges/${correlationId}`)).body.settlement;
}

/** Registers the receiver for every event and sets its signing secret. */
export async function registerReceiver(
  concilia: ConciliaProcess,
  receiver: Receiver,
): Promise<void> {
  const { status, body } = await concilia.callService('POST', '/v1/webhook-endpoints', {
    url: receiver.url,
  });
  if (status !== 201) throw new Error(`endpoint not registered: ${status}`);
  receiver.secret = String(body.secret);
}

/** Runs `work` for each item, for up to `concurrency` items at once. */
export async function forEachConcurrently<Item>(
  items: Item[],
  concurrency: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const remaining = [...items];
  const lanes = Array.from({ length: concurrency }, async () => {
    for (let item = remaining.shift(); item !== undefined; item = remaining.shift())
      await work(item);
  });
  await Promise.all(lanes);
}
