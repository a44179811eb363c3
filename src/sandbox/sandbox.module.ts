// The sandbox bank as a separate application. The rest of the project reaches it over HTTP only.
import { fileURLToPath } from 'node:url';
import { Global, Module, type DynamicModule } from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { BankHabits } from '../bank-contract/bank-profile.js';
import { Health, HealthController } from '../platform/http/health.js';
import { createHttpApplication } from '../platform/http/http.js';
import type { Log } from '../platform/log.js';
import { applyMigrations } from '../platform/postgres/migrations.js';
import { Accounts, FirstAccounts } from './accounts/accounts.service.js';
import { SandboxApiKeyGuard } from './accounts/api-key.guard.js';
import { RateLimitGuard } from './accounts/rate-limit.guard.js';
import {
  openedAccounts,
  openedFixtures,
  type RequestedAccount,
} from './accounts/opened-accounts.js';
import { BankSettings } from './bank-settings.service.js';
import { SandboxBillsModule } from './bills/bills.module.js';
import { SandboxChargesModule } from './charges/charges.module.js';
import { BankClock } from './clock/bank-clock.service.js';
import { BankSeeding } from './control/bank-seeding.service.js';
import { InMemoryState } from './control/in-memory-state.service.js';
import { SandboxControlModule } from './control/control.module.js';
import { ResetGateInterceptor } from './control/reset-gate.service.js';
import { SandboxCustomersModule } from './customers/customers.module.js';
import { DueWork } from './due-work/due-work.service.js';
import { CallFaults } from './faults/call-faults.service.js';
import { SandboxFaultsModule } from './faults/faults.module.js';
import { SandboxGenerateModule } from './generate/generate.module.js';
import { Idempotency } from './idempotency/idempotency.service.js';
import { SandboxLedger } from './ledger/ledger.service.js';
import { SandboxModesModule } from './modes/modes.module.js';
import { Modes } from './modes/modes.service.js';
import { EndToEndIds, PixCredits } from './pix/pix-credits.service.js';
import type { Preset } from './presets/presets.js';
import { publishedForm } from './presets/published-answers.js';
import { Random } from './random.service.js';
import { SandboxRefundsModule } from './refunds/refunds.module.js';
import { SandboxDatabase, SandboxSettings } from './sandbox-database.service.js';
import { SandboxStatementModule } from './statement/statement.module.js';
import { SandboxTransfersModule } from './transfers/transfers.module.js';
import { SandboxWebhooksModule } from './webhooks/webhooks.module.js';

/** The services without routes, on which the chapters of the contract are built. */
const platformProviders = [
  SandboxDatabase,
  BankSettings,
  Random,
  BankClock,
  Accounts,
  DueWork,
  Idempotency,
  SandboxLedger,
  EndToEndIds,
  PixCredits,
];

/** Global: nearly every folder uses the database, the clock, the accounts and the ledger. */
@Global()
@Module({
  controllers: [HealthController],
  providers: platformProviders,
  exports: platformProviders,
})
class SandboxPlatformModule {
  static with(settings: SandboxSettings, accounts: FirstAccounts): DynamicModule {
    return {
      module: SandboxPlatformModule,
      providers: [
        { provide: SandboxSettings, useValue: settings },
        { provide: FirstAccounts, useValue: accounts },
        { provide: Health, useValue: new Health(settings.log) },
      ],
      exports: [SandboxSettings, FirstAccounts],
    };
  }
}

@Module({
  providers: [
    { provide: APP_GUARD, useClass: SandboxApiKeyGuard },
    { provide: APP_GUARD, useClass: RateLimitGuard },
    // Outermost first: a request that a fault leaves hanging no longer delays a reset.
    { provide: APP_INTERCEPTOR, useClass: CallFaults },
    { provide: APP_INTERCEPTOR, useClass: ResetGateInterceptor },
  ],
})
export class SandboxModule {
  static with(settings: SandboxSettings, accounts: FirstAccounts): DynamicModule {
    return {
      module: SandboxModule,
      imports: [
        SandboxPlatformModule.with(settings, accounts),
        // In the order of their routes in the API reference.
        SandboxChargesModule,
        SandboxBillsModule,
        SandboxCustomersModule,
        SandboxStatementModule,
        SandboxRefundsModule,
        SandboxTransfersModule,
        SandboxWebhooksModule,
        SandboxControlModule,
        SandboxModesModule,
        SandboxFaultsModule,
        SandboxGenerateModule,
      ],
    };
  }
}

