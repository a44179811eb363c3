import { Controller } from '@nestjs/common';
import { createTransferBatch } from '../../contract/batch-transfers.js';
import { lookUpPixKey } from '../../contract/pix-lookup.js';
import type { RouteInput } from '../../contract/route.js';
import { createTransfer, getTransfer } from '../../contract/transfers.js';
import { Handles, Input } from '../../platform/contract-route.js';
import { CurrentAccount } from '../accounts/api-key.guard.js';
import type { SandboxAccount } from '../accounts/party.js';
import { PixLookups } from '../pix/pix-lookups.service.js';
import { BatchTransfers } from './batch-transfers.service.js';
import { Transfers } from './transfers.service.js';

@Controller()
export class SandboxTransfersController {
  constructor(
    private readonly lookups: PixLookups,
    private readonly transfers: Transfers,
    private readonly batchTransfers: BatchTransfers,
  ) {}

  @Handles(lookUpPixKey)
  lookUp(
    @CurrentAccount() account: SandboxAccount,
    @Input() { body }: RouteInput<typeof lookUpPixKey>,
  ) {
    return this.lookups.lookUp(account, body);
  }

  @Handles(createTransfer)
  create(
    @CurrentAccount() account: SandboxAccount,
    @Input() request: RouteInput<typeof createTransfer>,
  ) {
    return this.transfers.create(account, request);
  }

  @Handles(getTransfer)
  get(
    @CurrentAccount() account: SandboxAccount,
    @Input() { params }: RouteInput<typeof getTransfer>,
  ) {
    return this.transfers.get(account, params.identifier);
  }

  @Handles(createTransferBatch)
  createBatch(
    @CurrentAccount() account: SandboxAccount,
    @Input() request: RouteInput<typeof createTransferBatch>,
  ) {
    return this.batchTransfers.create(account, request);
  }
}
