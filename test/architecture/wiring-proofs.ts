// Each wiring and document rule with a small tree that breaks it and the violations it must report.
import type { ProvenRule } from './project-file.js';
import {
  eachChangeRequiresAScope,
  eachJobHasOneProcessor,
  eachOperationKindIsRegisteredOnce,
  eachRouteIsServedOnce,
  queuesAreRegisteredWhereUsed,
} from './wiring.js';
import { documentLinksResolve, documentsNameFilesThatExist } from './documents.js';

export const wiringRules: ProvenRule[] = [
  {
    name: 'gives each job one processor',
    rule: eachJobHasOneProcessor,
    tree: {
      'src/platform/queue/queues.ts': `const jobs = { once: job({}), never: job({}), twice: job({}) };`,
      'src/bank/a.processor.ts': `@Processor(jobs.once.name) class A {}`,
      'src/bank/b.processor.ts': `@Processor(jobs.twice.name, workerOptions(jobs.twice)) class B {}`,
      'src/bank/c.processor.ts': `@Processor(jobs.twice.name) class C {}`,
    },
    found: [
      'src/platform/queue/queues.ts:1 never: has a processor 0 times',
      'src/platform/queue/queues.ts:1 twice: has a processor 2 times src/bank/b.processor.ts, src/bank/c.processor.ts',
    ],
  },
  {
    name: 'registers each queue in the modules that enqueue to it or work it',
    rule: queuesAreRegisteredWhereUsed,
    tree: {
      'src/bank/bank.module.ts': `
        import { A } from './a.service.js';
        import { B } from './b.processor.js';
        @Module({ imports: [BullModule.registerQueue({ name: jobs.sync.name })], providers: [A, B] })
        class BankModule {}`,
      'src/bank/a.service.ts': `
        class A { constructor(@InjectQueue(jobs.sync.name) a: Queue, @InjectQueue(jobs.close.name) b: Queue) {} }`,
      'src/bank/b.processor.ts': `@Processor(jobs.close.name) class B {}`,
      'src/events/c.service.ts': `class C { constructor(@InjectQueue(jobs.sync.name) a: Queue) {} }`,
    },
    found: [
      'src/bank/a.service.ts:2 its module does not register the queue of close',
      'src/bank/b.processor.ts:1 its module does not register the queue of close',
      'src/events/c.service.ts:1 its module does not register the queue of sync',
    ],
  },

  {
    name: 'registers each operation kind once',
    rule: eachOperationKindIsRegisteredOnce,
    tree: {
      'src/outbound/charges/create-charge.ts': `
        export const kind: OperationKind<typeof route> = { name: 'create_charge' };
        export const unused = { name: 'create_charge' } satisfies OperationKind;`,
      'src/outbound/charges/charges.service.ts': `
        import { kind as charge } from './create-charge.js';
        class A {
          private readonly qrKind: OperationKind<typeof qr> = { name: 'create_static_qr' };
          onModuleInit() {
            this.operations.register(charge);
            this.operations.register(this.qrKind);
          }
          register(kind: OperationKind) { this.sender.register(kind); }
        }`,
      'src/outbound/transfers/transfers.service.ts': `
        class B {
          private readonly kind: OperationKind<typeof transfer> = { name: 'create_transfer' };
          start() { this.operations.register(this.kind); this.operations.register(this.kind); }
        }`,
    },
    found: [
      'src/outbound/charges/create-charge.ts:3 src/outbound/charges/create-charge.ts#unused: is registered 0 times',
      'src/outbound/transfers/transfers.service.ts:3 src/outbound/transfers/transfers.service.ts#kind: is registered 2 times src/outbound/transfers/transfers.service.ts, src/outbound/transfers/transfers.service.ts',
      'src/outbound/charges/create-charge.ts:2 create_charge: names a kind 2 times src/outbound/charges/create-charge.ts, src/outbound/charges/create-charge.ts',
      'src/outbound/charges/create-charge.ts:3 create_charge: names a kind 2 times src/outbound/charges/create-charge.ts, src/outbound/charges/create-charge.ts',
    ],
  },
  {
    name: 'serves each route once',
    rule: eachRouteIsServedOnce,
    tree: {
      'src/bank-contract/charges.ts': `
        export const createCharge = route({});
        export const payCharge = route({});`,
      'src/outbound/charges/charges.schema.ts': `export const listWidgets = route({});`,
      'src/outbound/charges/charges.controller.ts': `
        import { createCharge as create } from '../bank-contract/charges.js';
        class A { @Handles(create) create() {} @Handles(listWidgets) list() {} }`,
      'src/sandbox/charges/charges.controller.ts': `
        class A { @Handles(createCharge) a() {} @Handles(createCharge) b() {}
                  @Handles(payCharge) c() {} }`,
    },
    found: [
      'src/bank-contract/charges.ts:3 payCharge: the service serves it 0 times',
      'src/bank-contract/charges.ts:2 createCharge: the sandbox serves it 2 times src/sandbox/charges/charges.controller.ts, src/sandbox/charges/charges.controller.ts',
    ],
  },
  {
    name: 'requires a scope on every route that changes data',
    rule: eachChangeRequiresAScope,
    tree: {
      'src/bank-contract/charges.ts': `
        const charge = { chapter: 'Charges', authentication: 'api-key' } as const;
        export const createCharge = route({ ...charge, method: 'POST' });
        export const voidCharge = route({ ...charge, method: 'PUT' });
        export const getCharge = route({ ...charge, method: 'GET' });`,
      'src/outbound/customers/customers.schema.ts': `
        export const createCustomer = route({ method: 'POST', authentication: 'partner-key' });
        export const addAccount = route({ method: 'POST', authentication: 'admin-key' });
        export const notify = route({ method: 'POST', authentication: 'none' });`,
      'src/outbound/charges/charges.controller.ts': `
        import { createCharge as create } from '../bank-contract/charges.js';
        class A {
          @Handles(create) create() {}
          @RequiresScope('charge') @Handles(voidCharge) void() {}
          @Handles(getCharge) get() {}
        }
        class B {
          @Handles(createCustomer) create() {}
          @Handles(addAccount) add() {}
          @Handles(notify) notify() {}
        }`,
      'src/sandbox/charges/charges.controller.ts': `class C { @Handles(createCharge) a() {} }`,
    },
    found: [
      "src/outbound/charges/charges.controller.ts:4 createCharge changes data: its handler lacks @RequiresScope('…')",
      "src/outbound/charges/charges.controller.ts:9 createCustomer changes data: its handler lacks @RequiresScope('…')",
    ],
  },
];

