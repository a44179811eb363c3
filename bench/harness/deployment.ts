// The product as its users run it, on databases of its own: one process with every role, beside its
// sandbox bank in a process of its own, and an endpoint that receives the events.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { ConciliaProcess } from '../../test/support/concilia-process.js';
import { testDatabase, type TestDatabase } from '../../test/support/postgres.js';
import { Receiver } from '../../test/support/receiver.js';
import { until } from '../../test/support/until.js';

const importTimeoutMs = 3_600_000;
const eventTimeoutMs = 30_000;

export class BenchBank {
  private constructor(
    private readonly database: TestDatabase,
    readonly process: ConciliaProcess,
  ) {}

  static async open(): Promise<BenchBank> {
    const database = await testDatabase('sandbox');
    const process = await ConciliaProcess.with({
      ROLES: 'sandbox',
      SANDBOX_DATABASE_URL: database.url,
    });
    await process.start();
    return new BenchBank(database, process);
  }

  get url(): string {
    return this.process.bankUrl;
  }

  /** Generates lines that no business system has announced: most of them become breaks. */
  async generate(count: number): Promise<void> {
    // `fetch` gives up after five minutes without a response, in which a million lines do not fit.
    const sent = request(`${this.url}/sandbox/generate`, {
      method: 'POST',
      headers: { 'x-service-api-key': 'sandbox-dev-key', 'content-type': 'application/json' },
    });
    sent.end(JSON.stringify({ count, seed: 99, days: 1 }));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const body = await text(response);
    if (response.statusCode !== 200) throw new Error(`no lines were generated: ${body}`);
  }

  async close(): Promise<void> {
    await this.process.stop();
    await this.database.drop();
  }
}

export class BenchService {
  private payments = 0;
  /** Begins the ids of its charges: the bank's statement shows those of earlier services too. */
  private readonly name = `bench-${randomUUID().slice(0, 8)}`;

  private constructor(
    readonly bank: BenchBank,
    readonly database: TestDatabase,
    readonly process: ConciliaProcess,
    private readonly receiver: Receiver,
  ) {}

  /** `bankUrl` is the address at which the service calls the bank, where it is another one. */
  static async open(
    bank: BenchBank,
    bankUrl = bank.url,
    settings: Record<string, string> = {},
  ): Promise<BenchService> {
    const database = await testDatabase('service');
    const process = await ConciliaProcess.with({
      ROLES: 'api,worker,scheduler',
      DATABASE_URL: database.url,
      BANK_PROFILE: 'sandbox',
      BANK_BASE_URL: bankUrl,
      ...settings,
    });
    await process.start();
    return new BenchService(bank, database, process, await Receiver.listen());
  }

  async subscribe(...eventTypes: string[]): Promise<void> {
    const { body } = await this.process.callService<{ secret: string }>(
      'POST',
      '/v1/webhook-endpoints',
      { url: this.receiver.url, eventTypes },
    );
    this.receiver.secret = body.secret;
  }

  /** Guards the account, and subscribes to the alarms of a rule about debits. */
  async guard(intervalSeconds: number): Promise<void> {
    await this.subscribe('alarm.raised');
    const condition = { kind: 'unrequested_debit', level: 'alarm' };
    await this.process.callService('POST', '/v1/alert-rules', { name: 'alarm', condition });
    const path = '/v1/accounts/main/payment-controls';
    const body = { guard: { intervalSeconds }, actor: 'bench', reason: 'guard' };
    const response = await fetch(`${this.process.serviceUrl}${path}`, {
      method: 'PUT',
      headers: { 'x-service-api-key': 'concilia-dev-admin', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (response.status !== 200) throw new Error(`the guard got ${response.status}`);
  }

  /** The milliseconds from a debit at the bank to the delivery of its alarm. */
  async alarm(amount: number): Promise<number> {
    const from = Date.now();
    const { body } = await this.bank.process.callBank<{ nsu: number }>(
      'POST',
      '/sandbox/transactions',
      { amount: amount + 1, isCredit: false, typeName: 'DEBIT_PIX' },
    );
    const raised = () =>
      this.receiver.distinct('alarm.raised').find(({ data }) => data.nsu === body.nsu);
    await until('the alarm is received', () => raised() !== undefined, eventTimeoutMs);
    return (raised()?.receivedAt ?? NaN) - from;
  }

  /** Resolves when this many lines are stored and each is explained or in a break. */
  async explained(count: number): Promise<void> {
    await until(
      `${count} lines are explained`,
      async () => {
        const { rows } = await this.database.pool.query<{ isDone: boolean }>(
          `SELECT s.line_count >= $1 AND s.is_anchored AND r.decided_arrival = (
                    SELECT max(arrival) FROM statement_line l WHERE l.account_id = s.account_id
                  ) AS "isDone"
           FROM statement_state s JOIN reconciliation_state r ON r.account_id = s.account_id`,
          [count],
        );
        return rows[0]?.isDone === true;
      },
      importTimeoutMs,
    );
  }

  /** Requests a charge and pays it: its reference, and when it was paid. */
  async payCharge(): Promise<{ correlationId: string; paidAt: number }> {
    this.payments += 1;
    const correlationId = `${this.name}-${this.payments}`;
    const { status } = await this.process.callService('POST', '/baas/v1/charges', {
      type: 'BANKSLIP_PIX',
      correlationId,
      yourNumber: '1',
      dueDate: '2030-12-31',
      Amount: 10,
      payer: { name: 'Maria', document: '12345678909' },
    });
    if (status >= 300) throw new Error(`charge ${correlationId} got ${status}`);
    const paidAt = Date.now();
    await this.bank.process.callBank('POST', '/sandbox/pix/received', { correlationId });
    return { correlationId, paidAt };
  }

  /** Resolves when the event of each payment was received. */
  async settled(): Promise<void> {
    const areAll = () => this.receiver.distinct('charge.paid').length >= this.payments;
    await until('each event is received', areAll, importTimeoutMs);
  }

  /** A charge that is requested now, and the milliseconds from its payment to its event. */
  async settleCharge(): Promise<number> {
    const { correlationId, paidAt } = await this.payCharge();
    const paid = () =>
      this.receiver
        .distinct('charge.paid')
        .find(({ data }) => data.correlationId === correlationId);
    await until('the event is received', () => paid() !== undefined, eventTimeoutMs);
    return (paid()?.receivedAt ?? NaN) - paidAt;
  }

  /** Throws when a payment was lost, or settled or reported twice. */
  async check(): Promise<void> {
    const events = this.receiver.distinct('charge.paid');
    const { rows } = await this.database.pool.query<{ matches: number; lines: string }>(
      `SELECT (SELECT count(*)::int FROM match) AS matches,
              (SELECT sum(line_count) - (SELECT count(*) FROM statement_line)
               FROM statement_state) AS lines`,
    );
    if (events.length !== this.payments || !events.every(({ isSigned }) => isSigned))
      throw new Error(`${events.length} signed events for ${this.payments} payments`);
    if (rows[0]?.matches !== this.payments)
      throw new Error(`${rows[0]?.matches} matches for ${this.payments} payments`);
    if (Number(rows[0].lines) !== 0) throw new Error(`${rows[0].lines} lines counted twice`);
  }

  async close(): Promise<void> {
    await this.process.stop();
    await this.receiver.close();
    await this.database.drop();
  }
}
