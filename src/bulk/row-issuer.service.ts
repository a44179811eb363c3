// Issues one row as its room would issue it alone: the same rules, the same identities, the same journal.
import { Injectable } from '@nestjs/common';
import { v5 as uuidv5 } from 'uuid';
import { z } from 'zod';
import { ChargesService } from '../charges/charges.service.js';
import { createCharge } from '../contract/charges.js';
import { errorBody } from '../contract/errors.js';
import { createTransfer, transferShape, type TransferRequest } from '../contract/transfers.js';
import type { RouteInput } from '../contract/route.js';
import { noPreferences, operationHeader } from '../operations/operation.js';
import type { Reply } from '../platform/contract-route.js';
import { AppError } from '../platform/errors.js';
import { parseJson, stringifyJson } from '../platform/exact-json.js';
import { TransfersService } from '../transfers/transfers.service.js';
import type { EndedRow } from './bulk.queries.js';
import type { BulkKind } from './bulk.schema.js';
import { isByKey, pixKeyTransfer, readTransferRow, type RowErrors } from './row-request.js';

/** Of the keys under which rows are sent: a row's own id makes the same one in every file. */
const keyNamespace = '6f1d2f0e-6d0c-5b7a-9d53-0f2f5f7e2c11';

type LineOutcome = Omit<EndedRow, 'line'>;

@Injectable()
export class RowIssuer {
  constructor(
    private readonly charges: ChargesService,
    private readonly transfers: TransfersService,
  ) {}

  /** What became of the row; throws what may go better another time. */
  async issue(accountId: number, kind: BulkKind, request: string): Promise<LineOutcome> {
    try {
      const sent = parseJson(request);
      const reply = await (kind === 'charges'
        ? this.issueCharge(accountId, sent)
        : this.issueTransfer(accountId, sent));
      return outcomeOf(reply);
    } catch (error) {
      if (!(error instanceof AppError) || !isOutcome(error)) throw error;
      const { code, details } = error;
      const told = { title: details.public ?? null, errors: details.errors ?? null };
      return rejected({ code: details.reason ?? code, ...told }, null);
    }
  }

  private async issueCharge(accountId: number, request: unknown): Promise<Reply> {
    const body = z.decode(createCharge.body, request as never);
    return this.charges.create(accountId, inputOf(body, null), noPreferences);
  }

  private async issueTransfer(accountId: number, request: unknown): Promise<Reply> {
    const { body, idempotencyKey } = readTransferRow(request);
    const { externalId } = body as { externalId?: string };
    const key = idempotencyKey ?? uuidv5(`${accountId} ${externalId}`, keyNamespace);
    if (!isByKey(body)) return this.transfers.create(accountId, transferInput(body, key), noPreferences);
    const transfer = z.decode(pixKeyTransfer, body as never);
    const { key: pixKey, holderDocument, amount, description } = transfer;
    const asked = { key: pixKey, holderDocument, amount, description };
    return this.transfers.createByKey(accountId, asked, key, noPreferences);
  }
}

/** The transfer of a row that is the contract's request. */
function transferInput(row: unknown, key: string): RouteInput<typeof createTransfer> {
  const { externalId, ...transfer } = z.decode(createTransfer.body, row as never);
  // Only a transfer between accounts bears an externalId at the bank.
  const isInternal = transferShape(transfer).shape === 'internal';
  const sent = isInternal && externalId ? { ...transfer, externalId } : transfer;
  return inputOf(sent as TransferRequest, key);
}

function inputOf<Body>(body: Body, idempotencyKey: string | null) {
  return { params: {}, query: {}, body, idempotencyKey };
}

/** The request's own fault, whenever it is sent; a race or a fault of ours says nothing of the row. */
function isOutcome({ status, code, details }: AppError): boolean {
  if (status === 409) return code === 'possible_duplicate' || details.reason !== undefined;
  return status === 400 || status === 404 || status === 422;
}

/** An answer that did not come in time is the journal's to find: the row is issued. */
function outcomeOf({ status, body, headers }: Reply): LineOutcome {
  const operationId = headers[operationHeader] ?? null;
  if (status < 400) return { state: 'accepted', errors: null, operationId };
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
  const read = z.safeDecode(errorBody.partial(), parseJson(text) as never);
  const { code = null, title = null, errors = null } = read.success ? read.data : {};
  return rejected({ code, title, errors }, operationId);
}

function rejected(errors: RowErrors, operationId: string | null): LineOutcome {
  return { state: 'rejected', errors: stringifyJson(errors), operationId };
}
