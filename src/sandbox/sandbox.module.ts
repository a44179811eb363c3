// The sandbox bank as a separate application. The rest of the project reaches it over HTTP only.
import { fileURLToPath } from 'node:url';
import { Module, type DynamicModule } from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Health, HealthController } from '../platform/health.js';
import { createHttpApplication } from '../platform/http.js';
import type { Log } from '../platform/log.js';
import { applyMigrations } from '../platform/migrations.js';
import { Accounts } from './accounts/accounts.service.js';
import { SandboxApiKeyGuard } from './accounts/api-key.guard.js';
import { RateLimitGuard } from './accounts/rate-limit.guard.js';
import { BankSeeding } from './control/bank-seeding.service.js';
import { BalancesController } from './balances/balances.controller.js';
import { BillChargebacks } from './bills/bill-chargebacks.service.js';
import { BillControlController } from './bills/bill-control.controller.js';
import { BillControl } from './bills/bill-control.service.js';
import { BillPayments } from './bills/bill-payments.service.js';
import { BillPaymentTimes } from './bills/bill-payment-times.service.js';
import { BillRegister } from './bills/bill-register.service.js';
import { BillSettlement } from './bills/bill-settlement.service.js';
import { BillsController } from './bills/bills.controller.js';
import { ScheduledBillPayments } from './bills/scheduled-bill-payments.service.js';
import { ChargeIssuance } from './charges/charge-issuance.service.js';
import { ChargeCredits } from './charges/charge-credits.service.js';
import { ChargeReading } from './charges/charge-reading.service.js';
import { ChargeSimulation } from './charges/charge-simulation.service.js';
import { ChargeVoids } from './charges/charge-voids.service.js';
import { SandboxChargesController } from './charges/charges.controller.js';
import { Charges } from './charges/charges.service.js';
import { OverdueCharges } from './charges/overdue-charges.service.js';
import { StaticQrCodes } from './charges/static-qr.service.js';
import { BankSettings } from './bank-settings.service.js';
import { BankClock } from './clock/bank-clock.service.js';
import { ClockController } from './control/clock.controller.js';
import { ResetGate, ResetGateInterceptor } from './control/reset-gate.service.js';
import { InMemoryState } from './control/in-memory-state.service.js';
import { BankInspection } from './control/bank-inspection.service.js';
import { ControlController } from './control/control.controller.js';
import { IncomingPixes } from './control/incoming-pixes.service.js';
import { ArbitraryLines } from './control/arbitrary-lines.service.js';
import { SandboxCustomersController } from './customers/customers.controller.js';
import { Customers } from './customers/customers.service.js';
import { Passwords } from './customers/passwords.service.js';
import { BankReset } from './control/bank-reset.service.js';
import { isSandboxDatabaseReachable } from './sandbox.queries.js';
import { DueWork } from './due-work/due-work.service.js';
import { CallFaults } from './faults/call-faults.service.js';
import { FaultsController } from './faults/faults.controller.js';
import { Faults } from './faults/faults.service.js';
import { GenerateController } from './generate/generate.controller.js';
import { LineGenerator } from './generate/generate.service.js';
import { Idempotency } from './idempotency/idempotency.service.js';
import { LineVisibility } from './ledger/line-visibility.service.js';
import { SandboxLedger } from './ledger/ledger.service.js';
import { ModesController } from './modes/modes.controller.js';
import { Modes } from './modes/modes.service.js';
import { EndToEndIds, PixCredits } from './pix/pix-credits.service.js';
import { PixLookups } from './pix/pix-lookups.service.js';
import { Random } from './random.service.js';
import { OriginalPixes } from './refunds/original-pixes.service.js';
import { RefundMovements } from './refunds/refund-movements.service.js';
import { RefundOutcomes } from './refunds/refund-outcomes.service.js';
import { SandboxRefundsController } from './refunds/refunds.controller.js';
import { Refunds } from './refunds/refunds.service.js';
import { SandboxDatabase, SandboxSettings } from './sandbox-database.service.js';
import { SandboxStatementController } from './statement/statement.controller.js';
import { Statement } from './statement/statement.service.js';
import { BatchPlans } from './transfers/batch-plans.service.js';
import { BatchTransfers } from './transfers/batch-transfers.service.js';
import { DictKeys } from './transfers/dict-keys.service.js';
import { InternalTransfers } from './transfers/internal-transfers.service.js';
import { ReturnedPixes } from './transfers/returned-pixes.service.js';
import { SentPixLifecycle } from './transfers/sent-pix-lifecycle.service.js';
import { SentPixes } from './transfers/sent-pixes.service.js';
import { SandboxTransfersControlController } from './transfers/transfers-control.controller.js';
import { SandboxTransfersController } from './transfers/transfers.controller.js';
import { Transfers } from './transfers/transfers.service.js';
import { RegistrationsController } from './webhooks/registrations.controller.js';
import { Registrations } from './webhooks/registrations.service.js';
import { WebhookSender } from './webhooks/webhook-sender.service.js';
import { Webhooks } from './webhooks/webhooks.service.js';

