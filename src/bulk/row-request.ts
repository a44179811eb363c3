// Whether a row is a request of its kind, and what it is known by.
import { z } from 'zod';
import { createCharge } from '../contract/charges.js';
import { pixKeyText } from '../contract/pix-lookup.js';
import { createTransfer, taxIdText, transferShape } from '../contract/transfers.js';
import { decode, type Issues } from '../platform/contract-route.js';
import { isJsonObject } from '../platform/exact-json.js';
import { clientIdentifier, positiveReais, text } from '../contract/wire.js';
import type { BulkKind } from './bulk.schema.js';

export type RowReading = { reference: string } | { issues: Issues; reference: string | null };

export function readRequest(kind: BulkKind, request: unknown): RowReading {
  return kind === 'charges' ? readCharge(request) : readTransfer(request);
}

function readCharge(request: unknown): RowReading {
  const issues: Issues = {};
  const charge = decode(createCharge.body, request, issues) as { correlationId: string };
  return concluded(issues, () => charge.correlationId, textAt(request, 'correlationId'));
}

/** The contract's request, and by what the row is known: a transfer without an id could be sent twice. */
export function readTransferRow(request: unknown): {
  body: unknown;
  idempotencyKey: string | null;
} {
  if (!isJsonObject(request)) return { body: request, idempotencyKey: null };
  const { idempotencyKey, ...body } = request;
  return { body, idempotencyKey: typeof idempotencyKey === 'string' ? idempotencyKey : null };
}

function readTransfer(request: unknown): RowReading {
  const { body, idempotencyKey } = readTransferRow(request);
  const issues: Issues = {};
  const own = textAt(request, 'externalId') ?? idempotencyKey;
  if (isByKey(body)) decode(pixKeyTransfer, body, issues);
  else {
    const transfer = decode(createTransfer.body, body, issues);
    if (Object.keys(issues).length === 0 && transferShape(transfer as never).shape === 'key')
      issues['$.endToEndId'] = ['A row tells the Pix key: it is looked up when its turn has come.'];
  }
  if (idempotencyKey !== null && !clientIdentifier.safeParse(idempotencyKey).success)
    issues['$.idempotencyKey'] = ['Must be 1 to 100 printable ASCII characters.'];
  if (own === null || own === '')
    issues['$.externalId'] = ['An externalId, or an idempotencyKey, is required of each row.'];
  return concluded(issues, () => own ?? '', own);
}

/** A row by Pix key: what the look-up will answer is not in it yet. */
export const pixKeyTransfer = z.looseObject({
  key: pixKeyText,
  holderDocument: taxIdText.nullish(),
  amount: positiveReais,
  description: text(140).nullish(),
  externalId: clientIdentifier.nullish(),
});

export function isByKey(body: unknown): boolean {
  return isJsonObject(body) && 'key' in body;
}

function concluded(issues: Issues, reference: () => string, known: string | null): RowReading {
  return Object.keys(issues).length > 0
    ? { issues, reference: clientIdentifier.safeParse(known).success ? known : null }
    : { reference: reference() };
}

function textAt(request: unknown, field: string): string | null {
  const value = isJsonObject(request) ? request[field] : null;
  return typeof value === 'string' ? value : null;
}

export const rowErrors = z.object({
  code: z.string().nullable(),
  title: z.string().nullable(),
  errors: z.record(z.string(), z.array(z.string())).nullable(),
});
/** Why a row ended without effect, as it is kept. */
export type RowErrors = z.output<typeof rowErrors>;
