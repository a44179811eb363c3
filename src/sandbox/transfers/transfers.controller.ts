import { Controller } from '@nestjs/common';
import { createTransferBatch } from '../../bank-contract/batch-transfers.js';
import { lookUpPixKey } from '../../bank-contract/pix-lookup.js';
import { createTed, getTed } from '../../bank-contract/ted-transfers.js';
import { createTransfer, getTransfer } from '../../bank-contract/transfers.js';
import { Handles } from '../../platform/http/contract-route.js';
import { Responds } from '../../platform/http/responses.decorator.js';
import { AccountInput, type AccountRequest } from '../accounts/api-key.guard.js';
import { PixLookups } from '../pix/pix-lookups.service.js';
import { BatchTransfers } from './batch-transfers.service.js';
import { SandboxTeds } from './ted-transfers.service.js';
import { Transfers } from './transfers.service.js';

@Controller()
export class SandboxTransfersController {
  constructor(
    private readonly lookups: PixLookups,
    private readonly transfers: Transfers,
    private readonly batchTransfers: BatchTransfers,
    private readonly tedTransfers: SandboxTeds,
  ) {}

  @Responds({ status: 422, description: 'The directory blocks the account.' })
  @Handles(lookUpPixKey)
  lookUp(@AccountInput() { account, body }: AccountRequest<typeof lookUpPixKey>) {
    return this.lookups.lookUp(account, body);
  }

  @Handles(createTransfer)
  create(@AccountInput() request: AccountRequest<typeof createTransfer>) {
    return this.transfers.create(request);
  }

  @Handles(getTransfer)
  get(@AccountInput() { account, params }: AccountRequest<typeof getTransfer>) {
    return this.transfers.get(account, params.identifier);
  }

  @Handles(createTransferBatch)
  createBatch(@AccountInput() request: AccountRequest<typeof createTransferBatch>) {
    return this.batchTransfers.create(request);
  }

  @Handles(createTed)
  createTed(@AccountInput() request: AccountRequest<typeof createTed>) {
    return this.tedTransfers.create(request);
  }

  @Handles(getTed)
  getTed(@AccountInput() { account, params }: AccountRequest<typeof getTed>) {
    return this.tedTransfers.get(account, params.identifier);
  }
}
