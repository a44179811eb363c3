import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { RequiresScope } from '../../access/accounts/scope.decorator.js';
import { createTransferBatch } from '../../bank-contract/batch-transfers.js';
import { lookUpPixKey } from '../../bank-contract/pix-lookup.js';
import { createTed } from '../../bank-contract/ted-transfers.js';
import { createTransfer } from '../../bank-contract/transfers.js';
import { shownList, shownResponse } from '../../access/counterparties/counterparty.schema.js';
import { metadataTooCommon } from '../../statement/expected-payments/metadata.queries.js';
import { refusingMetadata } from '../../statement/expected-payments/metadata.js';
import { BeginsOperation } from '../operations/begins-operation.decorator.js';
import { CallerPreferences } from '../operations/caller-preferences.decorator.js';
import type { RequestPreferences } from '../operations/operation.js';
import { Handles, type Reply } from '../../platform/http/contract-route.js';
import { CallsBank, Responds } from '../../platform/http/responses.decorator.js';
import { isUuid, readPage } from '../../platform/http/listing.js';
import { PixLookupsService } from './pix-lookups.service.js';
import { TedTransfers } from './ted-transfers.service.js';
import { TransferBatches } from './transfer-batches.service.js';
import { TransferViews } from './transfer-views.service.js';
import {
  batchWithMetadata,
  getTransferRoute,
  listTransfersRoute,
  tedWithMetadata,
  transferWithMetadata,
} from './transfers.schema.js';
import { TransfersService } from './transfers.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class TransfersController {
  constructor(
    private readonly lookups: PixLookupsService,
    private readonly transfers: TransfersService,
    private readonly batches: TransferBatches,
    private readonly teds: TedTransfers,
    private readonly views: TransferViews,
  ) {}

  @RequiresScope('transfer')
  @CallsBank()
  @Handles(lookUpPixKey, refusingMetadata(lookUpPixKey))
  async lookUp(@FromCaller() request: CallerInput<typeof lookUpPixKey>): Promise<Reply> {
    return (await this.lookups.lookUp(request.accountId, request)).reply;
  }

  @RequiresScope('transfer')
  @BeginsOperation()
  @Handles(createTransfer, transferWithMetadata)
  create(
    @FromCaller() request: CallerInput<typeof createTransfer>,
    @CallerPreferences() preferences: RequestPreferences,
  ): Promise<Reply> {
    return this.transfers.create(request.accountId, request, preferences);
  }

  @RequiresScope('transfer')
  @BeginsOperation({ hasItems: true })
  @Handles(createTransferBatch, batchWithMetadata)
  async createBatch(
    @FromCaller() request: CallerInput<typeof createTransferBatch>,
    @CallerPreferences() preferences: RequestPreferences,
  ): Promise<Reply> {
    return this.batches.create(request.accountId, request, preferences);
  }

  @RequiresScope('transfer')
  @BeginsOperation()
  @Handles(createTed, tedWithMetadata)
  createTed(
    @FromCaller() request: CallerInput<typeof createTed>,
    @CallerPreferences() preferences: RequestPreferences,
  ): Promise<Reply> {
    return this.teds.create(request.accountId, request, preferences);
  }

  @Handles(getTransferRoute)
  async get(@FromCaller() { accountId, params, scopes }: CallerInput<typeof getTransferRoute>) {
    return shownResponse(await this.views.get(accountId, params.id), scopes);
  }

  @Responds(metadataTooCommon)
  @Handles(listTransfersRoute)
  async list(@FromCaller() { accountId, query, scopes }: CallerInput<typeof listTransfersRoute>) {
    const page = readPage(query, isUuid);
    return shownList(await this.views.list(accountId, page, query), scopes);
  }
}