export interface SandboxOptions {
  databaseUrl: string;
  log: Log;
  /** Receives the progress of migrations. Defaults to the log. */
  progress?: (message: string) => void;
  settings: {
    /** The API key of account 1000001. */
    apiKey: string;
    /** The partner's key of the onboarding API. */
    partnerKey: string;
    /** The preset of a bank whose modes were never changed; `published` when left out. */
    preset?: Preset | undefined;
    /** Of a bank that the sandbox imitates, beyond its preset. */
    habits?: BankHabits | null | undefined;
    /** Those that a new bank opens; those of the fixtures when left out. */
    accounts?: readonly RequestedAccount[] | undefined;
    /** What the clock of a new bank shows, and after each reset; left out: the machine's time. */
    startsAt?: Date | undefined;
    isFrozen?: boolean | undefined;
    /** The most connections to the database; 24 when left out. */
    maxConnections?: number | undefined;
  };
}

/** The path is the same from `src` and from `dist`. */
const migrations = fileURLToPath(new URL('../../prisma/sandbox/migrations', import.meta.url));

/**
 * Creates the sandbox bank: its database is migrated and, when new, seeded with the fixtures. The
 * application does not listen yet. `close()` ends its webhook deliveries and its pool.
 */
export async function createSandbox(options: SandboxOptions): Promise<NestFastifyApplication> {
  const { databaseUrl, log } = options;
  await applyMigrations({
    url: databaseUrl,
    folder: migrations,
    log: options.progress ?? ((message) => log.info(message)),
  });
  const { apiKey, partnerKey, preset = 'published', habits = null, ...first } = options.settings;
  const { startsAt = null, isFrozen = false, maxConnections = 24 } = first;
  const limits = { startsAt, isFrozen, maxConnections };
  const settings = new SandboxSettings(databaseUrl, log, partnerKey, preset, habits, limits);
  const accounts = new FirstAccounts(
    first.accounts ? openedAccounts(first.accounts, apiKey) : openedFixtures(apiKey),
  );
  const application = await createHttpApplication(SandboxModule.with(settings, accounts), {
    log,
    reference: {
      title: 'Sandbox bank',
      description:
        'The interface of the bank, with money that is not real. Paths under `/sandbox` play what ' +
        'others do: payers, the clock, faults.',
      server: 'http://127.0.0.1:3900',
      scopeOf: null,
      examples: () => import('./api-examples.json', { with: { type: 'json' } }),
    },
  });
  const clock = application.get(BankClock);
  const modes = application.get(Modes);
  // Clients derive business time from the `Date` header, so it carries the bank's clock and not the
  // machine's.
  application
    .getHttpAdapter()
    .getInstance()
    .addHook('onSend', ({ method, routeOptions: { url: path = '' } }, reply, payload, done) => {
      void reply.header('date', clock.now().toUTCString());
      const isJson = String(reply.getHeader('content-type')).includes('json');
      const mayDiffer = modes.current.answers === 'published' && isJson && payload;
      const form = mayDiffer ? publishedForm({ method, path, status: reply.statusCode }) : null;
      if (!form) return done(null, payload);
      const body = form(Buffer.from(payload as string).toString());
      if (!/^[[{]/.test(body)) void reply.header('content-type', 'text/plain; charset=utf-8');
      done(null, body);
    });
  await clock.load();
  await modes.load();
  application.get(InMemoryState).imitate();
  await application.get(BankSeeding).seedBank();
  const health = application.get(Health);
  const database = application.get(SandboxDatabase);
  health.addCheck('database', {
    find: async () => ((await database.isReachable()) ? null : 'The database does not answer.'),
    needs: ['sandbox'],
  });
  health.markStarted();
  application.get(DueWork).start();
  return application;
}
