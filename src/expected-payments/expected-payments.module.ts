import { Module } from '@nestjs/common';
import { ExpectedPaymentsService } from './expected-payments.service.js';

@Module({ providers: [ExpectedPaymentsService], exports: [ExpectedPaymentsService] })
export class ExpectedPaymentsModule {}
