// Takes in files of requests and issues them row by row at the bank's pace. A row is known by its own id, so that a crash
// in the middle, a second process or a second upload ask for nothing twice.
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Database } from '../database.service.js';
import { sha256, stringifyJson } from '../platform/exact-json.js';
import { OnJob } from '../platform/job-methods.js';
import { Log } from '../platform/log.js';
import { SecretBox } from '../platform/secret-box.js';
import { JobQueue } from '../platform/job-queue.js';
import type { JobPayload } from '../queues.js';
import * as queries from './bulk.queries.js';
import { maxRows, type BulkKind } from './bulk.schema.js';
import { RowIssuer } from './row-issuer.service.js';
import { readRequest, type RowErrors } from './row-request.js';
import { readRows, unreadable, type FileFormat, type ReadRow } from './upload-reader.js';

/** A job is short: a process that ends waits for it. */
const sliceMs = 5_000;
const atOnce = 8;
const fetched = 200;
const insertedAtOnce = 5_000;
const breath = 200;

@Injectable()
export class BulkService {
  constructor(
    private readonly database: Database,
    private readonly issuer: RowIssuer,
    private readonly secretBox: SecretBox,
    private readonly jobQueue: JobQueue,
    private readonly log: Log,
  ) {}

  /** The id of the upload; the same file is the same upload. Throws when it cannot be read as a file of its kind. */
  async upload(
    accountId: number,
    kind: BulkKind,
    format: FileFormat,
    bytes: Buffer,
  ): Promise<string> {
    const fileHash = this.secretBox.hash('bulk-file', `${format} ${sha256(bytes)}`);
    const db = this.database.prisma;
    const known = await queries.findByFile(db, accountId, kind, fileHash);
    if (known !== null) return known;
    const rows: queries.NewRow[] = [];
    for await (const row of readRows(format, bytes, maxRows)) {
      if (rows.length === maxRows) throw unreadable(`Has more than ${maxRows} rows.`);
      rows.push(newRow(kind, row));
      // Others' requests go on while a long file is read.
      if (rows.length % breath === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    if (rows.length === 0) throw unreadable('Has no rows.');
    const upload = { accountId, id: uuidv7(), kind, fileHash };
    const isNew = await this.database.transaction(async (tx) => {
      if (!(await queries.insertUpload(tx, upload, rows.length))) return false;
      for (let first = 0; first < rows.length; first += insertedAtOnce)
        await queries.insertRows(tx, upload, rows.slice(first, first + insertedAtOnce));
      return true;
    });
    if (!isNew) return (await queries.findByFile(db, accountId, kind, fileHash)) ?? upload.id;
    await queries.finish(db, accountId, upload.id);
    await this.jobQueue.enqueue('advanceBulk', { accountId, uploadId: upload.id });
    return upload.id;
  }

  /** Issues rows for a while; one process at a time does so for an account. */
  @OnJob('advanceBulk')
  async advance({ accountId, uploadId }: JobPayload<'advanceBulk'>): Promise<void> {
    const db = this.database.prisma;
    const kind = await queries.findKind(db, accountId, uploadId);
    if (kind === null) return;
    const slice = await this.database.alone('advanceBulk', accountId, (stillHere) =>
      this.issueRows({ accountId, uploadId, kind }, stillHere),
    );
    await queries.finish(db, accountId, uploadId);
    if (slice?.result === 'more') await this.jobQueue.enqueue('advanceBulk', { accountId, uploadId });
  }

  async enqueueUnfinished(): Promise<void> {
    for (const upload of await queries.listUnfinished(this.database.prisma))
      await this.jobQueue.enqueue('advanceBulk', upload);
  }

  private async issueRows(
    upload: { accountId: number; uploadId: string; kind: BulkKind },
    stillHere: () => Promise<void>,
  ): Promise<'more' | 'all'> {
    const { accountId, uploadId } = upload;
    const until = Date.now() + sliceMs;
    let after = 0;
    for (;;) {
      const waiting = await queries.listPending(this.database.prisma, accountId, uploadId, {
        after,
        limit: fetched,
      });
      if (waiting.length === 0) return 'all';
      const rows = waiting.values();
      // Each takes the next row as soon as its last one has ended: a slow row holds up no other.
      const takeOn = async () => {
        for (const row of rows) {
          await stillHere();
          await this.issueRow(upload, row);
          after = Math.max(after, row.line);
          if (Date.now() > until) return;
        }
      };
      await Promise.all(Array.from({ length: atOnce }, takeOn));
      if (Date.now() > until) return 'more';
    }
  }

  /** A row that could not be issued for a fault of ours stays pending, and holds up no other. */
  private async issueRow(
    { accountId, uploadId, kind }: { accountId: number; uploadId: string; kind: BulkKind },
    { line, request }: queries.PendingRow,
  ): Promise<void> {
    try {
      const outcome = await this.issuer.issue(accountId, kind, request);
      await queries.endRow(this.database.prisma, accountId, uploadId, { line, ...outcome });
    } catch (error) {
      this.log.warn({ err: error, uploadId, line }, 'a row was not issued; it is tried again');
    }
  }
}

function newRow(kind: BulkKind, row: ReadRow): queries.NewRow {
  const { line } = row;
  const invalid = (errors: Record<string, string[]>, reference: string | null) => {
    const told: RowErrors = { code: 'validation_failed', title: null, errors };
    const request = null;
    return { line, reference, request, state: 'invalid', errors: stringifyJson(told) } as const;
  };
  if ('problem' in row) return invalid({ $: [row.problem] }, null);
  const read = readRequest(kind, row.request);
  if ('issues' in read) return invalid(read.issues, read.reference);
  const request = stringifyJson(row.request);
  return { line, reference: read.reference, request, state: 'pending', errors: null };
}
