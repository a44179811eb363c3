// The year's bank: serves the statement over HTTP, page by page, as an unkind one does: pages shift while they are
// read, the newest lines show out of order, some lines show late.
import type { ServerResponse } from 'node:http';
import { listenHttp, type HttpListener } from '../support/http-listener.js';
import { Dice } from '../chaos/dice.js';
import type { Line } from './book.js';
import type { Year } from './generate.js';

/** Shuffled, all shows at once: who shows his lines in no order has no newest ones to look for them by. */
export type ShownOrder = 'desc' | 'asc' | 'shuffled';

const mostLines = 100;
const reais = (cents: number) => (cents / 100).toFixed(2);

interface Written {
  nsu: number;
  at: number;
  balance: string;
  /** Its place when the order is none. */
  place: number;
  json: string;
}

export class YearBank {
  private listener: HttpListener | null = null;
  private shown: Written[] = [];
  private readonly late: Written[];
  private readonly shifting: Written[];
  private readonly startedAt = Date.now();
  /** What a page is cut from, kept until something more shows. */
  private readonly ordered = new Map<string, Written[]>();
  pagesRead = 0;

  private constructor(
    private readonly year: Year,
    private readonly order: ShownOrder,
  ) {
    const dice = new Dice(year.plan.seed, 1);
    const written = year.lines.map((line) => ({ line, written: write(line, dice) }));
    const of = (shown: Line['shown']) =>
      written
        .filter(({ line }) => (order === 'shuffled' ? 'at once' : line.shown) === shown)
        .map((each) => each.written);
    this.shown = of('at once');
    this.late = of('late');
    // Each pair the wrong way round: the later number shows first.
    this.shifting = of('shifting').map((each, place, all) => all[place ^ 1] ?? each);
  }

  static async open(year: Year, order: ShownOrder): Promise<YearBank> {
    const bank = new YearBank(year, order);
    bank.listener = await listenHttp(({ path }, response) => bank.answer(path, response));
    return bank;
  }

  get url(): string {
    return this.listener?.url ?? '';
  }

  /** The bank's time: it goes on as ours does. */
  get now(): number {
    return this.year.bankTime.getTime() + Date.now() - this.startedAt;
  }

  /** What was withheld shows from now on. */
  showAll(): void {
    this.show([...this.late.splice(0), ...this.shifting.splice(0)]);
  }

  close(): void {
    this.listener?.close();
  }

  private answer(path: string, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(path, 'http://bank');
    response.setHeader('Date', new Date(this.now).toUTCString());
    response.setHeader('Content-Type', 'application/json');
    if (pathname === '/baas/api/v2/transactions') response.end(this.page(searchParams));
    else if (pathname === '/baas/api/v1/balances')
      response.end(`{"amountAvailable":${this.shown.at(-1)?.balance ?? '0.00'}}`);
    else response.writeHead(404).end('{"title":"Not Found","status":404}');
  }

  private page(asked: URLSearchParams): string {
    const limit = Math.min(Number(asked.get('limit') ?? mostLines), mostLines);
    const from = (Number(asked.get('page') ?? 1) - 1) * limit;
    const lines = this.linesOf(asked.get('startDate'), asked.get('endDate'));
    this.pagesRead += 1;
    const page = lines.slice(from, from + limit).map(({ json }) => json);
    this.show(this.shifting.splice(0, 1));
    return `[${page.join(',')}]`;
  }

  private linesOf(startDate: string | null, endDate: string | null): Written[] {
    const name = `${startDate ?? ''} ${endDate ?? ''}`;
    const known = this.ordered.get(name);
    if (known) return known;
    const from = startDate ? Date.parse(`${startDate}T03:00:00Z`) : -Infinity;
    const until = endDate ? Date.parse(`${endDate}T03:00:00Z`) : Infinity;
    const lines = this.shown.filter(({ at }) => at >= from && at < until);
    if (this.order === 'desc') lines.reverse();
    if (this.order === 'shuffled') lines.sort((a, b) => a.place - b.place);
    this.ordered.set(name, lines);
    return lines;
  }

  private show(lines: Written[]): void {
    if (lines.length === 0) return;
    this.shown = [...this.shown, ...lines].sort((a, b) => a.nsu - b.nsu);
    this.ordered.clear();
  }
}

function write(line: Line, dice: Dice): Written {
  const { nsu, at, typeName, isCredit, correlationId, notes, proof } = line;
  const rest = JSON.stringify({
    id: `line-${nsu}`,
    createdAt: new Date(at).toISOString(),
    type: { name: typeName, description: typeName, isCredit },
    correlationId,
    notes,
    proof,
  });
  const balance = reais(line.currentCents);
  const balances = `{"balancePrevious":${reais(line.previousCents)},"currentBalance":${balance}}`;
  const json = `{"nsu":${nsu},"amount":${reais(line.cents)},"balance":${balances},${rest.slice(1)}`;
  return { nsu, at, balance, place: dice.next(), json };
}
