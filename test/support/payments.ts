// What the whole-service tests do over and over: ask for charges, pay them, look at the book.
import type { ConciliaProcess } from './concilia-process.js';
import type { Receiver } from './receiver.js';

export function chargeRequest(correlationId: string, amount = 10.5) {
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

export async function summaryOf(concilia: ConciliaProcess): Promise<Summary> {
  return (await concilia.ask<Summary>('GET', '/v1/summary')).body;
}

export async function settlementOf(
  concilia: ConciliaProcess,
  correlationId: string,
): Promise<unknown> {
  return (await concilia.ask('GET', `/v1/charges/${correlationId}`)).body.settlement;
}

/** Registers the receiver for every event, and tells it its secret. */
export async function register(concilia: ConciliaProcess, receiver: Receiver): Promise<void> {
  const { status, body } = await concilia.ask('POST', '/v1/webhook-endpoints', {
    url: receiver.url,
  });
  if (status !== 201) throw new Error(`endpoint not registered: ${status}`);
  receiver.secret = String(body.secret);
}

/** Runs `work` for each item, so many at once. */
export async function each<Item>(
  items: Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  const lanes = Array.from({ length: atOnce }, async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  });
  await Promise.all(lanes);
}
