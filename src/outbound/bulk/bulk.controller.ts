import { Readable } from 'node:stream';
import { Controller, Req, UseGuards } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { RequiresScope } from '../../access/accounts/scope.decorator.js';
import { Handles, Reply } from '../../platform/http/contract-route.js';
import { begun, Responds } from '../../platform/http/responses.decorator.js';
import { stringifyJson } from '../../platform/json/exact-json.js';
import { BulkApprovals } from './bulk-approvals.service.js';
import {
  checkCharges,
  checkExpectedPayments,
  checkTransfers,
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
import { formatOf } from './upload-reader.js';
import { unreadableFile } from './upload-text.js';
import { BulkUploads } from './uploads.service.js';

type UploadInput = CallerInput<typeof uploadCharges>;
type CheckInput = CallerInput<typeof checkCharges>;

/** Several large files may wait for each other. */
const responseTimeoutMs = 600_000;

@Controller()
@UseGuards(ApiKeyGuard)
export class BulkController {
  constructor(
    private readonly bulk: BulkService,
    private readonly approvals: BulkApprovals,
    private readonly uploads: BulkUploads,
  ) {}

  @RequiresScope('charge')
  @Responds(begun)
  @Handles(uploadCharges)
  async charges(@FromCaller() input: UploadInput, @Req() request: FastifyRequest): Promise<Reply> {
    return this.upload(input, 'charges', request);
  }

  @RequiresScope('transfer')
  @Responds(begun)
  @Handles(uploadTransfers)
  async transfers(
    @FromCaller() input: UploadInput,
    @Req() request: FastifyRequest,
  ): Promise<Reply> {
    return this.upload(input, 'transfers', request);
  }

  @RequiresScope('expect')
  @Responds(begun)
  @Handles(uploadExpectedPayments)
  async expectedPayments(
    @FromCaller() input: UploadInput,
    @Req() request: FastifyRequest,
  ): Promise<Reply> {
    return this.upload(input, 'expected_payments', request);
  }

  @RequiresScope('charge')
  @Handles(checkCharges)
  async checkCharges(@FromCaller() input: CheckInput, @Req() request: FastifyRequest) {
    return this.check(input, 'charges', request);
  }

  @RequiresScope('transfer')
  @Handles(checkTransfers)
  async checkTransfers(@FromCaller() input: CheckInput, @Req() request: FastifyRequest) {
    return this.check(input, 'transfers', request);
  }

  @RequiresScope('expect')
  @Handles(checkExpectedPayments)
  async checkExpected(@FromCaller() input: CheckInput, @Req() request: FastifyRequest) {
    return this.check(input, 'expected_payments', request);
  }

  @Handles(listBulkUploads)
  list(@FromCaller() { accountId, query }: CallerInput<typeof listBulkUploads>) {
    return this.uploads.list(accountId, query);
  }

  @Handles(getBulkUpload)
  get(@FromCaller() { accountId, params }: CallerInput<typeof getBulkUpload>) {
    return this.uploads.get(accountId, params.id);
  }

  @Handles(listBulkRows)
  rows(@FromCaller() { accountId, params, query }: CallerInput<typeof listBulkRows>) {
    return this.uploads.listRows(accountId, params.id, query);
  }

  @RequiresScope('approve')
  @Handles(decideUpload)
  async decide(@FromCaller() request: CallerInput<typeof decideUpload>) {
    const { id } = await this.uploads.get(request.accountId, request.params.id);
    return this.approvals.decide(request, id, request.body);
  }

  private check(input: CheckInput, kind: BulkKind, request: FastifyRequest) {
    const { format, body } = fileOf(request);
    return this.bulk.check(input.accountId, kind, { format, ...input.query }, body);
  }

  private async upload(
    input: UploadInput,
    kind: BulkKind,
    request: FastifyRequest,
  ): Promise<Reply> {
    const { format, body } = fileOf(request);
    const id = await this.bulk.upload(input, kind, { format, ...input.query }, body);
    const view = z.encode(uploadView, await this.uploads.get(input.accountId, id));
    return new Reply(202, stringifyJson(view), { Location: `/v1/bulk/${id}` });
  }
}

function fileOf({ headers, body, raw }: FastifyRequest) {
  const format = formatOf(headers['content-type']);
  if (!(body instanceof Readable)) throw unreadableFile('A file is required.');
  // No byte crosses the connection while a file waits and its rows are stored.
  raw.socket.setTimeout(responseTimeoutMs);
  return { format, body };
}
