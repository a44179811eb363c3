import { InjectQueue } from '@nestjs/bullmq';
import { Controller, UseGuards } from '@nestjs/common';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { RequiresScope } from '../../access/accounts/scope.decorator.js';
import { BankService } from '../../bank/bank.service.js';
import { createCharge, expireCharge, payCharge } from '../../bank-contract/charges.js';
import type { Route } from '../../bank-contract/route.js';
import { createStaticQr } from '../../bank-contract/static-qr.js';
import { shownList, shownResponse } from '../../access/counterparties/counterparty.schema.js';
import { metadataTooCommon } from '../../statement/expected-payments/metadata.queries.js';
import { BeginsOperation } from '../operations/begins-operation.decorator.js';
import { CallerPreferences } from '../operations/caller-preferences.decorator.js';
import type { RequestPreferences } from '../operations/operation.js';
import { Handles, type Reply } from '../../platform/http/contract-route.js';
import { CallsBank, Responds } from '../../platform/http/responses.decorator.js';
import { AppError } from '../../platform/errors.js';
import { isUuid, readPage } from '../../platform/http/listing.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { jobs } from '../../platform/queue/queues.js';
import { ChargeStatusChecks } from './charge-status.service.js';
import {
  chargeWithMetadata,
  getChargeRoute,
  listChargesRoute,
  staticQrWithMetadata,
} from './charges.schema.js';
import { ChargesService } from './charges.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class ChargesController {
  constructor(
    private readonly charges: ChargesService,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly statusChecks: ChargeStatusChecks,
    @InjectQueue(jobs.checkChargeStatuses.name)
    private readonly checkChargeStatusesQueue: JobQueue<'checkChargeStatuses'>,
  ) {}

  @RequiresScope('charge')
  @BeginsOperation()
  @Handles(createCharge, chargeWithMetadata)
  create(
    @FromCaller() request: CallerInput<typeof createCharge>,
    @CallerPreferences() preferences: RequestPreferences,
  ): Promise<Reply> {
    return this.charges.create(request.accountId, request, preferences);
  }

  @RequiresScope('charge')
  @BeginsOperation()
  @Handles(createStaticQr, staticQrWithMetadata)
  async createStaticQr(
    @FromCaller() request: CallerInput<typeof createStaticQr>,
    @CallerPreferences() preferences: RequestPreferences,
  ): Promise<Reply> {
    return this.charges.createStaticQr(request.accountId, request, preferences);
  }

  @RequiresScope('charge')
  @CallsBank()
  @Handles(payCharge)
  async pay(@FromCaller() request: CallerInput<typeof payCharge>) {
    return this.simulate(payCharge, request);
  }

  @RequiresScope('charge')
  @CallsBank()
  @Handles(expireCharge)
  async expire(@FromCaller() request: CallerInput<typeof expireCharge>) {
    const { accountId, params } = request;
    const reply = await this.simulate(expireCharge, request);
    await this.statusChecks.requestStatusCheck(accountId, params.correlationId);
    await this.checkChargeStatusesQueue.enqueue({ accountId });
    return reply;
  }

  @Handles(getChargeRoute)
  async get(@FromCaller() { accountId, params, scopes }: CallerInput<typeof getChargeRoute>) {
    return shownResponse(await this.charges.get(accountId, params.correlationId), scopes);
  }

  @Responds(metadataTooCommon)
  @Handles(listChargesRoute)
  async list(@FromCaller() { accountId, query, scopes }: CallerInput<typeof listChargesRoute>) {
    const page = readPage(query, isUuid);
    return shownList(await this.charges.list(accountId, page, query), scopes);
  }

  /**
   * Relays a simulation request to a bank that offers simulation. Throws `not_found` for other
   * banks.
   */
  private async simulate<R extends Route>(route: R, request: CallerInput<R>): Promise<Reply> {
    if (!this.bank.profile.hasSimulation) throw new AppError('not_found');
    return this.bank.relay(route, await this.accounts.get(request.accountId), request);
  }
}
