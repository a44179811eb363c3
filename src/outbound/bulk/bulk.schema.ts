// The API of bulk uploads: a file of requests is stored at once and issued at the bank's pace.
import { z } from 'zod';
import type { PaymentParty } from '../../access/counterparties/party.js';
import { fieldMessages, type FieldErrors } from '../../bank-contract/field-errors.js';
import { route } from '../../bank-contract/route.js';
import {
  filledText,
  instant,
  integer,
  reais,
  text,
  nameSchemas,
} from '../../bank-contract/wire.js';
import { BulkRowState, BulkUploadKind, OperationState } from '../../generated/service/enums.js';
import { decisionFields } from '../operations/approvals.schema.js';
import { listOf, listQuery, orderedListQuery } from '../../platform/http/listing.js';

export type BulkKind = BulkUploadKind;

export const maxFileBytes = 50 * 1_048_576;
export const maxRows = 100_000;

export const uploadView = z.object({
  id: z.string(),
  kind: z.enum(BulkUploadKind),
  state: z.enum(['running', 'finished']),
  rows: integer,
  counts: z.object({ pending: integer, accepted: integer, rejected: integer, invalid: integer }),
  createdAt: instant,
  finishedAt: instant.nullable(),
});

/** JSON path → messages. */
const rowErrors = z
  .codec(z.record(z.string(), z.array(z.string())), z.custom<FieldErrors>(), {
    decode: (messages) => messages,
    encode: fieldMessages,
  })
  .nullable();

export const rowView = z.object({
  line: integer,
  reference: z.string().nullable().describe('Its correlationId, externalId or idempotencyKey.'),
  state: z.enum(BulkRowState),
  code: z.string().nullable().describe('The error code of a row that is rejected or invalid.'),
  errors: rowErrors,
  operationId: z.string().nullable(),
  operationState: z.enum(OperationState).nullable(),
});

/** What an upload of a file would store and issue. */
export const checkedFile = z.object({
  hash: z.string().describe('Of the file, its kind and the sheet. An upload with it must equal.'),
  rows: integer,
  invalid: integer,
  total: reais.describe('Of the valid rows.'),
  payeeCount: integer,
  payees: z
    .array(z.object({ name: z.string(), isKey: z.boolean(), rows: integer, total: reais }))
    .describe(
      'Those of the largest totals, by the name with its account, or the Pix key, in the rows.',
    ),
  errors: z
    .array(
      z.object({
        line: integer,
        reference: z.string().nullable(),
        errors: rowErrors,
      }),
    )
    .describe('Of the first invalid rows.'),
});
type CheckedPayee = z.output<typeof checkedFile>['payees'][number] & { party?: PaymentParty };
export type CheckedFile = Omit<z.output<typeof checkedFile>, 'payees'> & {
  payees: CheckedPayee[];
};

/** What is read of an XLSX file. */
export const sheetQuery = z.object({
  sheet: filledText(100)
    .optional()
    .describe('The name of the sheet. Needed where several visible ones have rows.'),
  hidden: z
    .enum(['include', 'skip'])
    .optional()
    .describe('What becomes of hidden rows and columns. Without it, they are refused.'),
});
const file = { maxBodyBytes: maxFileBytes, hasFileBody: true, method: 'POST' } as const;
const check = { ...file, isReading: true, query: sheetQuery, response: checkedFile } as const;
const upload = {
  ...file,
  query: sheetQuery.extend({
    hash: text(64).optional().describe('Of the check. Another file is 409 `file_changed`.'),
  }),
  successStatus: 202,
  response: uploadView,
} as const;
const bulk = { chapter: 'Bulk uploads', authentication: 'api-key' } as const;
const params = z.object({ id: text(100) });
const fileLimits = 'one request per NDJSON line, CSV or XLSX row, up to 50 MB and 100,000 rows.';

export const uploadCharges = route({
  ...bulk,
  ...upload,
  name: 'uploadCharges',
  summary: `Uploads a file of charges to issue: ${fileLimits}`,
  path: '/v1/charges/bulk',
});

export const uploadTransfers = route({
  ...bulk,
  ...upload,
  name: 'uploadTransfers',
  summary: `Uploads a file of transfers, each with externalId or idempotencyKey: ${fileLimits}`,
  path: '/v1/transfers/bulk',
});

export const uploadExpectedPayments = route({
  ...bulk,
  ...upload,
  name: 'uploadExpectedPayments',
  summary: `Uploads a file of expected payments, each with an externalId: ${fileLimits}`,
  path: '/v1/expected-payments/bulk',
});

const checked = 'Reads a file as its upload would, and stores nothing: count, total and payees.';

export const checkCharges = route({
  ...{ ...bulk, ...check, name: 'checkCharges', summary: checked },
  path: '/v1/charges/bulk/check',
});

export const checkTransfers = route({
  ...{ ...bulk, ...check, name: 'checkTransfers', summary: checked },
  path: '/v1/transfers/bulk/check',
});

export const checkExpectedPayments = route({
  ...{ ...bulk, ...check, name: 'checkExpectedPayments', summary: checked },
  path: '/v1/expected-payments/bulk/check',
});

export const listBulkUploads = route({
  ...bulk,
  name: 'listBulkUploads',
  summary: 'Lists uploaded files with their progress, newest first.',
  method: 'GET',
  path: '/v1/bulk',
  query: orderedListQuery({ kind: z.enum(BulkUploadKind).optional() }),
  response: listOf(uploadView),
});

export const getBulkUpload = route({
  ...bulk,
  name: 'getBulkUpload',
  summary: 'Returns one uploaded file with its progress.',
  method: 'GET',
  path: '/v1/bulk/{id}',
  params,
  response: uploadView,
});

export const listBulkRows = route({
  ...bulk,
  name: 'listBulkRows',
  summary: 'Lists the rows of an uploaded file in file order, with the state of each row.',
  method: 'GET',
  path: '/v1/bulk/{id}/rows',
  params,
  query: listQuery({ state: z.enum(BulkRowState).optional() }),
  response: listOf(rowView),
});

export const decideUpload = route({
  ...bulk,
  name: 'decideBulkUpload',
  summary: 'Approves or declines up to 500 rows of an upload that await approval.',
  method: 'POST',
  path: '/v1/bulk/{id}/approvals',
  params,
  body: z.strictObject({
    ...decisionFields,
    /** `nextAfterLine` of the response before. */
    afterLine: integer.refine((line) => line >= 0, 'Must not be negative.').default(0),
  }),
  response: z.object({
    decided: integer,
    waiting: integer.describe('Rows that still await approval.'),
    /** Rows that cannot be decided so. */
    refused: z.array(
      z.object({
        line: integer,
        operationId: z.string(),
        code: z.string(),
        title: z.string().nullable(),
      }),
    ),
    nextAfterLine: integer.nullable().describe('The next `afterLine`; null when no row is left.'),
  }),
});

nameSchemas({ Upload: uploadView, UploadRow: rowView, CheckedFile: checkedFile });
