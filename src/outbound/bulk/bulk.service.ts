// Owns uploaded files of requests and issues their rows at the bank's pace. Each row is identified
// by its own id, and is tied to its operation in the transaction that stores the operation. So a
// crash, a second process, a suspended process or a second upload sends no request twice.
import type { Readable } from 'node:stream';
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { fieldError, type FieldErrors } from '../../bank-contract/field-errors.js';
import {
  assertAccountLive,
  readSendingRules,
} from '../../access/accounts/account-modes.queries.js';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import { Settings } from '../../platform/settings/config.js';
import { firstErrors } from '../../bank-contract/errors.js';
import { Database, type Tx } from '../../platform/postgres/database.service.js';
import type { BulkRow, BulkUpload } from '../../generated/service/client.js';
import { assertLeaseHeld, type Lease } from '../../platform/postgres/leases/leases.queries.js';
import { transactionUnderLease, withLease } from '../../platform/postgres/leases/leases.service.js';
import { AppError, conflict } from '../../platform/errors.js';
import { sha256, stringifyJson } from '../../platform/json/exact-json.js';
import { Log } from '../../platform/log.js';
import { SecretBox } from '../../platform/secret-box.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { waitOutsideSlot } from '../../platform/limits/request-slots.service.js';
import { withReceivedFile, type ReceivedFile } from '../../platform/files/received-file.js';
import { pausesBetweenSlices, Slots } from '../../platform/slots.js';
import { Every } from '../../platform/queue/timers.js';
import { newId } from '../../platform/ids.js';
import { jobs, type JobPayload } from '../../platform/queue/queues.js';
import { openLimits } from '../../platform/limits/limits.js';
import { OpenCounts } from '../../platform/limits/memory-limits.js';
import { assertBelowQuota, type Quota } from '../../platform/limits/quotas.queries.js';
import * as queries from './bulk.queries.js';
import { maxFileBytes, maxRows, type BulkKind, type CheckedFile } from './bulk.schema.js';
import { RowIssuer } from './row-issuer.service.js';
import {
  readRowErrors,
  readRowRequest,
  rowInForm,
  type RowErrors,
  type RowPayment,
} from './row-request.js';
import { CellStyle } from './spreadsheet-cell.js';
import { readRows, refuseChoiceOfSheet, type FileReading, type FileRow } from './upload-reader.js';
import { unreadableFile } from './upload-text.js';

/** A job is short, because a process that shuts down waits for it. */
const maxJobMs = 5_000;
const uploadsPerSweep = 100;
const concurrentRows = 8;
/** A row may be as large as the body of a request. */
const rowsPerRead = 50;
/** The rows of one INSERT: few and short enough to be sent in a few milliseconds. */
const rowsPerInsert = 500;
const charactersPerInsert = 262_144;
/** A page of rows shows the errors of each. */
const maxErrorsOfRow = 20;
/** How many invalid rows a check describes, and how many payees: those that get most. */
const maxCheckedErrors = 50;
const maxCheckedPayees = 50;
const maxPayeeLength = 100;
/** The rows of a large file are validated and stored in one transaction. */
const storingTimeoutMs = 600_000;

type NewUpload = Pick<BulkUpload, 'accountId' | 'id' | 'kind' | 'fileHash' | 'requestedBy'>;

@Injectable()
export class BulkService {
  /** Files whose rows are being stored: each holds a database connection. */
  private readonly storing = new Slots(2);
  /** Files whose rows are being checked. */
  private readonly checking = new Slots(2);
  private readonly uploads = new OpenCounts<number>(openLimits.uploads);

  constructor(
    private readonly database: Database,
    private readonly issuer: RowIssuer,
    private readonly secretBox: SecretBox,
    @InjectQueue(jobs.issueBulkRows.name)
    private readonly issueBulkRowsQueue: JobQueue<'issueBulkRows'>,
    private readonly log: Log,
    private readonly settings: Settings,
  ) {}

  /**
   * Stores the rows of a file and returns the upload's id. The same file uploaded again is the same
   * upload. `hash` is that of the check, if it was checked: throws `conflict` when it is another
   * file, another kind, or another sheet. Throws `validation_failed` when the file cannot be read
   * in its format, `rate_limited` while the account has too many uploads in progress, `conflict`
   * above the quota of unfinished uploads, and like `assertAccountLive`.
   */
  async upload(
    { accountId, actor: requestedBy }: Pick<Caller, 'accountId' | 'actor'>,
    kind: BulkKind,
    { hash, ...reading }: FileReading & { hash?: string | undefined },
    body: Readable,
  ): Promise<string> {
    return this.receive(accountId, reading, body, async (file) => {
      const { prisma: db } = this.database;
      if (hash !== undefined && hash !== checkHash(kind, reading, file))
        throw conflict('file_changed', 'This is not the file that was checked.');
      const fileHash = this.secretBox.hash('bulk-file', contentOf(reading, file));
      const where = { accountId_kind_fileHash: { accountId, kind, fileHash } };
      const stored = await db.bulkUpload.findUnique({ where });
      if (stored) return stored.id;
      await assertAccountLive(db, accountId);
      const upload = { accountId, id: newId(), kind, fileHash, requestedBy };
      return this.storing.run(() => this.storeUpload(upload, reading, file));
    });
  }

