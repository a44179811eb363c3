// The API of bulk uploads: a file of requests is stored at once and issued at the bank's pace.
import { z } from 'zod';
import { route } from '../contract/route.js';
import { filledText, instant, integer, text } from '../contract/wire.js';
import { BulkRowState, BulkUploadKind } from '../generated/service/enums.js';
import { decisionFields } from '../operations/approvals.schema.js';
import { listOf, listQuery } from '../platform/listing.js';

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

export const rowView = z.object({
  line: integer,
  /** The row's correlationId, externalId or idempotencyKey. */
  reference: z.string().nullable(),
  state: z.enum(BulkRowState),
  /** The error code of a row that is rejected or invalid. */
  code: z.string().nullable(),
  /** JSON path → messages. */
  errors: z.record(z.string(), z.array(z.string())).nullable(),
  operationId: z.string().nullable(),
  operationState: z.string().nullable(),
});

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
const upload = { maxBodyBytes: maxFileBytes, hasFileBody: true, query: sheetQuery } as const;
const bulk = { chapter: 'Bulk uploads', authentication: 'api-key' } as const;
const params = z.object({ id: text(100) });
const fileLimits = 'one request per NDJSON line, CSV or XLSX row, up to 50 MB and 100,000 rows.';

export const uploadCharges = route({
  ...bulk,
  ...upload,
  name: 'uploadCharges',
  summary: `Uploads a file of charges to issue: ${fileLimits}`,
  method: 'POST',
  path: '/v1/charges/bulk',
  successStatus: 202,
  response: uploadView,
});

export const uploadTransfers = route({
  ...bulk,
  ...upload,
  name: 'uploadTransfers',
  summary: `Uploads a file of transfers, each with externalId or idempotencyKey: ${fileLimits}`,
  method: 'POST',
  path: '/v1/transfers/bulk',
  successStatus: 202,
  response: uploadView,
});

export const uploadExpectedPayments = route({
  ...bulk,
  ...upload,
  name: 'uploadExpectedPayments',
  summary: `Uploads a file of expected payments, each with an externalId: ${fileLimits}`,
  method: 'POST',
  path: '/v1/expected-payments/bulk',
  successStatus: 202,
  response: uploadView,
});

export const listBulkUploads = route({
  ...bulk,
  name: 'listBulkUploads',
  summary: 'Lists uploaded files with their progress, newest first.',
  method: 'GET',
  path: '/v1/bulk',
  query: listQuery({ kind: z.enum(BulkUploadKind).optional() }),
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
    /** Rows that still await approval. */
    waiting: integer,
    /** Rows that cannot be decided so. */
    refused: z.array(
      z.object({
        line: integer,
        operationId: z.string(),
        code: z.string(),
        title: z.string().nullable(),
      }),
    ),
    /** Where to go on; null when no row after it awaits this decision. */
    nextAfterLine: integer.nullable(),
  }),
});
