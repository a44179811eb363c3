import { Module } from '@nestjs/common';
import { SandboxChargesModule } from '../charges/charges.module.js';
import { ArbitraryLines } from './arbitrary-lines.service.js';
import { BankInspection } from './bank-inspection.service.js';
import { BankReset } from './bank-reset.service.js';
import { BankSeeding } from './bank-seeding.service.js';
import { ClockController } from './clock.controller.js';
import { ControlController } from './control.controller.js';
import { InMemoryState } from './in-memory-state.service.js';
import { IncomingPixes } from './incoming-pixes.service.js';
import { ResetGate } from './reset-gate.service.js';

@Module({
  imports: [SandboxChargesModule],
  controllers: [ControlController, ClockController],
  providers: [
    BankSeeding,
    IncomingPixes,
    ArbitraryLines,
    BankInspection,
    ResetGate,
    InMemoryState,
    BankReset,
  ],
  exports: [ResetGate],
})
export class SandboxControlModule {}
