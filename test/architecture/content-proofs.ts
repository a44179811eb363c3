// Each content and name rule with a small tree that breaks it and the violations it must report.
import { markupStandsInTheKit } from './markup.js';
import type { ProvenRule } from './project-file.js';
import {
  idsAscendByOneClock,
  noModuleReadsTheWallClock,
  sqlReadsTheClockOfTheMoment,
  unsuffixedFilesHaveNoClockRandomnessOrIo,
  unsuffixedFilesImportNothingImpure,
} from './purity.js';
import {
  everyTableHasAModule,
  joinsNameTheAccount,
  onlyTheOwnerWritesATable,
  queriesStateTheirRows,
  sqlStandsInQueriesOnly,
} from './tables.js';
import {
  filesAreNamedByTheirRole,
  filesAreShort,
  functionsAreShort,
  namesSayWhatIsInside,
  noUnfinishedWork,
  typesHaveNoEmptyPrefix,
} from './names.js';
import {
  commentsAndSqlFitTheWidth,
  exportedNamesAreUnique,
  filesAreNotTiny,
  wordsAreOfTheGlossary,
} from './words.js';

export const purityRules: ProvenRule[] = [
  {
    name: 'imports nothing impure',
    rule: unsuffixedFilesImportNothingImpure,
    tree: {
      'src/outbound/charges/charge.ts': `
        import { BlockList, connect } from 'node:net';
        import { v5, v7 } from 'uuid';
        import { readFile } from 'node:fs/promises';
        import { Injectable } from '@nestjs/common';
        import { Prisma } from '../../generated/service/client.js';
        import { Database, type Tx } from '../../platform/postgres/database.service.js';`,
      'src/outbound/charges/amount.ts': `
        import { isIP } from 'node:net';
        import { v5 as uuidv5 } from 'uuid';
        import type { Tx } from '../../platform/postgres/database.service.js';
        import { z } from 'zod';`,
      'src/outbound/charges/charges.queries.ts': `import { randomUUID } from 'node:crypto';`,
      'src/platform/log.ts': `import { pino } from 'pino';`,
    },
    found: [
      'src/outbound/charges/charge.ts:2 a pure file imports connect of node:net',
      'src/outbound/charges/charge.ts:3 a pure file imports v7 of uuid',
      'src/outbound/charges/charge.ts:4 a pure file imports readFile of node:fs/promises',
      'src/outbound/charges/charge.ts:5 a pure file imports Injectable of @nestjs/common',
      'src/outbound/charges/charge.ts:6 a pure file imports values of src/generated/service/client.ts',
      'src/outbound/charges/charge.ts:7 a pure file imports values of src/platform/postgres/database.service.ts',
    ],
  },

  {
    name: 'has no clock, randomness or IO',
    rule: unsuffixedFilesHaveNoClockRandomnessOrIo,
    tree: {
      'src/outbound/charges/charge.ts': `
        const a = Date.now();
        const b = new Date();
        const c = new Date('2026-01-01');
        const d = Math.random() + Math.floor(1);
        setTimeout(() => {}, 1);
        const e = globalThis.fetch('https://bank.example');`,
      'src/outbound/charges/charges.service.ts': 'const now = Date.now();',
    },
    found: [
      'src/outbound/charges/charge.ts:2 a pure file calls Date.now',
      'src/outbound/charges/charge.ts:3 a pure file reads the clock (new Date())',
      'src/outbound/charges/charge.ts:5 a pure file calls Math.random',
      'src/outbound/charges/charge.ts:6 a pure file calls setTimeout',
      'src/outbound/charges/charge.ts:7 a pure file calls fetch',
    ],
  },
];

export const clockRules: ProvenRule[] = [
  {
    name: 'is not read outside platform',
    rule: noModuleReadsTheWallClock,
    tree: {
      'src/outbound/charges/charges.service.ts': `
        const a = Date.now();
        const b = new Date();
        const c = new Date(0);
        const d = performance.now();`,
      'src/platform/countdown.ts': 'const now = Date.now();',
      'src/sandbox/clock.service.ts': 'const now = Date.now();',
    },
    found: [
      "src/outbound/charges/charges.service.ts:2 reads this process's clock: use PostgreSQL's, or performance.now()",
      "src/outbound/charges/charges.service.ts:3 reads this process's clock: use PostgreSQL's, or performance.now()",
    ],
  },
  {
    name: 'of ids is that of PostgreSQL',
    rule: idsAscendByOneClock,
    tree: {
      'src/outbound/charges/charges.service.ts': "import { v5, v7 as uuidv7 } from 'uuid';",
      'src/outbound/refunds/refunds.service.ts': "import { v5 } from 'uuid';",
      'src/platform/ids.ts': "import { v7 } from 'uuid';",
    },
    found: [
      'src/outbound/charges/charges.service.ts:1 imports v7 of uuid: use newId() of platform/ids.ts',
    ],
  },
  {
    name: 'of SQL is that of the moment',
    rule: sqlReadsTheClockOfTheMoment,
    tree: {
      'src/outbound/charges/charges.queries.ts': `
        const a = sql\`SELECT now()\`;
        const b = sql\`SELECT \${a}, clock_timestamp()\`;
        const c = sql\`SELECT \${a}, CURRENT_DATE, \${b}\`;`,
    },
    found: [
      'src/outbound/charges/charges.queries.ts:2 reads the start of the transaction: use clock_timestamp()',
      'src/outbound/charges/charges.queries.ts:4 reads the start of the transaction: use clock_timestamp()',
    ],
  },
];

