// A bank whose statement a test defines: pages in either order, late lines, shifting pages.
import { LosslessNumber } from 'lossless-json';
import type { BankResponse } from '../../src/bank/response-classification.js';
import { bankProfileOf } from '../../src/bank/profiles.js';

export interface ScriptedLine {
  nsu: number;
  /** Cents; a credit when positive. */
  cents: number;
  correlationId?: string;
  /** Overrides fields of the line, to make it invalid. */
  override?: Record<string, unknown>;
}

export class ScriptedBank {
  readonly profile = { ...bankProfileOf({ profile: 'sandbox' }), statementPageSize: 3 };
  order: 'desc' | 'asc' = 'desc';
  /** Whether lines are ordered by time instead of nsu. */
  byTime = false;
  lines: ScriptedLine[] = [];
  /** The nsu of lines that exist but do not appear on any page. */
  withheld = new Set<number>();
  /** Whether a page past the end repeats the last page. */
  repeatsLastPage = false;
  /** The most lines on a page, whatever the limit of the request. */
  maxPageSize = Infinity;
  /** Whether the limit of the request is ignored. */
  ignoresLimit = false;
  /** The last page; each later one repeats it. */
  maxPages = Infinity;
  /** The clock of the bank. */
  clock: () => Date = () => new Date();
  pagesRead = 0;
  /** Called before each page, to change the statement between pages. */
  beforePage: (page: number, limit: number) => void | Promise<void> = () => undefined;

  call = async (
    _route: unknown,
    _account: unknown,
    { query }: { query?: { page?: number; limit?: number; startDate?: string } },
  ): Promise<BankResponse<unknown[]>> => {
    const { page = 1, startDate } = query ?? {};
    await this.beforePage(page, query?.limit ?? 10);
    const requestedLimit = this.ignoresLimit ? Infinity : (query?.limit ?? 10);
    const limit = Math.min(requestedLimit, this.maxPageSize);
    this.pagesRead += 1;
    const visible = this.statement().filter(
      ({ nsu, createdAt }) =>
        !this.withheld.has(nsu) && (!startDate || createdAt >= `${startDate}T03:00`),
    );
    if (this.byTime) visible.sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
    if (this.order === 'desc') visible.reverse();
    const lastPage = Math.max(1, Math.ceil(visible.length / limit));
    const shownPage = Math.min(page, this.maxPages, this.repeatsLastPage ? lastPage : Infinity);
    const value = visible.slice((shownPage - 1) * limit, shownPage * limit).map(({ raw }) => raw);
    return { outcome: 'success', status: 200, text: '', value, date: this.clock() };
  };

  /** Every line with its balances, in nsu order. */
  private statement(): { nsu: number; createdAt: string; raw: unknown }[] {
    let balance = 10_000;
    return [...this.lines]
      .sort((a, b) => a.nsu - b.nsu)
      .map((line) => {
        const previous = balance;
        balance += line.cents;
        const raw = rawLine(line, previous, balance);
        return { nsu: line.nsu, createdAt: String(raw.createdAt), raw };
      });
  }
}

function rawLine(line: ScriptedLine, previousCents: number, currentCents: number) {
  return {
    id: `line-${line.nsu}`,
    nsu: number(line.nsu),
    amount: reais(Math.abs(line.cents)),
    createdAt: new Date(Date.UTC(2026, 10, 21, 12, 0, line.nsu)).toISOString(),
    type: { name: line.cents > 0 ? 'CREDIT_PIX' : 'DEBIT_PIX', isCredit: line.cents > 0 },
    balance: { balancePrevious: reais(previousCents), currentBalance: reais(currentCents) },
    ...(line.correlationId ? { correlationId: line.correlationId } : {}),
    ...line.override,
  } as Record<string, unknown>;
}

const number = (value: number) => new LosslessNumber(String(value));
const reais = (cents: number) => new LosslessNumber((cents / 100).toFixed(2));
