// The service in front of a sandbox bank, with what money scenarios do at both.
import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { WebhookInbox } from '../../src/webhooks/inbox/webhook-inbox.service.js';
import { eventually } from '../contract/bank-under-test.js';
import { slip } from '../contract/samples.js';
import type { ServiceOnSandbox } from './service-on-sandbox.js';

type Body = Record<string, unknown>;
type PaidCharge = Awaited<ReturnType<MoneyWorld['paidCharge']>>;

/** The bank's time in the scenarios: a business hour. */
export const bankTime = '2037-11-23T15:00:00Z';
export const dueDate = '2037-12-10';

/** A line that a scenario makes, and the expected payment that explains it; null for none. */
export interface PlayedLine {
  nsu: number;
  explainedBy: string | null;
}

/** The CPF with this serial number. */
export function cpfOf(serial: number): string {
  const withCheckDigit = (digits: string) => {
    const sum = [...digits].reduce(
      (total, digit, index) => total + Number(digit) * (digits.length + 1 - index),
      0,
    );
    return `${digits}${((sum * 10) % 11) % 10}`;
  };
  return withCheckDigit(withCheckDigit(String(100_000_000 + serial)));
}

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

  /** The account's own call, or that of the account with another key. */
  async atBank(path: string, body: object, apiKey?: string): Promise<Body> {
    const {
      status,
      text,
      body: answer,
    } = await this.service.bank.call('POST', path, {
      body,
      headers: { IdempotencyKey: randomUUID() },
      ...(apiKey ? { apiKey } : {}),
    });
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

  /** The bank sends a webhook. */
  async report(eventType: string, fields: object): Promise<void> {
    await this.service.application
      .get(WebhookInbox, { strict: false })
      .store(this.service.accountId, eventType, Buffer.from(JSON.stringify(fields)));
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
    this.payers += 1;
    return { name: `Pagador ${this.payers}`, document: cpfOf(this.payers) };
  }

  /** Sends money; `lines` lines of it appear, of which the first is the debit. */
  async send(
    path: string,
    body: (amount: number) => object,
    { endpoint = 'transfers', fault = '', lines = 1 } = {},
  ): Promise<PlayedLine[]> {
    const amount = this.newAmount();
    if (fault) await this.fault(endpoint, fault);
    const { key } = await this.request('POST', path, body(amount));
    const nsus = await this.linesOf(amount, lines);
    const explainedBy = await this.ofKey(key);
    return nsus.map((nsu) => ({ nsu, explainedBy }));
  }

  /** A charge that a Pix has paid. */
  async paidCharge(amount = this.newAmount(), payer: object = this.newPayer()) {
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

  /** Refunds a paid charge whole; `lines` lines of the refund appear. */
  async refundWhole({ fault = '', lines = 1 } = {}): Promise<PlayedLine[]> {
    const amount = this.newAmount();
    const paid = await this.paidCharge(amount);
    if (fault) await this.fault('refunds', fault);
    const { key } = await this.refund(paid.nsu, amount);
    const [, ...nsus] = await this.linesOf(amount, 1 + lines);
    const explainedBy = await this.ofKey(key);
    return [paid, ...nsus.map((nsu) => ({ nsu, explainedBy }))];
  }

  /** The bank refunds the Pix of a charge by itself. */
  async med({ endToEndId, explainedBy }: PaidCharge, amount: number): Promise<PlayedLine> {
    const { nsu } = await this.atBank('/sandbox/pix/med', { endToEndId, amount });
    return { nsu: nsu as number, explainedBy };
  }
}