const schema = {
  'prisma/service/charges.prisma': 'model Charge {\n  id Int @id\n\n  @@map("charge")\n}\n',
  'prisma/service/events.prisma':
    'model Event {\n  id Int @id\n  @@map("event")\n}\nmodel EventEndpoint {\n  id Int @id\n  @@map("event_endpoint")\n}\n',
  'src/outbound/charges/charges.module.ts': '',
  'src/events/events.module.ts': '',
};

export const tableRules: ProvenRule[] = [
  {
    name: 'belong to a module',
    rule: everyTableHasAModule,
    tree: { ...schema, 'prisma/service/loans.prisma': 'model Loan {\n  id Int @id\n}\n' },
    found: ['prisma/service/loans.prisma Loan: no folder has its name'],
  },

  {
    name: 'are written only by their owner',
    rule: onlyTheOwnerWritesATable,
    tree: {
      ...schema,
      'src/outbound/charges/charges.service.ts': `
        await tx.charge.create({});
        await tx.event.create({});
        await this.database.prisma.eventEndpoint.deleteMany();
        await tx.event.findMany();`,
      'src/outbound/charges/charges.queries.ts': `
        await tx.$executeRaw\`UPDATE charge c SET x = 1 WHERE id IN (SELECT id FROM event)\`;
        await tx.$executeRaw\`WITH a AS (INSERT INTO event_endpoint VALUES (\${id})) SELECT 1\`;
        await tx.$executeRaw\`DELETE FROM "event" WHERE id = 1\`;
        await tx.$executeRaw\`INSERT INTO charge VALUES (1) ON CONFLICT DO UPDATE SET event = 1\`;
        const copy = 'MERGE INTO public.event AS e';
        const small = 'delete from event';`,
      'src/outbound/charges/charges.controller.ts': `log('could not update event');`,
      'src/platform/postgres/database.service.ts': "pool.query('TRUNCATE charge')",
      'src/sandbox/charges/charges.queries.ts': "db.query('DELETE FROM charge')",
    },
    found: [
      "src/outbound/charges/charges.service.ts:3 writes event, which is events's",
      "src/outbound/charges/charges.service.ts:4 writes event_endpoint, which is events's",
      "src/outbound/charges/charges.queries.ts:3 writes event_endpoint, which is events's",
      "src/outbound/charges/charges.queries.ts:4 writes event, which is events's",
      "src/outbound/charges/charges.queries.ts:6 writes event, which is events's",
      "src/outbound/charges/charges.queries.ts:7 writes event, which is events's",
      "src/platform/postgres/database.service.ts:1 writes charge, which is charges's",
    ],
  },

  {
    name: 'are queried in SQL by queries files only',
    rule: sqlStandsInQueriesOnly,
    tree: {
      'src/outbound/charges/charges.queries.ts': 'db.$queryRaw`SELECT 1`; pool.query(text);',
      'src/outbound/charges/charges.service.ts': `
        const rows = await tx.$queryRaw(text);
        await this.pool.query(text);
        const text = \`SELECT id FROM charge WHERE id = \${id}\`;
        const note = 'SELECTED manually';
        const { query } = request.query(input);`,
    },
    found: [
      'src/outbound/charges/charges.service.ts:2 calls $queryRaw',
      'src/outbound/charges/charges.service.ts:3 calls this.pool.query',
      'src/outbound/charges/charges.service.ts:4 contains SQL',
    ],
  },

  {
    name: 'are read as rows whose type is stated',
    rule: queriesStateTheirRows,
    tree: {
      'src/outbound/charges/charges.queries.ts': `
        async function list(db: Db): Promise<Row[]> {
          await db.$queryRaw\`SELECT id FROM charge FOR UPDATE\`;
          const [first] = await db.$queryRaw<Row[]>\`SELECT id FROM charge\`;
          const [second] = await db.$queryRaw\`SELECT id FROM charge\`;
          const [third] = await db.$queryRaw<{ id: any }[]>\`SELECT id FROM charge\`;
          const rows = await db.$queryRaw<Row[]>(sql);
          const fragment = await db.$queryRaw<Row[]>\`\${charges(1)}\`;
          return db.$queryRaw\`SELECT id FROM charge\`;
        }
        async function all(db: Db) {
          return db.$queryRaw\`SELECT id FROM charge\`;
        }`,
    },
    found: [
      'src/outbound/charges/charges.queries.ts:5 reads rows without stating their type',
      'src/outbound/charges/charges.queries.ts:6 reads rows of type any',
      'src/outbound/charges/charges.queries.ts:7 calls $queryRaw without a template',
      'src/outbound/charges/charges.queries.ts:8 has no text of its own, by which tests find its type',
      'src/outbound/charges/charges.queries.ts:12 reads rows without stating their type',
    ],
  },

  {
    name: 'are joined by their account',
    rule: joinsNameTheAccount,
    tree: {
      'prisma/service/charges.prisma': `
model Charge {
  accountId Int @map("account_id")
  @@map("charge")
}
model Secret {
  @@map("secret")
}`,
      'src/outbound/charges/charges.queries.ts': `
        const a = sql\`SELECT FROM paid p JOIN charge c ON c.account_id = p.account_id WHERE true\`;
        const b = sql\`SELECT FROM paid p JOIN charge c ON c.id = p.id AND p.account_id = 1\`;
        const c = sql\`SELECT FROM paid p JOIN charge c ON c.id = p.id WHERE p.account_id = 1\`;
        const d = sql\`SELECT FROM paid p JOIN secret s USING (id) CROSS JOIN charge\`;
        const e = sql\`SELECT FROM paid p LEFT JOIN charge USING (account_id, id)\`;`,
      'src/outbound/charges/paid-charges.queries.ts':
        'const a = sql`WITH charge AS (SELECT 1 AS id) SELECT FROM paid p JOIN charge USING (id)`;',
    },
    found: [
      'src/outbound/charges/charges.queries.ts:4 joins charge without its account',
      'src/outbound/charges/charges.queries.ts:5 joins charge without its account',
    ],
  },
];

