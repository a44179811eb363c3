// The bank of the generated year. It serves the statement over HTTP, page by page, with the faults
// of real banks: pages shift while they are read, the newest lines appear out of order, and some
// lines appear late.
import type { ServerResponse } from 'node:http';
import { Dice } from '../chaos/dice.js';
import { listenHttp, type HttpListener } from '../support/http-listener.js';
import type { Year } from './generate.js';
import type { YearLine } from './year-builder.js';

/**
 * The order in which the bank lists lines. With `shuffled` all lines appear at once: without an
 * order no page holds the newest lines, so a late line could not be found.
 */
export type StatementOrder = 'desc' | 'asc' | 'shuffled';

const maxPageLines = 100;
const reais = (cents: number) => (cents / 100).toFixed(2);

interface ServedLine {
  nsu: number;
  at: number;
  balance: string;
  /** The sort key of the order `shuffled`. */
  shuffleKey: number;
  json: string;
}

export class YearBank {
  private listener: HttpListener | null = null;
  private visible: ServedLine[] = [];
  private readonly late: ServedLine[];
  private readonly shifting: ServedLine[];
  private readonly startedAt = Date.now();
  /** The sorted lines of each date range. Cleared when more lines become visible. */
  private readonly sortedByRange = new Map<string, ServedLine[]>();

  private constructor(
    private readonly year: Year,
    private readonly order: StatementOrder,
  ) {
    const dice = new Dice(year.plan.seed, 1);
    const lines = year.lines.map((line) => ({ line, served: serialize(line, dice) }));
    const linesThatAppear = (appears: YearLine['appears']) =>
      lines
        .filter(({ line }) => (order === 'shuffled' ? 'at once' : line.appears) === appears)
        .map(({ served }) => served);
    this.visible = linesThatAppear('at once');
    this.late = linesThatAppear('late');
    // Each pair is swapped: the line with the higher number appears first.
    this.shifting = linesThatAppear('shifting').map((line, index, all) => all[index ^ 1] ?? line);
  }

  static async open(year: Year, order: StatementOrder): Promise<YearBank> {
    const bank = new YearBank(year, order);
    bank.listener = await listenHttp(({ path }, response) => bank.respond(path, response));
    return bank;
  }

  get url(): string {
    return this.listener?.url ?? '';
  }

  /** The bank's time in milliseconds. It runs at the speed of the real clock. */
  get now(): number {
    return this.year.bankTime.getTime() + Date.now() - this.startedAt;
  }

  /** Makes every withheld line visible. */
  showAll(): void {
    this.show([...this.late.splice(0), ...this.shifting.splice(0)]);
  }

  close(): void {
    this.listener?.close();
  }

  private respond(path: string, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(path, 'http://bank');
    response.setHeader('Date', new Date(this.now).toUTCString());
    response.setHeader('Content-Type', 'application/json');
    if (pathname === '/baas/api/v2/transactions') response.end(this.page(searchParams));
    else if (pathname === '/baas/api/v1/balances')
      response.end(`{"amountAvailable":${this.visible.at(-1)?.balance ?? '0.00'}}`);
    else response.writeHead(404).end('{"title":"Not Found","status":404}');
  }

  private page(query: URLSearchParams): string {
    const limit = Math.min(Number(query.get('limit') ?? maxPageLines), maxPageLines);
    const from = (Number(query.get('page') ?? 1) - 1) * limit;
    const lines = this.linesBetween(query.get('startDate'), query.get('endDate'));
    const page = lines.slice(from, from + limit).map(({ json }) => json);
    this.show(this.shifting.splice(0, 1));
    return `[${page.join(',')}]`;
  }

  private linesBetween(startDate: string | null, endDate: string | null): ServedLine[] {
    const range = `${startDate ?? ''} ${endDate ?? ''}`;
    const cached = this.sortedByRange.get(range);
    if (cached) return cached;
    const from = startDate ? Date.parse(`${startDate}T03:00:00Z`) : -Infinity;
    const until = endDate ? Date.parse(`${endDate}T03:00:00Z`) : Infinity;
    const lines = this.visible.filter(({ at }) => at >= from && at < until);
    if (this.order === 'desc') lines.reverse();
    if (this.order === 'shuffled') lines.sort((a, b) => a.shuffleKey - b.shuffleKey);
    this.sortedByRange.set(range, lines);
    return lines;
  }

  private show(lines: ServedLine[]): void {
    if (lines.length === 0) return;
    this.visible = [...this.visible, ...lines].sort((a, b) => a.nsu - b.nsu);
    this.sortedByRange.clear();
  }
}

function serialize(line: YearLine, dice: Dice): ServedLine {
  const { nsu, at, typeName, isCredit, correlationId, notes, proof } = line;
  const others = JSON.stringify({
    id: `line-${nsu}`,
    createdAt: new Date(at).toISOString(),
    type: { name: typeName, description: typeName, isCredit },
    correlationId,
    notes,
    proof,
  });
  const balance = reais(line.currentCents);
  const balances = `{"balancePrevious":${reais(line.previousCents)},"currentBalance":${balance}}`;
  const amount = `"nsu":${nsu},"amount":${reais(line.cents)},"balance":${balances}`;
  return { nsu, at, balance, shuffleKey: dice.next(), json: `{${amount},${others.slice(1)}` };
}
