import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import type { RouteInput } from '../../bank-contract/route.js';
import { Handles, Input } from '../../platform/http/contract-route.js';
import { isUuid, readPage, toList } from '../../platform/http/listing.js';
import { seesPersonalData } from '../../access/counterparties/counterparty.schema.js';
import { maskValue } from '../../access/counterparties/masking.js';
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
  async list(@FromCaller() { accountId, scopes, query }: CallerInput<typeof listBeneficiaries>) {
    const { data, ...page } = await this.listPage(accountId, query);
    if (seesPersonalData(scopes)) return { ...page, data };
    const masked = data.map((one) => ({
      ...one,
      name: maskValue('name', one.name) ?? '',
      counterparty: maskValue('payee', one.counterparty) ?? '',
    }));
    return { ...page, data: masked };
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
