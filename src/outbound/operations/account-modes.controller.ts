import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard } from '../../access/accounts/api-key.guard.js';
import type { RouteInput } from '../../bank-contract/route.js';
import { Handles, Input } from '../../platform/http/contract-route.js';
import { changeAccountMode, getAccountMode } from './account-modes.schema.js';
import { AccountModes } from './account-modes.service.js';
import { RestoreGuard } from './restores.service.js';

/** The operator's stop switch of a bank account, and its reconcile-only mode. */
@Controller()
@UseGuards(ApiKeyGuard)
export class AccountModesController {
  constructor(
    private readonly modes: AccountModes,
    private readonly restores: RestoreGuard,
  ) {}

  @Handles(getAccountMode)
  get(@Input() { params }: RouteInput<typeof getAccountMode>) {
    return this.modes.get(params.slug);
  }

  @Handles(changeAccountMode)
  change(@Input() { params, body }: RouteInput<typeof changeAccountMode>) {
    const { registersWebhooks, ...mode } = body;
    return this.restores.changeMode(params.slug, { ...mode, registersWebhooks });
  }
}
