// Reads lines again that could not be read when they came: what the reader of today understands is mirrored as if a poll
// had brought it, under the lock of the polls.
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { v4 as uuidv4 } from 'uuid';
import { Database } from '../database.service.js';
import { AppError } from '../platform/errors.js';
import { parseJson } from '../platform/exact-json.js';
import { JobQueue } from '../platform/job-queue.js';
import { readLine, type StatementLine } from './line.js';
import { recordLines } from './recording.queries.js';
import { beginSync, findKnown, isCurrent } from './statement.queries.js';
import * as queries from './unreadable-lines.queries.js';

const pageSize = 500;
/** For the poll that is under way. */
const patienceMs = 10_000;
const lookEveryMs = 100;

export interface Redriven {
  /** Lines that can be read now. */
  read: number;
  unreadable: number;
}

@Injectable()
export class UnreadableLines {
  constructor(
    private readonly database: Database,
    private readonly jobQueue: JobQueue,
  ) {}

  /** Throws `not_found` for what is no line of the account that was set aside. */
  async get(accountId: number, id: string): Promise<queries.UnreadableRow> {
    const row = await queries.findUnreadable(this.database.prisma, accountId, id);
    if (!row) throw new AppError('not_found');
    return row;
  }

  /** Reads those that are open again, or one of them. Throws `conflict` while a long poll is under way. */
  async redrive(accountId: number, onlyHash: string | null = null): Promise<Redriven> {
    const giveUpAt = performance.now() + patienceMs;
    for (;;) {
      const done = await this.database.alone('syncStatement', accountId, (stillHere) =>
        this.readAgain(accountId, onlyHash, stillHere),
      );
      if (done) return this.tell(accountId, done.result);
      if (performance.now() > giveUpAt)
        throw new AppError('conflict', {
          public: 'The statement is being read; try again in a while.',
          headers: { 'retry-after': '10' },
        });
      await sleep(lookEveryMs);
    }
  }

  private async tell(accountId: number, redriven: Redriven): Promise<Redriven> {
    if (redriven.read > 0) {
      // The chain is proved by the next poll.
      await this.jobQueue.enqueue('syncStatement', { accountId });
      await this.jobQueue.enqueue('reconcile', { accountId });
    }
    return redriven;
  }

  private async readAgain(
    accountId: number,
    onlyHash: string | null,
    stillHere: () => Promise<void>,
  ): Promise<Redriven> {
    const sync = { accountId, token: uuidv4() };
    await beginSync(this.database.prisma, sync, 0);
    const sum: Redriven = { read: 0, unreadable: 0 };
    for (let afterHash = ''; ;) {
      await stillHere();
      const asked = { onlyHash, afterHash, limit: pageSize };
      const rows = await queries.listToReadAgain(this.database.prisma, accountId, asked);
      const read = await this.readPage(sync, rows);
      sum.read += read;
      sum.unreadable += rows.length - read;
      if (rows.length < pageSize) return sum;
      afterHash = rows.at(-1)?.contentHash ?? '';
    }
  }

  /** How many of the lines are in the mirror now. One whose number another line has stays aside. */
  private async readPage(
    sync: { accountId: number; token: string },
    rows: { contentHash: string; content: string }[],
  ): Promise<number> {
    const { accountId } = sync;
    const lines = rows.flatMap(({ content }) => readAgain(content));
    if (lines.length === 0) return 0;
    return this.database.transaction(async (tx) => {
      if (!(await isCurrent(tx, sync))) throw new AppError('conflict');
      const nsus = lines.map(({ nsu }) => nsu);
      const before = await findKnown(tx, accountId, nsus);
      const taken = new Map(before.map((row) => [row.nsu, row.contentHash]));
      for (const line of lines) if (!taken.has(line.nsu)) taken.set(line.nsu, line.contentHash);
      const mirrored = lines.filter((line) => taken.get(line.nsu) === line.contentHash);
      await recordLines(
        tx,
        accountId,
        mirrored.map((line) => ({ ok: true, line })),
      );
      const hashes = mirrored.map(({ contentHash }) => contentHash);
      await queries.markRead(tx, accountId, hashes);
      return hashes.length;
    });
  }
}

/** The line, where it can be read now. What is no JSON any more holds up no other. */
function readAgain(content: string): StatementLine[] {
  try {
    const reading = readLine(parseJson(content));
    return reading.ok ? [reading.line] : [];
  } catch {
    return [];
  }
}
