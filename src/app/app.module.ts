// Wires the modules of the service. The modules are the same in every
// role: start.ts starts what a role adds.
import { requiredScope } from '../access/accounts/scope.decorator.js';
import { eventWebhooks } from '../events/event-fields.schema.js';
import type { ApiReferenceOptions } from '../platform/http/api-reference.js';
import { Global, Module, type DynamicModule } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ScheduleModule } from '@nestjs/schedule';
import { AccountsModule } from '../access/accounts/accounts.module.js';
import { AlertsModule } from '../reporting/alerts/alerts.module.js';
import { BankModule } from '../bank/bank.module.js';
import { BillPaymentsModule } from '../outbound/bill-payments/bill-payments.module.js';
import { BulkModule } from '../outbound/bulk/bulk.module.js';
import { ChargesModule } from '../outbound/charges/charges.module.js';
import { Settings } from '../platform/settings/config.js';
import { ConsoleModule } from '../console/console.module.js';
import { CustomersModule } from '../outbound/customers/customers.module.js';
import { DisputeEvidenceModule } from '../reporting/dispute-evidence/dispute-evidence.module.js';
import { DisputesModule } from '../statement/disputes/disputes.module.js';
import { Database } from '../platform/postgres/database.service.js';
import { AnchorsModule } from '../reporting/anchors/anchors.module.js';
import { DayClosesModule } from '../reporting/day-closes/day-closes.module.js';
import { EventsModule } from '../events/events.module.js';
import { CashForecastModule } from '../reporting/cash-forecast/cash-forecast.module.js';
import { BundleModule } from '../reporting/bundle/bundle.module.js';
import { ExportsModule } from '../reporting/exports/exports.module.js';
import { ExpectedPaymentsModule } from '../statement/expected-payments/expected-payments.module.js';
import { IdempotencyModule } from '../access/idempotency/idempotency.module.js';
import { MonthsModule } from '../reporting/months/months.module.js';
import { OperationsModule } from '../outbound/operations/operations.module.js';
import { PaymentControlsModule } from '../outbound/payment-controls/payment-controls.module.js';
import { Addresses } from '../platform/http/http.js';
import { Timers } from '../platform/queue/timers.js';
import { Health, HealthController } from '../platform/http/health.js';
import { HttpMetrics } from '../platform/http/http-metrics.js';
import { Log } from '../platform/log.js';
import { MetricsController } from '../platform/http/metrics.controller.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { PoolMetrics } from '../platform/metrics/pool-metrics.js';
import { queueModule, type QueueConnection } from '../platform/queue/queue-connection.js';
import { QueueMetrics } from '../platform/queue/queue-metrics.js';
import { SecretBox } from '../platform/secret-box.js';
import { JobWorkers } from '../platform/queue/job-workers.js';
import { BreaksModule } from '../reconciliation/breaks/breaks.module.js';
import { ReconciliationModule } from '../reconciliation/reconciliation.module.js';
import { ProofsModule } from '../reporting/proofs/proofs.module.js';
import { RunsModule } from '../reconciliation/runs/runs.module.js';
import { RefundsModule } from '../outbound/refunds/refunds.module.js';
import { RequestLimitsModule } from '../platform/limits/request-limits.module.js';
import { StatementModule } from '../statement/lines/statement.module.js';
import { TableStatisticsModule } from '../platform/postgres/table-statistics/table-statistics.module.js';
import { JournalModule } from '../reporting/journal/journal.module.js';
import { TariffsModule } from '../reporting/tariffs/tariffs.module.js';
import { TransfersModule } from '../outbound/transfers/transfers.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';

/** The objects that the process creates before the modules, and provides to all of them. */
export interface ProcessDependencies {
  settings: Settings;
  addresses: Addresses;
  log: Log;
  database: Database;
  queue: QueueConnection;
  secretBox: SecretBox;
}

const platformProviders = [Health, Metrics, Timers, JobWorkers, PoolMetrics];

@Global()
@Module({
  imports: [DiscoveryModule],
  controllers: [HealthController, MetricsController],
  providers: [...platformProviders, HttpMetrics, QueueMetrics],
  exports: [...platformProviders, QueueMetrics],
})
class PlatformModule {
  static with({ secretBox, ...given }: ProcessDependencies): DynamicModule {
    const values = [
      { provide: Settings, useValue: given.settings },
      { provide: Addresses, useValue: given.addresses },
      { provide: Log, useValue: given.log },
      { provide: Database, useValue: given.database },
      { provide: SecretBox, useValue: secretBox },
    ];
    return { module: PlatformModule, providers: values, exports: values };
  }
}

@Module({})
export class AppModule {
  static with(dependencies: ProcessDependencies): DynamicModule {
    return {
      module: AppModule,
      imports: [
        PlatformModule.with(dependencies),
        queueModule(dependencies.queue.connection),
        ScheduleModule.forRoot(),
        IdempotencyModule,
        RequestLimitsModule,
        TableStatisticsModule,
        AccountsModule,
        BankModule,
        EventsModule,
        ExpectedPaymentsModule,
        StatementModule,
        PaymentControlsModule,
        OperationsModule,
        ChargesModule,
        TransfersModule,
        BillPaymentsModule,
        RefundsModule,
        CustomersModule,
        DisputesModule,
        DisputeEvidenceModule,
        BulkModule,
        WebhooksModule,
        ReconciliationModule,
        CashForecastModule,
        MonthsModule,
        JournalModule,
        TariffsModule,
        ExportsModule,
        BundleModule,
        RunsModule,
        BreaksModule,
        DayClosesModule,
        AnchorsModule,
        ProofsModule,
        AlertsModule,
        ConsoleModule,
      ],
    };
  }
}

/** What the API reference of the service says of itself. */
export const serviceReference: ApiReferenceOptions = {
  title: 'Concilia',
  description:
    'Money in and out through a Brazilian bank-as-a-service, reconciled to the cent. Paths under ' +
    "`/baas` are the bank's own interface, with keys that are kept; those under `/v1` are ours. " +
    'Amounts are in reais with at most two decimals, times are ISO 8601.',
  server: 'http://127.0.0.1:3000',
  scopeOf: requiredScope,
  examples: () => import('./api-examples.json', { with: { type: 'json' } }),
  webhooks: eventWebhooks,
};