  /**
   * Reads and validates the rows of a file as `upload` does, and stores nothing. Throws like
   * `upload`, but for the quota and the mode of the account.
   */
  async check(
    accountId: number,
    kind: BulkKind,
    reading: FileReading,
    body: Readable,
  ): Promise<CheckedFile> {
    return this.receive(accountId, reading, body, (file) =>
      this.checking.run(() => checkRows(kind, reading, file)),
    );
  }

  private async receive<Result>(
    accountId: number,
    reading: FileReading,
    body: Readable,
    work: (file: ReceivedFile) => Promise<Result>,
  ): Promise<Result> {
    refuseChoiceOfSheet(reading);
    const end = this.uploads.begin(accountId);
    try {
      // Uploads have limits of their own: a long one must not take the place of a payment.
      return await waitOutsideSlot(() => withReceivedFile(body, maxFileBytes, work));
    } finally {
      end();
    }
  }

  /** Issues rows for `maxJobMs`. Only one process at a time issues rows of an account. */
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
    if (issued?.result === 'more') await this.issueBulkRowsQueue.enqueue({ accountId, uploadId });
  }

  @Every('bulk', 2)
  async enqueueUnfinished(): Promise<void> {
    for (const { accountId, id } of await queries.listUnfinishedUploads(
      this.database.prisma,
      uploadsPerSweep,
    ))
      await this.issueBulkRowsQueue.enqueue({ accountId, uploadId: id });
  }

  /** Returns the id of the upload, or of the same file's earlier upload. */
  private async storeUpload(
    upload: NewUpload,
    reading: FileReading,
    file: ReceivedFile,
  ): Promise<string> {
    const { prisma: db } = this.database;
    const { accountId, id, kind, fileHash } = upload;
    // The whole file is checked first: what is rejected was never inserted.
    const style = new CellStyle();
    const rows = await countRows(readRows(reading, file.chunks(), maxRows, style));
    const isNew = await this.database.transaction(
      async (tx) => {
        const data = [{ ...upload, rows }];
        const { count } = await tx.bulkUpload.createMany({ data, skipDuplicates: true });
        if (count === 0) return false;
        await storeRows(tx, upload, readRows(reading, file.chunks(), maxRows, style));
        // Last, because what else is added to the account waits from here until the commit.
        await this.assertBelowQuota(tx, upload);
        return true;
      },
      { timeoutMs: storingTimeoutMs },
    );
    if (!isNew) {
      const where = { accountId_kind_fileHash: { accountId, kind, fileHash } };
      return (await db.bulkUpload.findUniqueOrThrow({ where })).id;
    }
    await queries.finishUploadIfDone(db, accountId, id);
    await this.issueBulkRowsQueue.enqueue({ accountId, uploadId: id });
    return id;
  }

  private async assertBelowQuota(tx: Tx, { accountId, id }: NewUpload): Promise<void> {
    const { unfinishedUploads: limit } = this.settings.quotas;
    const quota: Quota = {
      accountId,
      limit,
      code: 'unfinished_upload_limit',
      name: 'unfinished uploads',
    };
    await assertBelowQuota(tx, quota, () =>
      tx.bulkUpload.count({ where: { accountId, finishedAt: null, id: { not: id } } }),
    );
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
          await this.issueRow(lease, upload, row);
          after = Math.max(after, row.line);
          if (performance.now() > until) return;
        }
      };
      await Promise.all(Array.from({ length: concurrentRows }, issueInLane));
      if (performance.now() > until) return 'more';
    }
  }

  /** A row that fails because of the service stays pending and does not delay other rows. */
  private async issueRow(lease: Lease, upload: BulkUpload, row: BulkRow): Promise<void> {
    const { accountId, uploadId, line } = row;
    try {
      const outcome = await this.issuer.issue(upload, row, async (tx, operationId) => {
        await assertLeaseHeld(tx, lease);
        if (!(await queries.claimUploadRow(tx, row, operationId)))
          throw new AppError('conflict', { internal: 'another process has issued the row' });
      });
      const pending = { accountId, uploadId, line, state: 'pending' } as const;
      // From here on, the operation alone stores the request.
      await transactionUnderLease(this.database, lease, (tx) =>
        tx.bulkRow.updateMany({ where: pending, data: { ...outcome, request: null } }),
      );
    } catch (error) {
      this.log.warn({ err: error, uploadId, line }, 'bulk row not issued, will be retried');
    }
  }
}

