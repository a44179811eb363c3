// Owns uploaded files of requests and issues their rows at the bank's pace. Each row is identified
// by its own id, and is tied to its operation in the transaction that stores the operation. So a
// crash, a second process, a suspended process or a second upload sends no request twice.
import { Injectable } from '@nestjs/common';
import { assertAccountLive, readSendingRules } from '../accounts/account-modes.queries.js';
import { Settings } from '../config.js';
import { Database } from '../database.service.js';
import type { BulkRow, BulkUpload } from '../generated/service/client.js';
import { assertLeaseHeld, type Lease } from '../leases/leases.queries.js';
import { transactionUnderLease, withLease } from '../leases/leases.service.js';
import { AppError } from '../platform/errors.js';
import { sha256, stringifyJson } from '../platform/exact-json.js';
import { OnJob } from '../platform/job-methods.js';
import { Log } from '../platform/log.js';
import { SecretBox } from '../platform/secret-box.js';
import { JobQueue } from '../platform/job-queue.js';
import { Every } from '../platform/timer-methods.js';
import { newId } from '../platform/ids.js';
import type { JobPayload } from '../queues.js';
import { assertBelowQuota } from '../request-limits/quotas.queries.js';
import * as queries from './bulk.queries.js';
import { maxRows, type BulkKind } from './bulk.schema.js';
import { RowIssuer } from './row-issuer.service.js';
import { readRowRequest, type RowErrors } from './row-request.js';
import { readRows, unreadableFile, type FileFormat, type FileRow } from './upload-reader.js';

/** A job is short, because a process that shuts down waits for it. */
const maxJobMs = 5_000;
const concurrentRows = 8;
const rowsPerRead = 200;
const rowsPerInsert = 5_000;
const rowsPerYield = 200;

@Injectable()
export class BulkService {
  constructor(
    private readonly database: Database,
    private readonly issuer: RowIssuer,
    private readonly secretBox: SecretBox,
    private readonly jobQueue: JobQueue,
    private readonly log: Log,
    private readonly settings: Settings,
  ) {}

