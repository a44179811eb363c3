// Parses unreadable lines again. A line that the current parser can read is recorded as if a sync
// had read it, under the lease of a sync.
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import type { RouteInput, RouteOutput } from '../../bank-contract/route.js';
import { Database } from '../../platform/postgres/database.service.js';
import type { UnreadableLine } from '../../generated/service/client.js';
import type { Lease } from '../../platform/postgres/leases/leases.queries.js';
import { transactionUnderLease, withLease } from '../../platform/postgres/leases/leases.service.js';
import { AppError } from '../../platform/errors.js';
import { sleepOutsideSlot } from '../../platform/limits/request-slots.service.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { jobs } from '../../platform/queue/queues.js';
import { readPage, toList } from '../../platform/http/listing.js';
import { parseStoredContent } from './statement-line.js';
import { recordLines } from './line-recording.queries.js';
import { findStoredLines, lockStatementState } from './statement.queries.js';
import { markLinesRead } from './unreadable-lines.queries.js';
import type { listUnreadableLines, redriveUnreadableLines } from './unreadable-lines.schema.js';

const pageSize = 500;
/** How long a redrive waits for a running sync. */
const leaseTimeoutMs = 10_000;
const leaseRetryMs = 100;

type RedriveResult = RouteOutput<typeof redriveUnreadableLines>;

@Injectable()
export class UnreadableLines {
  constructor(
    private readonly database: Database,
    @InjectQueue(jobs.syncStatement.name)
    private readonly syncStatementQueue: JobQueue<'syncStatement'>,
    @InjectQueue(jobs.reconcile.name) private readonly reconcileQueue: JobQueue<'reconcile'>,
  ) {}

  /** One page, newest first. */
  async list(accountId: number, query: RouteInput<typeof listUnreadableLines>['query']) {
    const page = readPage(query, isCursor);
    const { kind, nsu, isResolved } = query;
    const rows = await this.database.prisma.unreadableLine.findMany({
      where: {
        ...{ accountId, kind, nsu },
        ...(isResolved === undefined ? {} : { resolvedAt: isResolved ? { not: null } : null }),
        ...(page.after === null ? {} : isAfter(page.after)),
      },
      orderBy: [{ recordedAt: 'desc' }, { contentHash: 'desc' }],
      take: page.limit + 1,
    });
    return toList(rows, page, keyOf, describeUnreadableLine);
  }

  /** Throws `not_found` when the account has no unreadable line with this id. */
  async get(accountId: number, id: string): Promise<UnreadableLine> {
    const row = await this.database.prisma.unreadableLine.findUnique({
      where: { accountId_contentHash: { accountId, contentHash: id } },
    });
    if (!row) throw new AppError('not_found');
    return row;
  }

  /**
   * Reads all open unreadable lines again, or only the line with `onlyHash`. Throws `conflict` when
   * a sync runs for too long.
   */
  async redrive(accountId: number, onlyHash: string | null = null): Promise<RedriveResult> {
    const deadline = performance.now() + leaseTimeoutMs;
    for (;;) {
      const done = await withLease(this.database, accountId, 'sync_statement', (lease) =>
        this.redriveWithLease(lease, onlyHash),
      );
      if (done) {
        if (done.result.read > 0) {
          // The next sync checks the balance chain.
          await this.syncStatementQueue.enqueue({ accountId });
          await this.reconcileQueue.enqueue({ accountId });
        }
        return done.result;
      }
      if (performance.now() > deadline)
        throw new AppError('conflict', {
          public: 'A statement sync is running. Try again in 10 seconds.',
          headers: { 'retry-after': '10' },
        });
      await sleepOutsideSlot(leaseRetryMs);
    }
  }

  private async redriveWithLease(lease: Lease, onlyHash: string | null): Promise<RedriveResult> {
    const { accountId } = lease;
    const result: RedriveResult = { read: 0, unreadable: 0 };
    for (let afterHash = ''; ;) {
      const contentHash = { gt: afterHash, ...(onlyHash === null ? {} : { equals: onlyHash }) };
      const rows = await this.database.prisma.unreadableLine.findMany({
        where: { accountId, kind: 'unreadable', resolvedAt: null, contentHash },
        orderBy: { contentHash: 'asc' },
        take: pageSize,
      });
      const read = await this.recordReadable(lease, rows);
      result.read += read;
      result.unreadable += rows.length - read;
      if (rows.length < pageSize) return result;
      afterHash = rows.at(-1)?.contentHash ?? '';
    }
  }

  /**
   * Records the lines that can be read now; returns their number. A line stays unreadable if
   * another stored line has its nsu.
   */
  private async recordReadable(
    lease: Lease,
    rows: { contentHash: string; content: string }[],
  ): Promise<number> {
    const { accountId } = lease;
    // Text that cannot be read does not stop the other lines.
    const lines = rows.flatMap(({ content }) => parseStoredContent(content) ?? []);
    if (lines.length === 0) return 0;
    return transactionUnderLease(this.database, lease, async (tx) => {
      await lockStatementState(tx, accountId);
      const nsus = lines.map(({ nsu }) => nsu);
      const stored = await findStoredLines(tx, accountId, nsus);
      const hashOfNsu = new Map(stored.map((row) => [row.nsu, row.contentHash]));
      for (const { nsu, contentHash } of lines)
        if (!hashOfNsu.has(nsu)) hashOfNsu.set(nsu, contentHash);
      const readable = lines.filter((line) => hashOfNsu.get(line.nsu) === line.contentHash);
      const parsed = readable.map((line) => ({ ok: true, line }) as const);
      await recordLines(tx, accountId, parsed);
      const hashes = readable.map(({ contentHash }) => contentHash);
      await markLinesRead(tx, accountId, hashes);
      return hashes.length;
    });
  }
}

function keyOf({ recordedAt, contentHash }: UnreadableLine): string {
  return `${recordedAt.toISOString()} ${contentHash}`;
}

function isCursor(text: string): boolean {
  return (
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z [0-9a-f]{1,100}$/.test(text) &&
    !Number.isNaN(Date.parse(text.slice(0, 24)))
  );
}

function isAfter(cursor: string) {
  const recordedAt = new Date(cursor.slice(0, 24));
  const contentHash = { lt: cursor.slice(25) };
  return { OR: [{ recordedAt: { lt: recordedAt } }, { recordedAt, contentHash }] };
}

export function describeUnreadableLine({ content: _, ...line }: UnreadableLine) {
  return { ...line, id: line.contentHash };
}
