import { z } from 'zod';
import { route } from '../contract/route.js';
import { plainDate } from '../contract/wire.js';

const exported = { authentication: 'api-key', method: 'GET', chapter: 'Exports' } as const;

export const exportFormats = ['csv', 'ofx', 'cnab240'] as const;

const digitsUpTo = (length: number) =>
  z.string().regex(new RegExp(`^\\d{1,${length}}$`), `Must be 1 to ${length} digits.`);

export const exportTransactions = route({
  ...exported,
  name: 'exportTransactions',
  summary:
    'Lines of the statement as a file, streamed, by their nsu; of an account four at once, 429 beyond.',
  path: '/v1/exports/transactions',
  answerType: 'application/octet-stream',
  query: z.object({
    format: z.enum(exportFormats, `Must be one of ${exportFormats.join(', ')}.`).default('csv'),
    /** Days of the statement, both included; the current month where left out. */
    from: plainDate.optional(),
    to: plainDate.optional(),
    /** Of a CSV file; with `semicolon` decimals are by a comma. */
    delimiter: z.enum(['comma', 'semicolon'], 'Must be comma or semicolon.').default('comma'),
    /** How the bank calls the account, for OFX and CNAB 240. */
    bankCode: z
      .string()
      .regex(/^\d{3}$/, 'Must be three digits.')
      .optional(),
    branch: digitsUpTo(5).optional(),
    accountNumber: z
      .string()
      .regex(
        /^\d{1,12}(-[0-9A-Za-z])?$/,
        'Must be 1 to 12 digits, and a check digit after a hyphen.',
      )
      .optional(),
  }),
  response: z.string(),
});

export const getMonthReport = route({
  ...exported,
  name: 'getMonthReport',
  summary: 'A month as a page to print: balances, days with their certificates, what is explained.',
  path: '/v1/exports/reports/{month}',
  answerType: 'text/html',
  params: z.object({
    month: z
      .string()
      .regex(/^(19|20|21)\d{2}-(0[1-9]|1[0-2])$/, 'Could not be read as a month, yyyy-mm.'),
  }),
  response: z.string(),
});
