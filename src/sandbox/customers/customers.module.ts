import { Module } from '@nestjs/common';
import { SandboxCustomersController } from './customers.controller.js';
import { Customers } from './customers.service.js';
import { Passwords } from './passwords.service.js';

@Module({
  controllers: [SandboxCustomersController],
  providers: [Passwords, Customers],
})
export class SandboxCustomersModule {}
