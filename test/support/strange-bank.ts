// A bank that nobody configured: the oldest lines first, pages of 37 lines, no client's id on a
// line, lines that come four seconds late, no route that reads a state, five requests in a second.
import { randomUUID } from 'node:crypto';
import { listenHttp, type HttpListener, type ReceivedRequest } from './http-listener.js';

export const strangeKey = 'key-of-a-strange-bank';

interface Line {
  visibleAtMs: number;
  json: Record<string, unknown>;
}

type Answer = [status: number, body: unknown];

export class StrangeBank {
  readonly requests: string[] = [];
  private readonly lines: Line[] = [];
  private readonly charges = new Map<string, { Amount: number; qrCode: string; nsu?: number }>();
  private readonly answers = new Map<string, Answer>();
  private window = { second: 0, requests: 0 };
  private balance = 1_000;
  private listener!: HttpListener;

  static async listen(): Promise<StrangeBank> {
    const bank = new StrangeBank();
    for (let index = 0; index < 80; index += 1) bank.post(1, 'CREDIT_PIX', {}, 0);
    bank.listener = await listenHttp((request, response) => {
      const [status, body] = bank.answer(request);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
    return bank;
  }

  get url(): string {
    return this.listener.url;
  }

  close(): void {
    this.listener.close();
  }

  private answer({ method, path, headers, text }: ReceivedRequest): Answer {
    const url = new URL(path, 'http://bank.example');
    this.requests.push(`${method} ${url.pathname}`);
    if (headers['x-service-api-key'] !== strangeKey) return [401, { title: 'Unauthorized' }];
    const second = Math.floor(Date.now() / 1_000);
    if (second !== this.window.second) this.window = { second, requests: 0 };
    this.window.requests += 1;
    if (this.window.requests > 5) return [429, { title: 'Too many requests' }];
    const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
    const [, payId] = /^\/baas\/v1\/charges\/([^/]+)\/pay$/.exec(url.pathname) ?? [];
    const [, refundId] =
      /^\/baas\/api\/v1\/transactions\/([^/]+)\/refund$/.exec(url.pathname) ?? [];
    if (url.pathname === '/baas/api/v2/transactions') return [200, this.page(url.searchParams)];
    if (method === 'POST' && url.pathname === '/baas/v1/charges') return this.issue(body);
    if (method === 'POST' && payId) return this.pay(payId);
    if (method === 'PUT' && refundId) return this.refund(refundId, Number(body.amount));
    if (method === 'POST' && url.pathname === '/baas/api/v2/transfers')
      return this.transfer(String(headers.idempotencykey), Number(body.amount));
    return [404, { title: 'Not Found', status: 404 }];
  }

  /** A page past the end shows the last one again. */
  private page(query: URLSearchParams): unknown[] {
    const limit = Math.min(37, Number(query.get('limit') ?? 10));
    const visible = this.lines.filter(({ visibleAtMs }) => visibleAtMs <= Date.now());
    const lastPage = Math.max(1, Math.ceil(visible.length / limit));
    const page = Math.min(lastPage, Number(query.get('page') ?? 1));
    return visible.slice((page - 1) * limit, page * limit).map(({ json }) => json);
  }

  private issue({ correlationId, Amount }: Record<string, unknown>): Answer {
    const id = String(correlationId);
    if (this.charges.has(id)) return [409, { title: 'Conflict' }];
    const charge = { Amount: Number(Amount), qrCode: randomUUID() };
    this.charges.set(id, charge);
    return [201, { correlationId: id, amount: charge.Amount, qrCode: charge.qrCode }];
  }

  private pay(correlationId: string): Answer {
    const charge = this.charges.get(correlationId);
    if (!charge) return [404, { title: 'Not Found' }];
    const line = this.post(charge.Amount, 'CREDIT_PIX', { endToEndId: `E${randomUUID()}` });
    return [202, line];
  }

  private refund(correlationId: string, amount: number): Answer {
    if (!this.charges.has(correlationId)) return [404, { title: 'Not Found' }];
    return [200, this.post(-amount, 'DEBIT_PIX_REFUND', { endToEndId: `D${randomUUID()}` })];
  }

  /** A repeat of a key is refused. */
  private transfer(key: string, amount: number): Answer {
    if (this.answers.has(key)) return [422, { title: 'The key was used.' }];
    this.post(-amount, 'DEBIT_TRANSFER_INTERNAL', {});
    this.answers.set(key, [200, { id: randomUUID(), status: 'EFFECTIVE', amount }]);
    return this.answers.get(key) as Answer;
  }

  private post(amount: number, name: string, proof: object, lateMs = 4_000) {
    const balancePrevious = this.balance;
    this.balance = Math.round((this.balance + amount) * 100) / 100;
    const json = {
      ...{ id: randomUUID(), nsu: 500 + 3 * this.lines.length, amount: Math.abs(amount), proof },
      createdAt: new Date().toISOString(),
      type: { name, description: name, isCredit: amount > 0 },
      balance: { balancePrevious, currentBalance: this.balance },
    };
    this.lines.push({ visibleAtMs: Date.now() + lateMs, json });
    return json;
  }
}
