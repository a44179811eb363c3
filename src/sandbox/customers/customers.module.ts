import { Module } from '@nestjs/common';
import { SandboxDueWorkModule } from '../due-work/due-work.module.js';
import { SandboxWebhooksModule } from '../webhooks/webhooks.module.js';
import { SandboxCustomersController } from './customers.controller.js';
import { Customers } from './customers.service.js';
import { Passwords } from './passwords.service.js';

@Module({
  imports: [SandboxDueWorkModule, SandboxWebhooksModule],
  controllers: [SandboxCustomersController],
  providers: [Passwords, Customers],
})
export class SandboxCustomersModule {}