export const nameRules: ProvenRule[] = [
  {
    name: 'are kebab-case with a role of the closed list',
    rule: filesAreNamedByTheirRole,
    tree: {
      'src/bank/bank.service.ts': '',
      'src/bank/bank.service.spec.ts': '',
      'test/e2e/whole-day.e2e-spec.ts': '',
      'src/bank/bank.repository.ts': '',
      'src/bank/bankResponse.ts': '',
      'src/bank/bank_response.ts': '',
    },
    found: ['bank.repository', 'bankResponse', 'bank_response'].map(
      (name) => `src/bank/${name}.ts:1 is not kebab-case with a role of the closed list`,
    ),
  },

  {
    name: 'say what the file contains',
    rule: namesSayWhatIsInside,
    tree: {
      'src/platform/postgres/database.service.ts': '',
      'src/bank/base-url.ts': '',
      'src/bank/utils.ts': '',
      'src/common/errors.ts': '',
      'test/support/charge-helpers.ts': '',
      'src/bank/response-v2.ts': '',
      'src/bank/i-response.ts': '',
    },
    found: [
      'src/bank/utils.ts:1 "utils" says nothing',
      'src/common/errors.ts:1 "common" says nothing',
      'test/support/charge-helpers.ts:1 "charge-helpers" says nothing',
      'src/bank/response-v2.ts:1 "response-v2" says nothing',
      'src/bank/i-response.ts:1 "i-response" says nothing',
    ],
  },

  {
    name: 'of types have no empty prefix',
    rule: typesHaveNoEmptyPrefix,
    tree: {
      'src/bank/response.ts':
        'interface IResponse {}\nclass BaseService {}\ntype Item = 1; class IO {}',
    },
    found: [
      'src/bank/response.ts:1 IResponse has an empty prefix',
      'src/bank/response.ts:2 BaseService has an empty prefix',
    ],
  },
];

