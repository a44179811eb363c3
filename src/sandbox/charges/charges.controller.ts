import { Controller } from '@nestjs/common';
import {
  createCharge,
  expireCharge,
  getCharge,
  listCharges,
  payCharge,
  voidCharge,
} from '../../contract/charges.js';
import type { RouteInput } from '../../contract/route.js';
import { createStaticQr } from '../../contract/static-qr.js';
import { Handles, Input, Reply } from '../../platform/contract-route.js';
import { CurrentAccount } from '../accounts/api-key.guard.js';
import type { SandboxAccount } from '../accounts/party.js';
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
    private readonly staticQrCodes: StaticQrCodes,
  ) {}

  @Handles(createCharge)
  async create(
    @CurrentAccount() account: SandboxAccount,
    @Input() { body }: RouteInput<typeof createCharge>,
  ) {
    return new Reply(200, await this.charges.create(account, body));
  }

  @Handles(getCharge)
  get(
    @CurrentAccount() account: SandboxAccount,
    @Input() { params }: RouteInput<typeof getCharge>,
  ) {
    return this.reading.get(account, params.correlationId);
  }

  @Handles(listCharges)
  list(
    @CurrentAccount() account: SandboxAccount,
    @Input() { query }: RouteInput<typeof listCharges>,
  ) {
    return this.reading.list(account, query);
  }

  @Handles(voidCharge)
  void(
    @CurrentAccount() account: SandboxAccount,
    @Input() { params }: RouteInput<typeof voidCharge>,
  ) {
    return this.voids.void(account, params.correlationId);
  }

  @Handles(payCharge)
  pay(
    @CurrentAccount() account: SandboxAccount,
    @Input() { params }: RouteInput<typeof payCharge>,
  ) {
    return this.simulation.pay(account, params.correlationId);
  }

  @Handles(expireCharge)
  expire(
    @CurrentAccount() account: SandboxAccount,
    @Input() { params }: RouteInput<typeof expireCharge>,
  ) {
    return this.simulation.expire(account, params.correlationId);
  }

  @Handles(createStaticQr)
  createQr(
    @CurrentAccount() account: SandboxAccount,
    @Input() request: RouteInput<typeof createStaticQr>,
  ) {
    return this.staticQrCodes.create(account, request);
  }
}
