// The ways in which money moves, each with what becomes of it in every preset of the sandbox bank:
// the service explains it by itself, a person does, or it is frozen. One declaration: a test plays
// each of them, and the table of docs/presets.md is made of it.
import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { Preset } from '../../src/sandbox/presets/presets.js';
import { eventually } from '../contract/bank-under-test.js';
import { slip, staticQr } from '../contract/samples.js';
import { batchItem, internalTransfer, manualTransfer } from '../contract/transfer-samples.js';
import type { ServiceOnSandbox } from './service-on-sandbox.js';

export const results = ['by itself', 'by a person', 'frozen'] as const;
export type Result = (typeof results)[number];

/** A line that the scenario makes, and the expected payment that explains it; null for none. */
export interface PlayedLine {
  nsu: number;
  explainedBy: string | null;
}

export interface MoneyScenario {
  name: string;
  results: Record<Preset, Result>;
  play(world: MoneyWorld): Promise<PlayedLine[]>;
}

type Body = Record<string, unknown>;

/** The bank's time in the scenarios: a business hour. */
export const bankTime = '2037-11-23T15:00:00Z';
const dueDate = '2037-12-10';

/** The service in front of a sandbox bank, with what scenarios do. */
export class MoneyWorld {
  constructor(private readonly service: ServiceOnSandbox) {}

  /** Calls the service with a new key; a response that is lost leaves an operation without one. */
  async request(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ key: string; body: Body }> {
    const key = randomUUID();
    const headers = { IdempotencyKey: key, 'Concilia-Allow-Duplicate': 'true' };
    const answer = await this.service.call(method, path, { body, headers });
    if (![200, 202].includes(answer.status)) throw new Error(`${path}: ${answer.text}`);
    return { key, body: answer.body as Body };
  }

  async atBank(path: string, body: object): Promise<Body> {
    const { status, text, body: answer } = await this.service.bank.call('POST', path, { body });
    expect([path, status, text]).toEqual([path, 200, text]);
    return answer as Body;
  }

  fault(endpoint: string, kind: string): Promise<Body> {
    return this.atBank('/sandbox/faults', { endpoint, kind, times: 1, delayMs: 0 });
  }

  /** The expected payment of a charge. */
  async ofCharge(correlationId: unknown): Promise<string> {
    return this.idBy('SELECT expected_payment_id AS id FROM charge WHERE correlation_id = $1', [
      correlationId,
    ]);
  }

  /** The expected payment of a request, or of one item of a batch. */
  async ofKey(key: string, index = 0): Promise<string> {
    return this.idBy(
      `SELECT e.id FROM expected_payment e JOIN operation o USING (account_id)
       WHERE o.id = e.operation_id AND o.idempotency_key = $1 ORDER BY e.id OFFSET $2 LIMIT 1`,
      [key, index],
    );
  }

  private async idBy(sql: string, values: unknown[]): Promise<string> {
    const { rows } = await this.service.pool.query(sql, values);
    expect(rows).toHaveLength(1);
    return rows[0].id as string;
  }

  sync(): Promise<unknown> {
    return this.service.sync();
  }

  /** The newest lines of the bank of one amount, the oldest first, once there are so many. */
  async linesOf(amount: number, count: number): Promise<number[]> {
    return eventually(async () => {
      const path = '/sandbox/ledger?account=1000001&audit=false&limit=100000';
      const { movements } = (await this.service.bank.call('GET', path)).body as {
        movements: { nsu: number; amount: number }[];
      };
      const found = movements.filter((line) => line.amount === amount).map(({ nsu }) => nsu);
      expect(found.length).toBeGreaterThanOrEqual(count);
      return found.slice(-count);
    });
  }

  private cents = 1_000;
  /** An amount that no other scenario has. */
  newAmount(): number {
    this.cents += 1;
    return this.cents / 100;
  }

  private payers = 0;
  /** A payer that no other scenario has. */
  newPayer(): { name: string; document: string } {
    const documents = ['52998224725', '12345678909', '11144477735', '39053344705', '15350946056'];
    this.payers += 1;
    return { name: `Pagador ${this.payers}`, document: documents[this.payers % 5] ?? '' };
  }

