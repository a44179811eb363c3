// Each import rule with a small tree that breaks it and the violations it must report.
import type { ProvenRule } from './project-file.js';
import {
  axiosStaysInBankAndEvents,
  bullmqStaysInPlatformAndProcessors,
  packagesStandAlone,
  everyModuleHasALayer,
  foldersOfAModuleMakeNoCycle,
  importsGoDown,
  importsMakeNoCycle,
  injectedClassesAreImportedAsValues,
  noBarrels,
  noForwardRef,
  metricsAreDeclaredThroughPlatform,
  onlyConfigReadsTheEnvironment,
  onlyTheStarterImportsTheSandbox,
  queuesAreUsedThroughNest,
  sandboxImportsOnlyWhatBothApplicationsShare,
  timersAreDeclaredByEvery,
} from './imports.js';

export const importRules: ProvenRule[] = [
  {
    name: 'every module has a layer',
    rule: everyModuleHasALayer,
    tree: {
      'src/outbound/charges/charge.ts': '',
      'src/sandbox/modes.ts': '',
      'src/lending/loan.ts': '',
    },
    found: ['src/lending/loan.ts:1 lending has no layer'],
  },

  {
    name: 'go down the layers',
    rule: importsGoDown,
    tree: {
      'src/outbound/charges/charges.service.ts': `
        import { call } from '../../bank/bank.service.js';
        import type { Break } from '../../reconciliation/break.js';
        import { until } from '../../../test/until.js';
        import './charge.js';`,
      'src/bank/bank.service.ts': `export type { Charge } from '../outbound/charges/charge.js';`,
      'src/bank/response.ts': `type Line = import('../statement/statement-line.js').Line;`,
      'src/brazil/cents.ts': `import { kind } from '../bank-contract/charges.js';`,
      'src/app/app.module.ts': `await import('../cli.js');`,
    },
    found: [
      'src/outbound/charges/charges.service.ts:3 imports src/reconciliation/break.ts, which is not below it',
      'src/outbound/charges/charges.service.ts:4 imports test/until.ts, which is not below it',
      'src/bank/bank.service.ts:1 imports src/outbound/charges/charge.ts, which is not below it',
      'src/bank/response.ts:1 imports src/statement/statement-line.ts, which is not below it',
      'src/brazil/cents.ts:1 imports src/bank-contract/charges.ts, which is not below it',
      'src/app/app.module.ts:1 imports src/cli.ts, which is not below it',
    ],
  },

  {
    name: 'of the folders of a module go one way',
    rule: foldersOfAModuleMakeNoCycle,
    tree: {
      'src/outbound/charges/charge.ts': `import './checks/status.js';`,
      'src/outbound/charges/checks/status.ts': `import '../views/view.js';`,
      'src/outbound/charges/views/view.ts': `import '../charge.js';`,
      'src/outbound/charges/views/columns.ts': '',
      'src/outbound/charges/api/controller.ts': `import '../views/columns.js';`,
      'src/outbound/charges/charges.module.ts': `import './api/controller.js';`,
    },
    found: [
      'src/outbound/charges/charge.ts:1 imports src/outbound/charges/checks, which imports its folder',
      'src/outbound/charges/checks/status.ts:1 imports src/outbound/charges/views, which imports its folder',
      'src/outbound/charges/views/view.ts:1 imports src/outbound/charges, which imports its folder',
    ],
  },

  {
    name: 'of the sandbox are what both applications share',
    rule: sandboxImportsOnlyWhatBothApplicationsShare,
    tree: {
      'src/sandbox/charges/charges.service.ts': `
        import { route } from '../../bank-contract/route.js';
        import { PrismaClient } from '../../generated/sandbox/client.js';
        import '../ledger/ledger.service.js';
        import { jobs } from '../../platform/queue/queues.js';
        import { Prisma } from '../../generated/service/client.js';
        import type { BankResponse } from '../../bank/response.js';
        import { Database } from '../../platform/database.service.js';`,
      'src/platform/database.service.ts': `import { pool } from './pool.queries.js';`,
      'src/platform/pool.queries.ts': `import '../generated/service/client.js';`,
    },
    found: [
      'src/sandbox/charges/charges.service.ts:5 the sandbox imports src/platform/queue/queues.ts',
      'src/sandbox/charges/charges.service.ts:6 the sandbox imports src/generated/service/client.ts',
      'src/sandbox/charges/charges.service.ts:7 the sandbox imports src/bank/response.ts',
      'src/sandbox/charges/charges.service.ts:8 the sandbox imports src/platform/database.service.ts',
    ],
  },

  {
    name: 'of the sandbox are made by the starter alone',
    rule: onlyTheStarterImportsTheSandbox,
    tree: {
      'src/app/start.ts': `import { startSandbox } from '../sandbox/start.js';`,
      'src/sandbox/start.ts': `import './modes.js';`,
      'src/bank/profiles.ts': `import { modes } from '../sandbox/modes.js';`,
    },
    found: [
      'src/bank/profiles.ts:1 imports src/sandbox/modes.ts: the bank is reached over HTTP alone',
    ],
  },

  {
    name: 'make no cycle',
    rule: importsMakeNoCycle,
    tree: {
      'src/outbound/charges/a.ts': `import './b.js'; import './d.js';`,
      'src/outbound/charges/b.ts': `import './c.js';`,
      'src/outbound/charges/c.ts': `import type { A } from './a.js';`,
      'src/outbound/charges/d.ts': `import './c.js';`,
    },
    found: [
      'src/outbound/charges/a.ts → src/outbound/charges/b.ts → src/outbound/charges/c.ts → src/outbound/charges/a.ts',
    ],
  },

  {
    name: 'need no forwardRef',
    rule: noForwardRef,
    tree: { 'src/bank/bank.module.ts': `@Module({ imports: [forwardRef(() => A)] }) class B {}` },
    found: ['src/bank/bank.module.ts:1 forwardRef hides an import cycle'],
  },

  {
    name: 'of injected classes are values',
    rule: injectedClassesAreImportedAsValues,
    tree: {
      'src/platform/timers.ts': 'export class Clock {}\nexport interface Tick {}',
      'src/bank/bank.service.ts': `
        import type { Clock } from '../platform/timers.js';
        import { type Clock as Watch, type Tick } from '../platform/timers.js';
        @Injectable() class A {
          constructor(
            private readonly clock: Clock,
            private readonly watch: Watch,
            private readonly tick: Tick,
            @Inject('clock') private readonly named: Clock,
          ) {}
        }
        class Plain { constructor(readonly clock: Clock) {} }`,
    },
    found: [
      'src/bank/bank.service.ts:6 Clock is injected and imported as a type',
      'src/bank/bank.service.ts:7 Watch is injected and imported as a type',
    ],
  },

  {
    name: 'of installed packages are their own',
    rule: packagesStandAlone,
    tree: {
      'packages/client/src/a.ts': `
        import './b.js';
        import { Webhook } from 'standardwebhooks';
        import { z } from 'zod';
        import { cents } from '../../../src/brazil/cents.js';`,
      'packages/client/src/a.spec.ts': `import fc from 'fast-check';`,
      'packages/verifier/src/a.ts': `
        import { verify } from 'node:crypto';
        import { leafHashOf } from '../../../src/platform/merkle-tree.js';`,
    },
    found: [
      'packages/client/src/a.ts:4 the client imports zod',
      'packages/client/src/a.ts:5 the client imports ../../../src/brazil/cents.js',
      'packages/verifier/src/a.ts:3 the verifier imports ../../../src/platform/merkle-tree.js',
    ],
  },

  {
    name: 'pass through no barrel',
    rule: noBarrels,
    tree: {
      'src/money/index.ts': '',
      'src/money/cents.ts': `export { a } from './a.js'; export * from './b.js';`,
    },
    found: [
      'src/money/index.ts:1 is a barrel',
      'src/money/cents.ts:1 re-exports all of another file',
    ],
  },

  {
    name: 'of axios stay in bank and events',
    rule: axiosStaysInBankAndEvents,
    tree: {
      'src/bank/bank.service.ts': `import axios from 'axios';`,
      'src/events/delivery.service.ts': `import axios from 'axios';`,
      'src/outbound/charges/charges.service.ts': `import type { AxiosError } from 'axios';`,
    },
    found: ['src/outbound/charges/charges.service.ts:1 imports axios'],
  },

  {
    name: 'of BullMQ stay in platform/queue and in processors',
    rule: bullmqStaysInPlatformAndProcessors,
    tree: {
      'src/platform/queue/queues.ts': `import type { JobsOptions } from 'bullmq';`,
      'src/platform/postgres/leases.ts': `import { Queue } from 'bullmq';`,
      'src/events/deliver-events.processor.ts': `import type { Job } from 'bullmq';`,
      'src/events/events.service.ts': `import { Queue } from 'bullmq';`,
    },
    found: [
      'src/platform/postgres/leases.ts:1 imports bullmq',
      'src/events/events.service.ts:1 imports bullmq',
    ],
  },
  {
    name: 'of @nestjs/bullmq are where queues are registered, injected and worked',
    rule: queuesAreUsedThroughNest,
    tree: {
      'src/platform/queue/queue-connection.ts': `import { BullModule } from '@nestjs/bullmq';`,
      'src/events/events.module.ts': `import { BullModule } from '@nestjs/bullmq';`,
      'src/events/events.service.ts': `import { InjectQueue } from '@nestjs/bullmq';`,
      'src/events/deliver-events.processor.ts': `import { Processor } from '@nestjs/bullmq';`,
      'src/events/event.ts': `import { InjectQueue } from '@nestjs/bullmq';`,
      'src/sandbox/webhooks/webhooks.service.ts': `import { InjectQueue } from '@nestjs/bullmq';`,
    },
    found: [
      'src/events/event.ts:1 imports @nestjs/bullmq',
      'src/sandbox/webhooks/webhooks.service.ts:1 imports @nestjs/bullmq',
    ],
  },

  {
    name: 'of @nestjs/schedule leave timers to @Every',
    rule: timersAreDeclaredByEvery,
    tree: {
      'src/platform/queue/timers.ts': `import { SchedulerRegistry } from '@nestjs/schedule';`,
      'src/events/events.service.ts': `import { ScheduleModule, Interval } from '@nestjs/schedule';`,
    },
    found: ['src/events/events.service.ts:1 imports Interval: declare by @Every'],
  },
  {
    name: 'of prom-client stay where labels are declared',
    rule: metricsAreDeclaredThroughPlatform,
    tree: {
      'src/platform/metrics/instruments.ts': `import { Counter } from 'prom-client';`,
      'src/platform/metrics/metrics.ts': `import { Registry } from 'prom-client';`,
      'src/events/event-metrics.service.ts': `import { Counter } from 'prom-client';`,
    },
    found: ['src/events/event-metrics.service.ts:1 imports prom-client'],
  },

  {
    name: 'of the environment are read by environment.ts',
    rule: onlyConfigReadsTheEnvironment,
    tree: {
      'src/platform/settings/environment.ts': 'process.env.PORT',
      'src/bank/bank.service.ts': `
        import { env, pid } from 'node:process';
        const port = process.env.PORT;
        const host = process['env'].HOST;
        const id = process.pid;`,
    },
    found: [
      'src/bank/bank.service.ts:2 reads the environment',
      'src/bank/bank.service.ts:3 reads the environment',
      'src/bank/bank.service.ts:4 reads the environment',
    ],
  },
];
