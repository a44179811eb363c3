import { Module } from '@nestjs/common';
import { ControlChanges } from './control-changes.service.js';
import { PaymentControlsController } from './payment-controls.controller.js';
import { PaymentControls } from './payment-controls.service.js';

/**
 * What an account's payments are compared with before they are stored. The journal of operations
 * asks; each module of a kind says who receives how much.
 */
@Module({
  controllers: [PaymentControlsController],
  providers: [PaymentControls, ControlChanges],
  exports: [PaymentControls, ControlChanges],
})
export class PaymentControlsModule {}
