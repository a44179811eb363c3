import { Controller } from '@nestjs/common';
import {
  changeDueDate,
  createCharge,
  expireCharge,
  getCharge,
  listCharges,
  payCharge,
  voidCharge,
} from '../../bank-contract/charges.js';
import {
  createStaticQr,
  getStaticQr,
  listStaticQrPayments,
} from '../../bank-contract/static-qr.js';
import { Handles, Reply } from '../../platform/http/contract-route.js';
import { AccountInput, type AccountRequest } from '../accounts/api-key.guard.js';
import { ChargeDueDates } from './charge-due-dates.service.js';
import { ChargeReading } from './charge-reading.service.js';
import { ChargeSimulation } from './charge-simulation.service.js';
import { ChargeVoids } from './charge-voids.service.js';
import { Charges } from './charges.service.js';
import { StaticQrCodes } from './static-qr.service.js';

@Controller()
export class SandboxChargesController {
  constructor(
    private readonly charges: Charges,
    private readonly reading: ChargeReading,
    private readonly simulation: ChargeSimulation,
    private readonly voids: ChargeVoids,
    private readonly dueDates: ChargeDueDates,
    private readonly staticQrCodes: StaticQrCodes,
  ) {}

  @Handles(createCharge)
  async create(@AccountInput() { account, body }: AccountRequest<typeof createCharge>) {
    return new Reply(200, await this.charges.create(account, body));
  }

  @Handles(getCharge)
  get(@AccountInput() { account, params }: AccountRequest<typeof getCharge>) {
    return this.reading.get(account, params.correlationId);
  }

  @Handles(listCharges)
  list(@AccountInput() { account, query }: AccountRequest<typeof listCharges>) {
    return this.reading.list(account, query);
  }

  @Handles(changeDueDate)
  changeDueDate(@AccountInput() { account, ...input }: AccountRequest<typeof changeDueDate>) {
    return this.dueDates.change(account, input);
  }

  @Handles(voidCharge)
  void(@AccountInput() { account, params }: AccountRequest<typeof voidCharge>) {
    return this.voids.void(account, params.correlationId);
  }

  @Handles(payCharge)
  pay(@AccountInput() { account, params }: AccountRequest<typeof payCharge>) {
    return this.simulation.pay(account, params.correlationId);
  }

  @Handles(expireCharge)
  expire(@AccountInput() { account, params }: AccountRequest<typeof expireCharge>) {
    return this.simulation.expire(account, params.correlationId);
  }

  @Handles(createStaticQr)
  createQr(@AccountInput() request: AccountRequest<typeof createStaticQr>) {
    return this.staticQrCodes.create(request);
  }

  @Handles(getStaticQr)
  getQr(@AccountInput() { account, params }: AccountRequest<typeof getStaticQr>) {
    return this.staticQrCodes.get(account, params.identifier);
  }

  @Handles(listStaticQrPayments)
  listQrPayments(@AccountInput() { account, params }: AccountRequest<typeof listStaticQrPayments>) {
    return this.staticQrCodes.listPayments(account, params.identifier);
  }
}
