import { Module } from '@nestjs/common';
import { ChargesModule } from '../../outbound/charges/charges.module.js';
import { StatementModule } from '../../statement/lines/statement.module.js';
import { ConsoleFrameModule } from '../console-frame.module.js';
import { FirstStepsPage } from './first-steps.controller.js';
import { ServiceAddress } from './service-address.service.js';

/** The first visit of an account. */
@Module({
  imports: [ConsoleFrameModule, ChargesModule, StatementModule],
  controllers: [FirstStepsPage],
  providers: [ServiceAddress],
})
export class FirstStepsPagesModule {}
