import { Module } from '@nestjs/common';
import { StatementModule } from '../../statement/statement.module.js';
import { WebhooksModule } from '../../webhooks/webhooks.module.js';
import { ConsoleFrameModule } from '../console-frame.module.js';
import { TodayPage } from './today.controller.js';

/** The first page of an account. */
@Module({
  imports: [ConsoleFrameModule, StatementModule, WebhooksModule],
  controllers: [TodayPage],
})
export class TodayPagesModule {}