  /** A charge that a Pix has paid. */
  async paidCharge(amount: number, payer: object) {
    const charge = slip({ type: 'BANKSLIP_PIX', dueDate, Amount: amount });
    const { correlationId } = charge;
    await this.request('POST', '/baas/v1/charges', charge);
    const paid = await this.atBank('/sandbox/pix/received', { correlationId, amount, payer });
    await this.sync();
    return {
      nsu: paid.nsu as number,
      endToEndId: paid.endToEndId,
      explainedBy: await this.ofCharge(correlationId),
    };
  }

  refund(nsu: number, amount: number) {
    return this.request('PUT', `/baas/api/v1/transactions/${nsu}/refund?filterBy=NSU`, { amount });
  }
}

const everywhere = (result: Result): Record<Preset, Result> => ({
  contract: result,
  published: result,
  complete: result,
});
/** What only an id beyond the published ones explains. */
const onlyComplete = (otherwise: Result): Record<Preset, Result> => ({
  contract: otherwise,
  published: otherwise,
  complete: 'by itself',
});

export const moneyScenarios: readonly MoneyScenario[] = [
  {
    name: 'A charge is paid by Pix',
    results: everywhere('by itself'),
    async play(world) {
      const { nsu, explainedBy } = await world.paidCharge(world.newAmount(), world.newPayer());
      return [{ nsu, explainedBy }];
    },
  },
  {
    name: 'A slip is paid by its bar code',
    results: onlyComplete('by a person'),
    async play(world) {
      const amount = world.newAmount();
      const charge = slip({ dueDate, Amount: amount });
      await world.request('POST', '/baas/v1/charges', charge);
      await world.atBank(`/baas/v1/charges/${charge.correlationId}/pay`, {});
      const [nsu = 0] = await world.linesOf(amount, 1);
      return [{ nsu, explainedBy: await world.ofCharge(charge.correlationId) }];
    },
  },
  {
    name: 'A static QR code is paid',
    results: everywhere('by itself'),
    async play(world) {
      const amount = world.newAmount();
      const { correlationId } = staticQr();
      await world.request('POST', '/baas/api/v2/pix/qrcode/static', { correlationId, amount });
      const { nsu } = await world.atBank('/sandbox/pix/received', { correlationId, amount });
      return [{ nsu: nsu as number, explainedBy: await world.ofCharge(correlationId) }];
    },
  },
  {
    name: 'A Pix arrives that nobody expects',
    results: everywhere('by a person'),
    async play(world) {
      const body = { amount: world.newAmount(), payer: world.newPayer() };
      const { nsu } = await world.atBank('/sandbox/pix/received', body);
      return [{ nsu: nsu as number, explainedBy: null }];
    },
  },
  {
    name: 'We refund a Pix',
    results: everywhere('by itself'),
    async play(world) {
      const paid = await world.paidCharge(world.newAmount(), world.newPayer());
      const { key, body } = await world.refund(paid.nsu, 10);
      return [paid, { nsu: body.nsu as number, explainedBy: await world.ofKey(key) }];
    },
  },
  {
    name: 'The response to our refund is lost',
    results: everywhere('by itself'),
    async play(world) {
      const amount = world.newAmount();
      const paid = await world.paidCharge(amount, world.newPayer());
      await world.fault('refunds', 'reset-after-effect');
      const { key } = await world.refund(paid.nsu, amount);
      const [, nsu = 0] = await world.linesOf(amount, 2);
      return [paid, { nsu, explainedBy: await world.ofKey(key) }];
    },
  },
  {
    name: 'Our refund fails and is reversed',
    results: everywhere('by itself'),
    async play(world) {
      const amount = world.newAmount();
      const paid = await world.paidCharge(amount, world.newPayer());
      await world.fault('refunds', 'async-error');
      const { key } = await world.refund(paid.nsu, amount);
      const [, refund = 0, reversal = 0] = await world.linesOf(amount, 3);
      const explainedBy = await world.ofKey(key);
      return [paid, { nsu: refund, explainedBy }, { nsu: reversal, explainedBy }];
    },
  },
  {
    name: 'The bank refunds a Pix (MED)',
    results: onlyComplete('by a person'),
    async play(world) {
      const amount = world.newAmount();
      const paid = await world.paidCharge(amount, world.newPayer());
      const { endToEndId, explainedBy } = paid;
      const { nsu } = await world.atBank('/sandbox/pix/med', { endToEndId, amount });
      return [paid, { nsu: nsu as number, explainedBy }];
    },
  },
  {
    name: 'The bank refunds one Pix while the response to our refund of another is missing',
    results: onlyComplete('frozen'),
    async play(world) {
      const amount = world.newAmount();
      const payer = world.newPayer();
      const [first, second] = [
        await world.paidCharge(amount, payer),
        await world.paidCharge(amount, payer),
      ];
      await world.fault('refunds', 'error-before-effect');
      await world.refund(second.nsu, amount);
      const { endToEndId, explainedBy } = first;
      const { nsu } = await world.atBank('/sandbox/pix/med', { endToEndId, amount });
      return [{ nsu: nsu as number, explainedBy }];
    },
  },
  {
    name: 'We send a Pix by account data',
    results: everywhere('by itself'),
    async play(world) {
      const body = manualTransfer({ amount: world.newAmount() });
      const { key, body: sent } = await world.request('POST', '/baas/api/v2/transfers', body);
      return [{ nsu: sent.transactionNsu as number, explainedBy: await world.ofKey(key) }];
    },
  },
  {
    name: 'The response to a sent Pix is lost',
    results: everywhere('by itself'),
    async play(world) {
      const amount = world.newAmount();
      await world.fault('transfers', 'reset-after-effect');
      const body = manualTransfer({ amount });
      const { key } = await world.request('POST', '/baas/api/v2/transfers', body);
      const [nsu = 0] = await world.linesOf(amount, 1);
      return [{ nsu, explainedBy: await world.ofKey(key) }];
    },
  },
  {
    name: 'A sent Pix fails and is reversed',
    results: everywhere('by itself'),
    async play(world) {
      const amount = world.newAmount();
      await world.fault('transfers', 'async-error');
      const { key } = await world.request(
        'POST',
        '/baas/api/v2/transfers',
        manualTransfer({ amount }),
      );
      const [debit = 0, reversal = 0] = await world.linesOf(amount, 2);
      const explainedBy = await world.ofKey(key);
      return [
        { nsu: debit, explainedBy },
        { nsu: reversal, explainedBy },
      ];
    },
  },
  {
    name: 'The receiver returns a Pix that we sent',
    results: onlyComplete('by a person'),
    async play(world) {
      const amount = world.newAmount();
      const { key, body } = await world.request(
        'POST',
        '/baas/api/v2/transfers',
        manualTransfer({ amount }),
      );
      const { endToEndId } = body;
      const { nsu } = await eventually(() =>
        world.atBank('/sandbox/pix/returned', { endToEndId, amount }),
      );
      const explainedBy = await world.ofKey(key);
      return [
        { nsu: body.transactionNsu as number, explainedBy },
        { nsu: nsu as number, explainedBy },
      ];
    },
  },
  {
    name: 'We transfer to another account of the bank',
    results: everywhere('by itself'),
    async play(world) {
      const { key, body } = await world.request(
        'POST',
        '/baas/api/v2/transfers',
        internalTransfer({ amount: world.newAmount() }),
      );
      return [{ nsu: body.transactionNsu as number, explainedBy: await world.ofKey(key) }];
    },
  },
  {
    name: 'We send a batch',
    results: onlyComplete('frozen'),
    async play(world) {
      const amount = world.newAmount();
      const { key } = await world.request('POST', '/baas/v1/transfers/batch', [
        batchItem({ amount }),
      ]);
      const [nsu = 0] = await world.linesOf(amount, 1);
      return [{ nsu, explainedBy: await world.ofKey(key) }];
    },
  },
  {
    name: 'We pay a bill',
    results: onlyComplete('frozen'),
    async play(world) {
      const amount = world.newAmount();
      const bill = { type: 'BANKSLIP', status: 'PENDING_PAYMENT', amount };
      const { barCode } = await world.atBank('/sandbox/bills', bill);
      const body = { amount, barCode };
      const { key } = await world.request('POST', '/baas/api/v1/bill-payments', body);
      const [nsu = 0] = await world.linesOf(amount, 1);
      return [{ nsu, explainedBy: await world.ofKey(key) }];
    },
  },
];