/** What is read of a file: another sheet of it, or other columns, is another upload. */
function contentOf({ format, ...choice }: FileReading, { sha256 }: ReceivedFile): string {
  const chosen = Object.entries(choice).filter(
    ([name, value]) => name !== 'day' && value !== undefined,
  );
  return [format, sha256, ...(chosen.length > 0 ? [stringifyJson(chosen)] : [])].join(' ');
}

/** Throws `validation_failed` where the file cannot be read, and when it has no rows. */
async function countRows(rows: AsyncIterable<FileRow>): Promise<number> {
  // The reader is ahead of the pauses of the file by what its streams buffer.
  const pause = pausesBetweenSlices();
  let count = 0;
  for await (const _ of rows) {
    count += 1;
    await pause();
  }
  if (count === 0) throw unreadableFile(fieldError('no_rows'));
  return count;
}

/** Of what is issued: the file, and what it is read as. */
function checkHash(kind: BulkKind, reading: FileReading, file: ReceivedFile): string {
  return sha256(`${kind} ${contentOf(reading, file)}`);
}

/** Throws like `countRows`. */
async function checkRows(
  kind: BulkKind,
  reading: FileReading,
  file: ReceivedFile,
): Promise<CheckedFile> {
  const style = new CellStyle();
  const rows = await countRows(readRows(reading, file.chunks(), maxRows, style));
  const pause = pausesBetweenSlices();
  const hash = checkHash(kind, reading, file);
  const checked: CheckedFile = {
    hash,
    rows,
    invalid: 0,
    total: 0n,
    payeeCount: 0,
    payees: [],
    errors: [],
  };
  const payees = new Map<string, CheckedFile['payees'][number]>();
  for await (const row of readRows(reading, file.chunks(), maxRows, style)) {
    const { state, line, reference, errors, payment } = newRow(kind, row);
    if (state === 'invalid') {
      checked.invalid += 1;
      if (checked.errors.length < maxCheckedErrors)
        checked.errors.push({ line, reference, errors: readRowErrors(errors).errors });
    }
    if (payment) addPayment(checked, payees, payment);
    await pause();
  }
  const largest = [...payees.values()].sort((a, b) => Number(b.total - a.total));
  return { ...checked, payeeCount: payees.size, payees: largest.slice(0, maxCheckedPayees) };
}

/** Validates and inserts the rows. */
async function storeRows(tx: Tx, upload: NewUpload, rows: AsyncIterable<FileRow>): Promise<void> {
  const pause = pausesBetweenSlices();
  let batch: queries.NewUploadRow[] = [];
  let characters = 0;
  const insert = async () => {
    await queries.insertUploadRows(tx, upload, batch);
    [batch, characters] = [[], 0];
  };
  for await (const fileRow of rows) {
    const row = newRow(upload.kind, fileRow);
    characters += (row.request?.length ?? 0) + (row.errors?.length ?? 0);
    batch.push(row);
    if (batch.length === rowsPerInsert || characters > charactersPerInsert) await insert();
    await pause();
  }
  if (batch.length > 0) await insert();
}

function addPayment(
  checked: CheckedFile,
  payees: Map<string, CheckedFile['payees'][number]>,
  { payee, cents, isKey, party }: RowPayment,
): void {
  const name = payee.slice(0, maxPayeeLength);
  // Another account under the same name is another payee.
  const identity = stringifyJson([name, party ?? null]);
  const { rows, total } = payees.get(identity) ?? { rows: 0, total: 0n };
  const shown = { name, isKey, rows: rows + 1, total: total + cents };
  payees.set(identity, { ...shown, ...(party ? { party } : {}) });
  checked.total += cents;
}

type ReadRow = queries.NewUploadRow & { payment: RowPayment | null };

function newRow(kind: BulkKind, row: FileRow): ReadRow {
  const { line } = row;
  const invalid = (errors: FieldErrors, reference: string | null) => {
    const listed = firstErrors(row.named?.(errors) ?? errors, maxErrorsOfRow);
    const rowErrors: RowErrors = { code: 'validation_failed', title: null, errors: listed };
    const stored = { request: null, errors: stringifyJson(rowErrors) };
    return { line, reference, state: 'invalid', ...stored, payment: null } as const;
  };
  const content = row.read();
  if ('problem' in content) return invalid({ $: [content.problem] }, null);
  const meant = rowInForm(kind, content.request);
  const read = readRowRequest(kind, meant);
  if ('issues' in read) return invalid(read.issues, read.reference);
  const request = stringifyJson(meant);
  const { reference, ...payment } = read;
  return { line, reference, request, state: 'pending', errors: null, payment };
}
