import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import { patternText, plainDate } from '../../bank-contract/wire.js';

const exported = { authentication: 'api-key', method: 'GET', chapter: 'Exports' } as const;

export const exportFormats = ['csv', 'xlsx', 'ofx', 'cnab240'] as const;
export const tableFormats = ['csv', 'xlsx'] as const;

const tableTypes = [
  'text/csv',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
];

/** For CSV. With `semicolon`, amounts have a decimal comma. */
const delimiter = z.enum(['comma', 'semicolon']).default('comma');

export const monthParameter = patternText(
  7,
  /^(19|20|21)\d{2}-(0[1-9]|1[0-2])$/,
  'Must be a month, yyyy-mm.',
);

/** Of tables: what a person works through, with the age of each row. */
export const openItems = {
  ...exported,
  responseContentTypes: tableTypes,
  query: z.object({
    format: z.enum(tableFormats).default('csv'),
    delimiter,
  }),
  response: z.string(),
} as const;

export const exportOpenBreaks = route({
  ...openItems,
  name: 'exportOpenBreaks',
  summary: 'Streams the open breaks with their ages as a file, kind by kind.',
  path: '/v1/exports/breaks',
});

export const exportOverduePayments = route({
  ...openItems,
  name: 'exportOverduePayments',
  summary: 'Streams the overdue expected payments with their ages as a file, oldest first.',
  path: '/v1/exports/expected-payments',
});

export const exportTransactions = route({
  ...exported,
  name: 'exportTransactions',
  summary: 'Streams statement lines as a file, in nsu order. More than four open files get 429.',
  path: '/v1/exports/transactions',
  responseContentTypes: [...tableTypes, 'application/x-ofx', 'text/plain'],
  query: z.object({
    format: z.enum(exportFormats).default('csv'),
    /** Statement days, both included. The default is the current month up to today. */
    from: plainDate.optional(),
    to: plainDate.optional(),
    delimiter,
  }),
  response: z.string(),
});

export const getMonthReport = route({
  ...exported,
  name: 'getMonthReport',
  summary:
    'Shows a month as a printable page: balances, days with certificates, lines by state, breaks.',
  path: '/v1/exports/reports/{month}',
  responseContentTypes: ['text/html'],
  params: z.object({ month: monthParameter }),
  response: z.string(),
});

/** Of a month, in one file. */
const bundle = {
  ...exported,
  params: z.object({ month: monthParameter }),
  responseContentTypes: ['application/zip'],
  response: z.string(),
} as const;

/** All that an accountant needs. */
export const getMonthBundle = route({
  ...bundle,
  name: 'getMonthBundle',
  summary:
    'Streams a month as one ZIP file in Portuguese: statement, open items, breaks with their ' +
    'history, certificates, and the report as page and PDF file.',
  path: '/v1/months/{month}/bundle',
});

/** The same with what an auditor verifies it by. */
export const getAuditorPack = route({
  ...bundle,
  name: 'getAuditorPack',
  summary:
    'Streams the bundle of a month with the chain of certificates, the log of decisions, and how ' +
    'to verify them.',
  path: '/v1/months/{month}/auditor-pack',
});