export const documentRules: ProvenRule[] = [
  {
    name: 'name only files that exist',
    rule: documentsNameFilesThatExist,
    tree: {
      'src/outbound/charges/charge.ts': '',
      'prisma/service/charges.prisma': '',
      'README.md': [
        'See `src/outbound/charges/charge.ts`, `charges/charge.ts:12`, `charge.ts`, `src/outbound/charges/` and `.data/`;',
        '`prisma/service/<module>.prisma`, `npm test -- src/outbound/charges/charge.ts`, `application/json`, `/v1/x`;',
        'not `src/outbound/charges/refund.ts`, `charges/match.ts`, `docs/none.md`, `src/<module>/<module>.module.ts`.',
        '```',
        '`src/in-a-block.ts`',
        '```',
      ].join('\n'),
      'docs/adr/0001-queue.md': '`match.ts`',
      'test/notes.md': '`src/none.ts`',
    },
    found: [
      'README.md:3 src/outbound/charges/refund.ts does not exist',
      'README.md:3 charges/match.ts does not exist',
      'README.md:3 docs/none.md does not exist',
      'README.md:3 src/<module>/<module>.module.ts does not exist',
      'docs/adr/0001-queue.md:1 match.ts does not exist',
    ],
  },
  {
    name: 'link to files and headings that exist',
    rule: documentLinksResolve,
    tree: {
      'docs/how-to/pay.md': [
        '# Pay a bill, once: `POST /v1/bills`',
        '[a](#pay-a-bill-once-post-v1bills) [b](../limits.md#rates) [c](../how-to) [d](https://a.b)',
        '[e](limits.md), [f](../limits.md#none) and <img src="../console.png">',
      ].join('\n'),
      'docs/limits.md': '## Rates\n```\n# none [g](none.md)\n```',
    },
    found: [
      'docs/how-to/pay.md:3 limits.md leads to no file',
      'docs/how-to/pay.md:3 ../limits.md#none leads to no heading',
      'docs/how-to/pay.md:3 ../console.png leads to no file',
    ],
  },
];
