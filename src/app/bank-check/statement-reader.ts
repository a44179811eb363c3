// Reads the statement of the bank under check: its lines from before the check, the length of its
// pages, and which new lines each later reading shows.
import { z } from 'zod';
import { addDays, type PlainDate } from '../../brazil/calendar.js';
import { statementDayOf } from '../../brazil/statement-day.js';
import { readStatementPage, transaction } from '../../bank-contract/statement.js';
import { isJsonObject } from '../../platform/json/exact-json.js';
import { CommandFailure } from '../exit.js';
import type { BankClient } from './bank-client.js';
import {
  isSuccess,
  type CheckAnswer,
  type CapObservation,
  type NewLine,
  type SeenLine,
} from './observations.js';

/** The largest `limit` that the check requests. */
const mostLines = 2_000;
/** A reading of the lines since yesterday ends here, whatever comes. */
const mostPages = 200;

export class StatementReader {
  readonly pages: bigint[][] = [];
  readonly history = new Map<bigint, SeenLine>();
  readonly newLines = new Map<bigint, NewLine>();
  private pageSize = mostLines;
  private readings = 0;
  /** Null while no page has shown two lines. */
  private isOldestFirst: boolean | null = null;
  /** Where the new lines begin, when the oldest lines come first. */
  private firstPage = 1;

  constructor(private readonly client: BankClient) {}

  /** Reads all that is there before the check does anything. Throws CommandFailure. */
  async readHistory(): Promise<CapObservation> {
    const cap = await this.observeCap(await this.findLargestTaken());
    await this.readOn((line) => this.history.set(line.nsu, line));
    return cap;
  }

  /** How many lines a page has that should have many. */
  async observeCap(largestTaken: number | null): Promise<CapObservation> {
    const requested = largestTaken ?? mostLines;
    const lines = await this.readPage(1, requested);
    const isShort = lines.length > 0 && lines.length < requested;
    const next = isShort ? await this.readPage(2, lines.length) : [];
    const again = isShort ? await this.readPage(1, requested) : lines;
    if (this.readings === 0)
      for (const line of [...lines, ...next, ...again]) this.history.set(line.nsu, line);
    const known = new Set(lines.map(({ nsu }) => nsu));
    const hasMore = next.some(({ nsu }) => !known.has(nsu));
    this.pageSize = hasMore ? lines.length : requested;
    const counts = { lines: lines.length, linesAgain: again.length };
    return { requested, ...counts, hasMore, largestTaken };
  }

  /** Records the lines that earlier readings did not show. */
  async readNew(): Promise<void> {
    this.readings += 1;
    await this.readOn((line) => {
      if (!this.history.has(line.nsu) && !this.newLines.has(line.nsu))
        this.newLines.set(line.nsu, {
          ...line,
          ...{ reading: this.readings, seenAtMs: performance.now() },
        });
    });
  }

  /** From the first page that may have new lines, to the last one. */
  private async readOn(record: (line: SeenLine) => void): Promise<void> {
    const startDate = this.yesterday();
    const isFirst = this.readings === 0;
    const seen = new Set<bigint>();
    let limit = this.pageSize;
    for (let page = this.firstPage; page < this.firstPage + mostPages; page += 1) {
      const lines = await this.readPage(page, limit, startDate);
      const unseen = lines.filter(({ nsu }) => !seen.has(nsu));
      if (unseen.length === 0) return;
      for (const line of unseen) seen.add(line.nsu);
      unseen.forEach(record);
      if (isFirst && this.isOldestFirst) this.firstPage = page;
      if (!isFirst && this.isOldestFirst === false && unseen.every((line) => this.isOld(line)))
        return;
      // A bank may count pages by the length that was requested, or by that which it sends.
      if (page === 1) limit = Math.min(limit, lines.length);
    }
  }

  private isOld({ nsu }: SeenLine): boolean {
    return this.history.has(nsu);
  }

  /** A day earlier than today, because a day of the bank may begin at another hour. */
  private yesterday(): PlainDate {
    const { bankTime } = this.client;
    if (!bankTime) throw new CommandFailure('The bank sends no Date header.');
    return addDays(statementDayOf(bankTime), -1);
  }

  private async readPage(page: number, limit: number, startDate?: PlainDate): Promise<SeenLine[]> {
    const lines = linesOf(await this.ask(page, limit, startDate));
    this.pages.push(lines.map(({ nsu }) => nsu));
    if (lines.length > 1) this.isOldestFirst ??= lines[0]!.nsu < lines[1]!.nsu;
    return lines;
  }

  private async ask(page: number, limit: number, startDate?: PlainDate): Promise<CheckAnswer> {
    const query = { page, limit, ...(startDate ? { startDate } : {}) };
    const answer = await this.client.ask(readStatementPage, { query });
    if (isSuccess(answer) && Array.isArray(answer.json)) return answer;
    const what = answer.status === null ? 'does not answer' : `answers ${answer.status}`;
    throw new CommandFailure(`The bank ${what} when its statement is read.`);
  }

  /** Null where the bank takes every `limit` that is tried, whether or not it sends so many. */
  private async findLargestTaken(): Promise<number | null> {
    const isTaken = async (limit: number) => {
      const answer = await this.client.ask(readStatementPage, { query: { page: 1, limit } });
      return ![400, 422].includes(answer.status ?? 0);
    };
    if (await isTaken(mostLines)) return null;
    let [taken, refused] = [1, mostLines];
    while (refused - taken > 1) {
      const middle = Math.floor((taken + refused) / 2);
      if (await isTaken(middle)) taken = middle;
      else refused = middle;
    }
    return taken;
  }
}

function linesOf({ json }: CheckAnswer): SeenLine[] {
  return (json as unknown[]).flatMap((item) => {
    const parsed = z.safeDecode(transaction, item as never);
    if (!parsed.success || parsed.data.nsu == null) return [];
    const { nsu, amount, type, correlationId, ...line } = parsed.data;
    const proof = isJsonObject(line.proof) ? line.proof : {};
    const idOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);
    return {
      nsu,
      isCredit: type?.isCredit ?? null,
      amountCents: amount,
      correlationId: correlationId ?? null,
      externalId: idOf(line.externalId) ?? idOf(proof.externalId),
      endToEndId: idOf(proof.endToEndId),
      originalEndToEndId: idOf(proof.originalEndToEndId),
    };
  });
}
