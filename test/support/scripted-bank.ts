// A bank whose statement a test lays out: pages in either order, lines that come late, pages that shift.
import { LosslessNumber } from 'lossless-json';
import type { BankAnswer } from '../../src/bank/answer.js';
import { profileOf } from '../../src/bank/profiles.js';

export interface ScriptedLine {
  nsu: number;
  /** Cents; a credit when positive. */
  cents: number;
  correlationId?: string;
  /** Overrides what a line would carry, to spoil it. */
  override?: Record<string, unknown>;
}

export class ScriptedBank {
  readonly profile = { ...profileOf({ profile: 'sandbox' }), statementPageSize: 3 };
  order: 'desc' | 'asc' = 'desc';
  /** Whether pages come by the time of their lines, not by their numbers. */
  byTime = false;
  lines: ScriptedLine[] = [];
  /** Lines that exist and are not shown. */
  withheld = new Set<number>();
  /** Whether a page past the end is answered with the last one. */
  repeatsLastPage = false;
  /** The most lines that it puts on a page, whatever it is asked for. */
  mostLines = Infinity;
  /** Whether each page has so many, whatever it is asked for. */
  ignoresLimit = false;
  /** The last page that it tells from the one before. */
  mostPages = Infinity;
  /** Its clock. */
  time: () => Date = () => new Date();
  pagesRead = 0;
  /** Called before each page, to change what the pages show. */
  beforePage: (page: number, limit: number) => void | Promise<void> = () => undefined;

  call = async (
    _route: unknown,
    _account: unknown,
    { query }: { query?: { page?: number; limit?: number; startDate?: string } },
  ): Promise<BankAnswer<unknown[]>> => {
    const { page = 1, startDate } = query ?? {};
    await this.beforePage(page, query?.limit ?? 10);
    const wanted = this.ignoresLimit ? Infinity : (query?.limit ?? 10);
    const limit = Math.min(wanted, this.mostLines);
    this.pagesRead += 1;
    const shown = this.statement().filter(
      ({ nsu, createdAt }) =>
        !this.withheld.has(nsu) && (!startDate || createdAt >= `${startDate}T03:00`),
    );
    if (this.byTime) shown.sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
    if (this.order === 'desc') shown.reverse();
    const lastPage = Math.max(1, Math.ceil(shown.length / limit));
    const asked = Math.min(page, this.mostPages, this.repeatsLastPage ? lastPage : Infinity);
    const value = shown.slice((asked - 1) * limit, asked * limit).map(({ raw }) => raw);
    return { outcome: 'success', status: 200, text: '', value, date: this.time() };
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
