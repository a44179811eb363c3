// The routes of the chart of accounts, of the mapping, and of the journal entries of a month.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import {
  bigInteger,
  filledText,
  instant,
  integer,
  nameSchemas,
  plainDate,
  reais,
} from '../../bank-contract/wire.js';
import { ChartAccountKind, JournalPer } from '../../generated/service/enums.js';
import { listOf, listQuery } from '../../platform/http/listing.js';
import { reasonText } from '../../reconciliation/breaks/breaks.schema.js';
import { shownCodingFields } from '../../statement/expected-payments/coding.js';
import { monthParameter, openItems } from '../exports/exports.schema.js';
import { lineKinds } from '../exports/line-kind.js';
import { maxChartRows } from './chart-file.js';
import { moneyClassNames } from './journal.js';

const base = { chapter: 'Exports', authentication: 'api-key' } as const;
const maxEntries = 200;
export const maxChartBytes = 262_144;
export const directions = ['credit', 'debit'] as const;
const code = filledText(40);
const changed = { version: integer, actor: z.string(), reason: z.string(), at: instant };

const chartView = z.object({
  ...changed,
  accounts: z.array(
    z.object({
      ...{ code: z.string(), name: z.string(), kind: z.enum(ChartAccountKind) },
      isPostable: z.boolean().describe('False for a heading.'),
    }),
  ),
});
const chartsView = z.object({ chart: chartView.nullable().describe('Null before the first one.') });

const ofChart = { ...base, path: '/v1/chart-of-accounts', response: chartsView } as const;

export const getChart = route({
  ...ofChart,
  method: 'GET',
  name: 'getChartOfAccounts',
  summary: 'Returns the chart of accounts.',
});

export const changeChart = route({
  ...ofChart,
  method: 'PUT',
  name: 'changeChartOfAccounts',
  summary: 'Replaces the chart of accounts. It must have every code that the mapping uses.',
  idempotencyKey: 'accepted',
  maxBodyBytes: maxChartBytes,
  body: z.strictObject({
    csv: z
      .string()
      .min(1)
      .max(200_000)
      .describe(
        'With `;` or `,` and a header: `code;name;kind;postable` or `código;nome;tipo;analítica`. ' +
          `The kind is asset, liability, equity, revenue or expense; at most ${maxChartRows} rows.`,
      ),
    reason: reasonText,
  }),
});

const lineKind = z.enum(lineKinds).describe('What kind of movement the line is.');
const moneyClass = z
  .enum(moneyClassNames)
  .describe('Why the money needs no match, or what its match makes of it.');
const contraCode = 'The code of the other side.';

const mappingView = z.object({
  ...changed,
  bankCode: z.string(),
  per: z.enum(JournalPer),
  entries: z.array(
    z.object({
      direction: z.enum(directions).nullable(),
      lineKind: lineKind.nullable(),
      classification: moneyClass.nullable(),
      category: z.string().nullable(),
      contraCode: z.string().describe(contraCode),
    }),
  ),
});
const mappingsView = z.object({
  mapping: mappingView.nullable().describe('Null before the first one.'),
});
const ofMapping = { ...base, path: '/v1/journal-mapping', response: mappingsView } as const;

export const getMapping = route({
  ...ofMapping,
  method: 'GET',
  name: 'getJournalMapping',
  summary: 'Returns the mapping of money to codes of the chart of accounts.',
});

export const changeMapping = route({
  ...ofMapping,
  method: 'PUT',
  name: 'changeJournalMapping',
  summary: 'Replaces the mapping of money to codes of the chart of accounts.',
  idempotencyKey: 'accepted',
  body: z.strictObject({
    bankCode: code.describe('The code of the bank account itself.'),
    per: z.enum(JournalPer).default('line').describe('What a row of the file is of.'),
    entries: z
      .array(
        z.strictObject({
          direction: z.enum(directions).nullish(),
          lineKind: lineKind.nullish(),
          classification: moneyClass.nullish(),
          category: filledText(100).nullish(),
          contraCode: code.describe(contraCode),
        }),
      )
      .max(maxEntries)
      .describe('The first that fits counts; money that none fits is unmapped.'),
    reason: reasonText,
  }),
});
export type MappingBody = z.output<typeof changeMapping.body>;

const entryView = z.object({
  ...{ nsu: bigInteger, date: plainDate },
  state: z
    .enum(['entry', 'open', 'unmapped'])
    .describe('`open`: in a break or pending. `unmapped`: the mapping does not fit all of it.'),
  postings: z
    .array(
      z.object({
        direction: z.enum(directions),
        amount: reais,
        debit: z.string().nullable().describe('Null, as `credit`, where no entry fits.'),
        credit: z.string().nullable(),
        ...{ lineKind, classification: moneyClass, ...shownCodingFields },
      }),
    )
    .describe('The parts of the line, each with both of its sides; none of an open line.'),
});

export const listJournal = route({
  ...base,
  method: 'GET',
  name: 'listJournal',
  summary: 'Lists the journal entries of a month, by time: of a closed month, as it was closed.',
  path: '/v1/months/{month}/journal',
  params: z.object({ month: monthParameter }),
  query: listQuery({
    state: z.enum(['entry', 'open', 'unmapped']).optional(),
  }),
  response: listOf(entryView),
});

export const exportJournal = route({
  ...openItems,
  method: 'GET',
  name: 'exportJournal',
  summary: 'Streams the journal entries of a month as a file in Portuguese, for accountants.',
  path: '/v1/exports/journal/{month}',
  params: z.object({ month: monthParameter }),
  query: z.object({ format: z.enum(['csv', 'xlsx', 'calima']).default('csv') }),
});

nameSchemas({
  ChartOfAccounts: chartView,
  JournalMapping: mappingView,
  JournalEntry: entryView,
});
