import { Readable } from 'node:stream';
import { Controller, Req, UseGuards } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ApiKeyGuard, CalledBy, FromCaller, type CallerInput } from '../accounts/api-key.guard.js';
import type { Caller } from '../accounts/api-keys.service.js';
import { RequiresScope } from '../accounts/scope.decorator.js';
import { Database } from '../database.service.js';
import type { BulkRow, Operation } from '../generated/service/client.js';
import { Handles, Reply } from '../platform/contract-route.js';
import { AppError } from '../platform/errors.js';
import { stringifyJson } from '../platform/exact-json.js';
import { isUuid, readPage, readUuid, toList } from '../platform/listing.js';
import { BulkApprovals } from './bulk-approvals.service.js';
import * as queries from './bulk.queries.js';
import {
  decideUpload,
  getBulkUpload,
  listBulkRows,
  listBulkUploads,
  uploadCharges,
  uploadExpectedPayments,
  uploadTransfers,
  uploadView,
  type BulkKind,
} from './bulk.schema.js';
import { BulkService } from './bulk.service.js';
import { rowErrors } from './row-request.js';
import { formatOf, unreadableFile } from './upload-reader.js';

/** Several large files may wait for each other. */
const responseTimeoutMs = 600_000;

@Controller()
@UseGuards(ApiKeyGuard)
export class BulkController {
  constructor(
    private readonly bulk: BulkService,
    private readonly approvals: BulkApprovals,
    private readonly database: Database,
  ) {}

  @RequiresScope('charge')
  @Handles(uploadCharges)
  async charges(@CalledBy() caller: Caller, @Req() request: FastifyRequest): Promise<Reply> {
    return this.upload(caller, 'charges', request);
  }

  @RequiresScope('transfer')
  @Handles(uploadTransfers)
  async transfers(@CalledBy() caller: Caller, @Req() request: FastifyRequest): Promise<Reply> {
    return this.upload(caller, 'transfers', request);
  }

  @RequiresScope('expect')
  @Handles(uploadExpectedPayments)
  async expectedPayments(
    @CalledBy() caller: Caller,
    @Req() request: FastifyRequest,
  ): Promise<Reply> {
    return this.upload(caller, 'expected_payments', request);
  }

  @Handles(listBulkUploads)
  async list(@FromCaller() { accountId, query }: CallerInput<typeof listBulkUploads>) {
    const page = readPage(query, isUuid);
    const rows = await queries.listUploads(this.database.prisma, accountId, {
      kind: query.kind,
      before: page.after,
      limit: page.limit + 1,
    });
    return toList(rows, page, ({ id }) => id, toUploadView);
  }

  @Handles(getBulkUpload)
  async get(@FromCaller() { accountId, params }: CallerInput<typeof getBulkUpload>) {
    return this.read(accountId, params.id);
  }

  @Handles(listBulkRows)
  async rows(@FromCaller() { accountId, params, query }: CallerInput<typeof listBulkRows>) {
    const { id } = await this.read(accountId, params.id);
    const page = readPage(query, (text) => /^\d{1,9}$/.test(text));
    const rows = await this.database.prisma.bulkRow.findMany({
      where: { accountId, uploadId: id, state: query.state, line: { gt: Number(page.after ?? 0) } },
      orderBy: { line: 'asc' },
      take: page.limit + 1,
      omit: { request: true },
      include: { operation: { select: { state: true } } },
    });
    return toList(rows, page, ({ line }) => String(line), toRowView);
  }

  @RequiresScope('approve')
  @Handles(decideUpload)
  async decide(@FromCaller() request: CallerInput<typeof decideUpload>) {
    const { id } = await this.read(request.accountId, request.params.id);
    return this.approvals.decide(request, id, request.body);
  }

  private async upload(
    caller: Caller,
    kind: BulkKind,
    { headers, body, raw }: FastifyRequest,
  ): Promise<Reply> {
    const format = formatOf(headers['content-type']);
    if (!(body instanceof Readable)) throw unreadableFile('A file is required.');
    // No byte crosses the connection while a file waits and its rows are stored.
    raw.socket.setTimeout(responseTimeoutMs);
    const id = await this.bulk.upload(caller, kind, format, body);
    const view = z.encode(uploadView, await this.read(caller.accountId, id));
    return new Reply(202, stringifyJson(view), { Location: `/v1/bulk/${id}` });
  }

  /** Throws `not_found`, also for an upload of another account. */
  private async read(accountId: number, id: string) {
    const filter = { id: readUuid(id), before: null, limit: 1 };
    const [upload] = await queries.listUploads(this.database.prisma, accountId, filter);
    if (!upload) throw new AppError('not_found');
    return toUploadView(upload);
  }
}

function toUploadView(upload: queries.StoredUpload): z.output<typeof uploadView> {
  return {
    ...upload,
    state: upload.finishedAt === null ? 'running' : 'finished',
    counts: upload,
  };
}

function toRowView({
  errors: storedErrors,
  operation,
  ...row
}: Omit<BulkRow, 'request'> & { operation: Pick<Operation, 'state'> | null }) {
  const { code, title, errors } =
    storedErrors === null
      ? { code: null, title: null, errors: null }
      : rowErrors.parse(JSON.parse(storedErrors));
  return {
    ...{ ...row, code, operationState: operation?.state ?? null },
    errors: errors ?? (title === null ? null : { $: [title] }),
  };
}
