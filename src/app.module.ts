// Wires the modules of the service, from the lowest layer up. The modules are the same in every
// role: start.ts starts what a role adds.
import { Global, Module, type DynamicModule } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { AccountsModule } from './accounts/accounts.module.js';
import { AlertsModule } from './alerts/alerts.module.js';
import { BankModule } from './bank/bank.module.js';
import { BillPaymentsModule } from './bill-payments/bill-payments.module.js';
import { BulkModule } from './bulk/bulk.module.js';
import { ChargesModule } from './charges/charges.module.js';
import { Settings } from './config.js';
import { ConsoleModule } from './console/console.module.js';
import { CustomersModule } from './customers/customers.module.js';
import { DisputesModule } from './disputes/disputes.module.js';
import { Database } from './database.service.js';
import { DayClosesModule } from './day-closes/day-closes.module.js';
import { EventsModule } from './events/events.module.js';
import { CashForecastModule } from './cash-forecast/cash-forecast.module.js';
import { ExportsModule } from './exports/exports.module.js';
import { ExpectedPaymentsModule } from './expected-payments/expected-payments.module.js';
import { IdempotencyModule } from './idempotency/idempotency.module.js';
import { OperationsModule } from './operations/operations.module.js';
import { PaymentControlsModule } from './payment-controls/payment-controls.module.js';
import { Addresses } from './platform/http.js';
import { Timers } from './platform/timers.js';
import { Health, HealthController } from './platform/health.js';
import { HttpMetrics } from './platform/http-metrics.js';
import { Log } from './platform/log.js';
import { MetricsController } from './platform/metrics.controller.js';
import { Metrics } from './platform/metrics.js';
import { PoolMetrics } from './platform/pool-metrics.js';
import { queueModules, type QueueConnection } from './platform/queue-connection.js';
import { QueueMetrics } from './platform/queue-metrics.js';
import { SecretBox } from './platform/secret-box.js';
import { JobQueue } from './platform/job-queue.js';
import { Workers } from './platform/workers.js';
import { BreaksModule } from './reconciliation/breaks/breaks.module.js';
import { ReconciliationModule } from './reconciliation/reconciliation.module.js';
import { RunsModule } from './reconciliation/runs/runs.module.js';
import { RefundsModule } from './refunds/refunds.module.js';
import { RequestLimitsModule } from './request-limits/request-limits.module.js';
import { StatementModule } from './statement/statement.module.js';
import { TableStatisticsModule } from './table-statistics/table-statistics.module.js';
import { TransfersModule } from './transfers/transfers.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

/** The objects that the process creates before the modules, and provides to all of them. */
export interface ProcessDependencies {
  settings: Settings;
  addresses: Addresses;
  log: Log;
  database: Database;
  queue: QueueConnection;
  secretBox: SecretBox;
}

const platformProviders = [Health, Metrics, Timers, JobQueue, Workers, PoolMetrics];

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
        ...queueModules(dependencies.queue.connection),
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
        BulkModule,
        WebhooksModule,
        ReconciliationModule,
        CashForecastModule,
        ExportsModule,
        RunsModule,
        BreaksModule,
        DayClosesModule,
        AlertsModule,
        ConsoleModule,
      ],
    };
  }
}
