import { Module } from '@nestjs/common';
import { AccountPagesModule } from './accounts/account-pages.module.js';
import { AssetsController } from './assets.controller.js';
import { ConnectionPagesModule } from './connections/connection-pages.module.js';
import { ConsoleFrameModule } from './console-frame.module.js';
import { PeoplePagesModule } from './people/people-pages.module.js';
import { TodayPagesModule } from './today/today-pages.module.js';

/** The console: a module for each area of it. */
@Module({
  imports: [
    ConsoleFrameModule,
    PeoplePagesModule,
    TodayPagesModule,
    AccountPagesModule,
    ConnectionPagesModule,
  ],
  controllers: [AssetsController],
})
export class ConsoleModule {}
