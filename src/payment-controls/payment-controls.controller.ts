import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../accounts/api-key.guard.js';
import { AccountsService } from '../accounts/accounts.service.js';
import type { RouteInput } from '../contract/route.js';
import { Handles, Input } from '../platform/contract-route.js';
import { isUuid, readPage, toList } from '../platform/listing.js';
import { ControlChanges } from './control-changes.service.js';
import {
  addBeneficiary,
  changePaymentControls,
  getAccountPaymentControls,
  getPaymentControls,
  listAccountBeneficiaries,
  listBeneficiaries,
  removeBeneficiary,
} from './payment-controls.schema.js';

/** Who may be paid and how much: business systems read it, and the operator changes it. */
@Controller()
@UseGuards(ApiKeyGuard)
export class PaymentControlsController {
  constructor(
    private readonly changes: ControlChanges,
    private readonly accounts: AccountsService,
  ) {}

  @Handles(getPaymentControls)
  get(@FromCaller() { accountId }: CallerInput<typeof getPaymentControls>) {
    return this.changes.read(accountId);
  }

  @Handles(listBeneficiaries)
  list(@FromCaller() { accountId, query }: CallerInput<typeof listBeneficiaries>) {
    return this.listPage(accountId, query);
  }

  @Handles(getAccountPaymentControls)
  getAudited(@Input() { params }: RouteInput<typeof getAccountPaymentControls>) {
    return this.changes.readAudited(params.slug);
  }

  @Handles(changePaymentControls)
  async change(@Input() request: RouteInput<typeof changePaymentControls>) {
    await this.changes.change(request);
    return this.changes.readAudited(request.params.slug);
  }

  @Handles(listAccountBeneficiaries)
  async listOfAccount(@Input() { params, query }: RouteInput<typeof listAccountBeneficiaries>) {
    const { id } = await this.accounts.getBySlug(params.slug);
    return this.listPage(id, query);
  }

  @Handles(addBeneficiary)
  add(@Input() request: RouteInput<typeof addBeneficiary>) {
    return this.changes.add(request);
  }

  @Handles(removeBeneficiary)
  remove(@Input() request: RouteInput<typeof removeBeneficiary>) {
    return this.changes.remove(request);
  }

  private async listPage(accountId: number, query: Parameters<typeof readPage>[0]) {
    const page = readPage(query, isUuid);
    return toList(await this.changes.listBeneficiaries(accountId, page), page, ({ id }) => id);
  }
}
