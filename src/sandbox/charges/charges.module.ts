import { Module } from '@nestjs/common';
import { ChargeCredits } from './charge-credits.service.js';
import { ChargeDueDates } from './charge-due-dates.service.js';
import { ChargeIssuance } from './charge-issuance.service.js';
import { ChargeReading } from './charge-reading.service.js';
import { ChargeSimulation } from './charge-simulation.service.js';
import { ChargeVoids } from './charge-voids.service.js';
import { SandboxChargesController } from './charges.controller.js';
import { Charges } from './charges.service.js';
import { OverdueCharges } from './overdue-charges.service.js';
import { StaticQrCodes } from './static-qr.service.js';

@Module({
  controllers: [SandboxChargesController],
  providers: [
    OverdueCharges,
    ChargeReading,
    ChargeVoids,
    ChargeDueDates,
    ChargeIssuance,
    ChargeCredits,
    ChargeSimulation,
    Charges,
    StaticQrCodes,
  ],
  exports: [ChargeCredits],
})
export class SandboxChargesModule {}
