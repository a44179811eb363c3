import { Controller, UseGuards } from '@nestjs/common';
import { AccountsService } from '../accounts/accounts.service.js';
import { ApiKeyGuard, CalledBy } from '../accounts/api-key.guard.js';
import { RequiresScope } from '../accounts/scope.decorator.js';
import type { Caller } from '../accounts/api-keys.service.js';
import { BankService } from '../bank/bank.service.js';
import { createCharge, expireCharge, payCharge } from '../contract/charges.js';
import type { Route, RouteInput } from '../contract/route.js';
import { createStaticQr } from '../contract/static-qr.js';
import { CallerPreferences } from '../operations/caller-preferences.decorator.js';
import type { RequestPreferences } from '../operations/operation.js';
import { Handles, Input, type Reply } from '../platform/contract-route.js';
import { AppError } from '../platform/errors.js';
import { isUuid, readPage, toList } from '../platform/listing.js';
import { JobQueue } from '../platform/job-queue.js';
import { ChargeStatusChecks } from './charge-status.service.js';
import { getChargeRoute, listChargesRoute } from './charges.schema.js';
import { ChargesService } from './charges.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class ChargesController {
  constructor(
    private readonly charges: ChargesService,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly statusChecks: ChargeStatusChecks,
    private readonly jobQueue: JobQueue,
  ) {}

  @RequiresScope('charge')
  @Handles(createCharge)
  async create(
    @CalledBy() { accountId }: Caller,
    @Input() input: RouteInput<typeof createCharge>,
    @CallerPreferences() preferences: RequestPreferences,
  ): Promise<Reply> {
    return this.charges.create(accountId, input, preferences);
  }

  @RequiresScope('charge')
  @Handles(createStaticQr)
  async createStaticQr(
    @CalledBy() { accountId }: Caller,
    @Input() input: RouteInput<typeof createStaticQr>,
    @CallerPreferences() preferences: RequestPreferences,
  ): Promise<Reply> {
    return this.charges.createStaticQr(accountId, input, preferences);
  }

  @RequiresScope('charge')
  @Handles(payCharge)
  async pay(@CalledBy() caller: Caller, @Input() input: RouteInput<typeof payCharge>) {
    return this.simulate(payCharge, caller, input);
  }

  @RequiresScope('charge')
  @Handles(expireCharge)
  async expire(@CalledBy() caller: Caller, @Input() input: RouteInput<typeof expireCharge>) {
    const reply = await this.simulate(expireCharge, caller, input);
    const { accountId } = caller;
    await this.statusChecks.requestStatusCheck(accountId, input.params.correlationId);
    await this.jobQueue.enqueue('checkChargeStatuses', { accountId });
    return reply;
  }

  @Handles(getChargeRoute)
  async get(
    @CalledBy() { accountId }: Caller,
    @Input() { params }: RouteInput<typeof getChargeRoute>,
  ) {
    return this.charges.get(accountId, params.correlationId);
  }

  @Handles(listChargesRoute)
  async list(
    @CalledBy() { accountId }: Caller,
    @Input() { query }: RouteInput<typeof listChargesRoute>,
  ) {
    const page = readPage(query, isUuid);
    const charges = await this.charges.list(accountId, page, query);
    return toList(charges, page, ({ operationId }) => operationId);
  }

  /**
   * Relays a simulation request to a bank that offers simulation. Throws `not_found` for other
   * banks.
   */
  private async simulate<R extends Route>(
    route: R,
    { accountId }: Caller,
    input: RouteInput<R>,
  ): Promise<Reply> {
    if (!this.bank.profile.hasSimulation) throw new AppError('not_found');
    return this.bank.relay(route, await this.accounts.get(accountId), input);
  }
}