@Module({
  controllers: [
    SandboxChargesController,
    BillsController,
    SandboxCustomersController,
    SandboxStatementController,
    BalancesController,
    SandboxRefundsController,
    SandboxTransfersController,
    SandboxTransfersControlController,
    RegistrationsController,
    ControlController,
    BillControlController,
    ModesController,
    FaultsController,
    ClockController,
    GenerateController,
    HealthController,
  ],
  providers: [
    { provide: APP_GUARD, useClass: SandboxApiKeyGuard },
    { provide: APP_GUARD, useClass: RateLimitGuard },
    // Outermost first: a request that a fault leaves hanging no longer delays a reset.
    { provide: APP_INTERCEPTOR, useClass: CallFaults },
    { provide: APP_INTERCEPTOR, useClass: ResetGateInterceptor },
    SandboxDatabase,
    ...[BankSettings, BankClock, Modes, Random, Faults],
    ...[Idempotency, DueWork],
    ...[Accounts, BankSeeding],
    ...[LineVisibility, SandboxLedger, Statement],
    ...[Webhooks, WebhookSender, Registrations],
    ...[OverdueCharges, ChargeReading, ChargeVoids],
    ...[ChargeIssuance, ChargeCredits, ChargeSimulation, Charges, StaticQrCodes],
    ...[OriginalPixes, RefundMovements, RefundOutcomes, Refunds],
    ...[BillRegister, BillSettlement, BillPaymentTimes, BillChargebacks],
    ...[BillPayments, ScheduledBillPayments, BillControl],
    ...[Passwords, Customers],
    ...[PixCredits, IncomingPixes, ArbitraryLines, BankInspection],
    ...[ResetGate, InMemoryState, BankReset, LineGenerator],
    ...[EndToEndIds, PixLookups, SentPixLifecycle, SentPixes, InternalTransfers],
    ...[Transfers, BatchPlans, BatchTransfers, DictKeys, ReturnedPixes],
  ],
})
export class SandboxModule {
  static with(settings: SandboxSettings): DynamicModule {
    return {
      module: SandboxModule,
      providers: [
        { provide: SandboxSettings, useValue: settings },
        { provide: Health, useValue: new Health(settings.log) },
      ],
    };
  }
}

export interface SandboxOptions {
  databaseUrl: string;
  log: Log;
  /** How the operator resets the database; see applyMigrations. */
  resetInstruction?: string;
  /** Receives the progress of migrations. Defaults to the log. */
  progress?: (message: string) => void;
  settings: {
    /** The API key of account 1000001. */
    apiKey: string;
    /** The partner's key of the onboarding API. */
    partnerKey: string;
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
    resetInstruction: options.resetInstruction,
    log: options.progress ?? ((message) => log.info(message)),
  });
  const settings = new SandboxSettings(
    databaseUrl,
    log,
    options.settings.apiKey,
    options.settings.partnerKey,
  );
  const application = await createHttpApplication(SandboxModule.with(settings), {
    log,
    title: 'Sandbox bank',
  });
  const clock = application.get(BankClock);
  // Clients derive business time from the `Date` header, so it carries the bank's clock and not the
  // machine's.
  application
    .getHttpAdapter()
    .getInstance()
    .addHook('onSend', (_request, reply, payload, done) => {
      void reply.header('date', clock.now().toUTCString());
      done(null, payload);
    });
  await clock.load();
  await application.get(Modes).load();
  await application.get(BankSeeding).seedBank();
  const health = application.get(Health);
  const database = application.get(SandboxDatabase);
  health.addCheck('database', () => isSandboxDatabaseReachable(database));
  health.markStarted();
  application.get(DueWork).start();
  return application;
}
