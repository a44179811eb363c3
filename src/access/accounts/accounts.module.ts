import { BullModule } from '@nestjs/bullmq';
import { jobs } from '../../platform/queue/queues.js';
import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { AccountsController } from './accounts.controller.js';
import { AccountsService } from './accounts.service.js';
import { ApiKeysService } from './api-keys.service.js';
import { CallerLimits } from './caller-limits.service.js';

// Global: every module authenticates its callers and reads bank accounts.
@Global()
@Module({
  imports: [
    BullModule.registerQueue(
      { name: jobs.registerWebhooks.name },
      { name: jobs.syncStatement.name },
    ),
  ],
  controllers: [AccountsController],
  providers: [AccountsService, ApiKeysService, CallerLimits],
  exports: [AccountsService, ApiKeysService],
})
export class AccountsModule implements OnModuleInit {
  constructor(
    private readonly accounts: AccountsService,
    private readonly apiKeys: ApiKeysService,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.accounts.readCertificateFiles();
    await this.apiKeys.recordSettingsKeys(await this.accounts.recordMainAccount());
  }
}