export const sourceRules: ProvenRule[] = [
  {
    name: 'contain no unfinished work',
    rule: noUnfinishedWork,
    tree: {
      'src/bank/a.ts': '// TODO: retry\nconst todo = 1;\nthrow new Error("not implemented");',
      'packages/client/src/a.ts': '// TODO: retry',
    },
    found: [
      'src/bank/a.ts:1 "TODO"',
      'src/bank/a.ts:3 "not implemented"',
      'packages/client/src/a.ts:1 "TODO"',
    ],
  },

  {
    name: 'are at most 500 lines long',
    rule: filesAreShort,
    tree: { 'src/bank/long.ts': 'a;\n'.repeat(501), 'src/bank/short.ts': 'a;\n'.repeat(500) },
    found: ['src/bank/long.ts:1 has 501 lines'],
  },

  {
    name: 'have functions of at most 70 lines',
    rule: functionsAreShort,
    tree: {
      'src/bank/a.ts': `function short() {\n${'a;\n'.repeat(68)}}\nconst long = () => {\n${'a;\n'.repeat(69)}};`,
    },
    found: ['src/bank/a.ts:71 a function has 71 lines'],
  },
  {
    name: 'of pages have tables, forms and classes of the kit alone',
    rule: markupStandsInTheKit,
    tree: {
      'src/console/kit/a.tsx': '<form class="card"><table></table></form>',
      'src/console/days/a.tsx': 'const a = <Form />;\n<form>\n<p class="muted" />\n<table>',
    },
    found: [
      'src/console/days/a.tsx:2 "<form" stands outside of the kit',
      'src/console/days/a.tsx:3 "class=" stands outside of the kit',
      'src/console/days/a.tsx:4 "<table" stands outside of the kit',
    ],
  },
];

const wide = 'a'.repeat(101);

export const wordRules: ProvenRule[] = [
  {
    name: 'are of the glossary',
    rule: wordsAreOfTheGlossary,
    tree: {
      // Split, so that this file passes the rule.
      'src/bank/a.ts': `const isTo${'ld'} = 1;\n// A who${'le'} sentence.\n// Given\n// Given ba${'ck'}.`,
      [`src/bank/wa${'ke'}-ups.ts`]: '',
      'docs/a.md': `# The ro${'om'}\n\nmushroom, tellers, awake`,
      'prisma/service/a.prisma': `first_ho${'le'}_nsu`,
      'package-lock.json': `ju${'dge'}`,
    },
    found: [
      `src/bank/a.ts:1 "To${'ld'}" is replaced by the glossary`,
      `src/bank/a.ts:4 "Given ba${'ck'}" is replaced by the glossary`,
      `src/bank/wa${'ke'}-ups.ts is named by "wa${'ke'} ups", which the glossary replaces`,
      `docs/a.md:1 "ro${'om'}" is replaced by the glossary`,
      `prisma/service/a.prisma:1 "ho${'le'}" is replaced by the glossary`,
    ],
  },

  {
    name: 'of comments and SQL fit the width',
    rule: commentsAndSqlFitTheWidth,
    tree: {
      'src/bank/a.ts': [
        `// ${wide}`,
        `const long = '${wide}';`,
        `/** a\n * ${wide} */`,
        `const text = \`${wide}\`;`,
        `const sql = \`SELECT a\n  FROM ${wide}\`;`,
        `const b = 1; // ${wide}`,
      ].join('\n'),
      'prisma/service/migrations/1/migration.sql': `-- ${wide}\nSELECT ${wide};`,
    },
    found: [
      'src/bank/a.ts:1 is wider than 100 columns',
      'src/bank/a.ts:4 is wider than 100 columns',
      'src/bank/a.ts:7 is wider than 100 columns',
      'src/bank/a.ts:8 is wider than 100 columns',
      'prisma/service/migrations/1/migration.sql:1 is wider than 100 columns',
      'prisma/service/migrations/1/migration.sql:2 is wider than 100 columns',
    ],
  },

  {
    name: 'that two files export are different',
    rule: exportedNamesAreUnique,
    tree: {
      'src/bank/a.ts': `export interface Line {}\nexport const first = 1, second = 2;\nconst own = 1;`,
      'src/events/b.ts': `export function second() {}\nexport { own } from './c.js';`,
      'test/support/c.ts': `export type Line = 1;\nexport const own = 1;`,
      'src/bank/a.spec.ts': `export const first = 1;`,
      'packages/client/src/a.ts': `export type Line = 1;\nexport type Page = 1;`,
      'packages/client/src/b.ts': `export type Page = 1;`,
    },
    found: [
      'Line is exported by src/bank/a.ts, test/support/c.ts',
      'second is exported by src/bank/a.ts, src/events/b.ts',
      'Page is exported by packages/client/src/a.ts, packages/client/src/b.ts',
    ],
  },
];

export const smallFileRules: ProvenRule[] = [
  {
    name: 'has at least 20 lines',
    rule: filesAreNotTiny,
    tree: {
      'src/bank/a.ts': 'a;\n'.repeat(19),
      'src/bank/b.ts': 'a;\n'.repeat(20),
      'src/bank/bank.module.ts': 'a;',
      'src/bank/bank.controller.ts': 'a;',
      'src/bank/call-bank.processor.ts': 'a;',
      'src/bank/a.spec.ts': 'a;',
      'test/support/a.ts': 'a;',
    },
    found: ['src/bank/a.ts:1 has only 19 lines'],
  },
];
