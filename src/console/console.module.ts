import { Module } from '@nestjs/common';
import { OperatorsModule } from '../operators/operators.module.js';
import { StatementModule } from '../statement/statement.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { AccountPages } from './accounts.controller.js';
import { AssetsController } from './assets.controller.js';
import { ConsoleAssets } from './assets.service.js';
import { AuditPages } from './audit.controller.js';
import { OwnSessionPages } from './own-session.controller.js';
import { PageRenderer } from './page-renderer.service.js';
import { PeoplePages } from './people.controller.js';
import { SignInPages } from './sign-in.controller.js';
import { TodayPage } from './today.controller.js';

/** The console: a page is a controller of this list. */
@Module({
  imports: [OperatorsModule, StatementModule, WebhooksModule],
  controllers: [
    AssetsController,
    SignInPages,
    OwnSessionPages,
    TodayPage,
    PeoplePages,
    AuditPages,
    AccountPages,
  ],
  providers: [ConsoleAssets, PageRenderer],
})
export class ConsoleModule {}
