import { Module } from '@nestjs/common';
import { ChargesModule } from '../../outbound/charges/charges.module.js';
import { ConsoleFrameModule } from '../serving/console-frame.module.js';
import { PayerPages } from './payer.controller.js';

/** The page that plays the payer at the sandbox bank. */
@Module({
  imports: [ConsoleFrameModule, ChargesModule],
  controllers: [PayerPages],
})
export class PayerPagesModule {}
