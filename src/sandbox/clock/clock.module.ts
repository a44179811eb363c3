import { Global, Module } from '@nestjs/common';
import { BankClock } from './bank-clock.service.js';

// Global: nearly every folder acts at the bank's time.
@Global()
@Module({
  providers: [BankClock],
  exports: [BankClock],
})
export class SandboxClockModule {}