  /**
   * Stores the rows of a file and returns the upload's id. The same file uploaded again is the same
   * upload. Throws `validation_failed` when the file cannot be read in its format, `conflict` above
   * the quota of unfinished uploads, and like `assertAccountLive`.
   */
  async upload(
    accountId: number,
    kind: BulkKind,
    format: FileFormat,
    bytes: Buffer,
  ): Promise<string> {
    const fileHash = this.secretBox.hash('bulk-file', `${format} ${sha256(bytes)}`);
    const db = this.database.prisma;
    const where = { accountId_kind_fileHash: { accountId, kind, fileHash } };
    const existing = await db.bulkUpload.findUnique({ where });
    if (existing) return existing.id;
    await assertAccountLive(db, accountId);
    const rows: queries.NewUploadRow[] = [];
    for await (const row of readRows(format, bytes, maxRows)) {
      if (rows.length === maxRows) throw unreadableFile(`The file has more than ${maxRows} rows.`);
      rows.push(newRow(kind, row));
      // Other requests continue while a long file is read.
      if (rows.length % rowsPerYield === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    if (rows.length === 0) throw unreadableFile('The file has no rows.');
    const upload = { accountId, id: newId(), kind, fileHash };
    const { unfinishedUploads: limit } = this.settings.quotas;
    const quota = { accountId, limit, code: 'unfinished_upload_limit', name: 'unfinished uploads' };
    const isNew = await this.database.transaction(async (tx) => {
      await assertBelowQuota(tx, quota, () =>
        tx.bulkUpload.count({ where: { accountId, finishedAt: null } }),
      );
      const { count } = await tx.bulkUpload.createMany({
        data: [{ ...upload, rows: rows.length }],
        skipDuplicates: true,
      });
      if (count === 0) return false;
      for (let first = 0; first < rows.length; first += rowsPerInsert)
        await queries.insertUploadRows(tx, upload, rows.slice(first, first + rowsPerInsert));
      return true;
    });
    if (!isNew) return (await db.bulkUpload.findUniqueOrThrow({ where })).id;
    await queries.finishUploadIfDone(db, accountId, upload.id);
    await this.jobQueue.enqueue('issueBulkRows', { accountId, uploadId: upload.id });
    return upload.id;
  }

  /** Issues rows for `maxJobMs`. Only one process at a time issues rows of an account. */
  @OnJob('issueBulkRows')
  async issueNextRows({ accountId, uploadId }: JobPayload<'issueBulkRows'>): Promise<void> {
    const db = this.database.prisma;
    const where = { accountId_id: { accountId, id: uploadId } };
    const upload = await db.bulkUpload.findUnique({ where });
    if (!upload) return;
    // The rows wait. In a reconcile-only account each row is rejected with that code.
    if ((await readSendingRules(db, accountId)).mode === 'stopped') return;
    const issued = await withLease(this.database, accountId, 'issue_bulk_rows', (lease) =>
      this.issueRows(lease, upload),
    );
    await queries.finishUploadIfDone(db, accountId, uploadId);
    if (issued?.result === 'more')
      await this.jobQueue.enqueue('issueBulkRows', { accountId, uploadId });
  }

  @Every('bulk', 2_000)
  async enqueueUnfinished(): Promise<void> {
    const unfinished = await this.database.prisma.bulkUpload.findMany({
      where: { finishedAt: null },
      orderBy: { createdAt: 'asc' },
      take: 100,
    });
    for (const { accountId, id } of unfinished)
      await this.jobQueue.enqueue('issueBulkRows', { accountId, uploadId: id });
  }

  private async issueRows(lease: Lease, upload: BulkUpload): Promise<'more' | 'all'> {
    const { accountId, id: uploadId } = upload;
    const until = performance.now() + maxJobMs;
    let after = 0;
    for (;;) {
      const pending = await this.database.prisma.bulkRow.findMany({
        where: { accountId, uploadId, state: 'pending', line: { gt: after } },
        orderBy: { line: 'asc' },
        take: rowsPerRead,
      });
      if (pending.length === 0) return 'all';
      const rows = pending.values();
      // Each lane issues its next row when its current row ends, so a slow row does not delay the
      // others.
      const issueInLane = async () => {
        for (const row of rows) {
          await assertLeaseHeld(this.database.prisma, lease);
          await this.issueRow(lease, upload.kind, row);
          after = Math.max(after, row.line);
          if (performance.now() > until) return;
        }
      };
      await Promise.all(Array.from({ length: concurrentRows }, issueInLane));
      if (performance.now() > until) return 'more';
    }
  }

  /** A row that fails because of the service stays pending and does not delay other rows. */
  private async issueRow(lease: Lease, kind: BulkKind, row: BulkRow): Promise<void> {
    const { uploadId, line } = row;
    try {
      const outcome = await this.issuer.issue(kind, row, async (tx, operationId) => {
        await assertLeaseHeld(tx, lease);
        if (!(await queries.claimUploadRow(tx, row, operationId)))
          throw new AppError('conflict', { internal: 'another process has issued the row' });
      });
      await transactionUnderLease(this.database, lease, (tx) =>
        queries.finishUploadRow(tx, { ...row, ...outcome }),
      );
    } catch (error) {
      this.log.warn({ err: error, uploadId, line }, 'bulk row not issued, will be retried');
    }
  }
}

function newRow(kind: BulkKind, row: FileRow): queries.NewUploadRow {
  const { line } = row;
  const invalid = (errors: Record<string, string[]>, reference: string | null) => {
    const rowErrors: RowErrors = { code: 'validation_failed', title: null, errors };
    const stored = { request: null, errors: stringifyJson(rowErrors) };
    return { line, reference, state: 'invalid', ...stored } as const;
  };
  if ('problem' in row) return invalid({ $: [row.problem] }, null);
  const read = readRowRequest(kind, row.request);
  if ('issues' in read) return invalid(read.issues, read.reference);
  const request = stringifyJson(row.request);
  return { line, reference: read.reference, request, state: 'pending', errors: null };
}
