import { z } from 'zod';
import { route } from '../contract/route.js';
import { patternText, plainDate } from '../contract/wire.js';

const exported = { authentication: 'api-key', method: 'GET', chapter: 'Exports' } as const;

export const exportFormats = ['csv', 'ofx', 'cnab240'] as const;

const digitsUpTo = (length: number) =>
  patternText(length, /^\d+$/, `Must be 1 to ${length} digits.`);

export const exportTransactions = route({
  ...exported,
  name: 'exportTransactions',
  summary: 'Streams statement lines as a file, in nsu order. More than four open files get 429.',
  path: '/v1/exports/transactions',
  responseContentType: 'application/octet-stream',
  query: z.object({
    format: z.enum(exportFormats, `Must be one of ${exportFormats.join(', ')}.`).default('csv'),
    /** Statement days, both included. The default is the current month up to today. */
    from: plainDate.optional(),
    to: plainDate.optional(),
    /** For CSV. With `semicolon`, amounts have a decimal comma. */
    delimiter: z.enum(['comma', 'semicolon'], 'Must be comma or semicolon.').default('comma'),
    /** The account's identifiers at the bank, for OFX and CNAB 240. */
    bankCode: patternText(3, /^\d{3}$/, 'Must be three digits.').optional(),
    branch: digitsUpTo(5).optional(),
    accountNumber: patternText(
      14,
      /^\d{1,12}(-[0-9A-Za-z])?$/,
      'Must be 1 to 12 digits, optionally followed by a hyphen and a check digit.',
    ).optional(),
  }),
  response: z.string(),
});

export const getMonthReport = route({
  ...exported,
  name: 'getMonthReport',
  summary:
    'Shows a month as a printable page: balances, days with certificates, lines by state, breaks.',
  path: '/v1/exports/reports/{month}',
  responseContentType: 'text/html',
  params: z.object({
    month: patternText(7, /^(19|20|21)\d{2}-(0[1-9]|1[0-2])$/, 'Must be a month, yyyy-mm.'),
  }),
  response: z.string(),
});
