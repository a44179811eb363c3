// Issues one row through the service of its kind, as a single request: the same rules, the same
// identities and the same journal of operations.
import { Injectable } from '@nestjs/common';
import { v5 as uuidv5 } from 'uuid';
import { z } from 'zod';
import { chargeWithMetadata } from '../charges/charges.schema.js';
import { ChargesService } from '../charges/charges.service.js';
import { errorBody } from '../../bank-contract/errors.js';
import {
  transferShape,
  type createTransfer,
  type TransferRequest,
} from '../../bank-contract/transfers.js';
import type { RouteInput } from '../../bank-contract/route.js';
import {
  declarePayment,
  toTerms,
} from '../../statement/expected-payments/declared-payments.schema.js';
import { DeclaredPayments } from '../../statement/expected-payments/declared-payments.service.js';
import {
  noPreferences,
  operationHeader,
  type RequestPreferences,
} from '../operations/operation.js';
import { OperationsService } from '../operations/operations.service.js';
import type { Reply } from '../../platform/http/contract-route.js';
import { AppError } from '../../platform/errors.js';
import { parseJson, stringifyJson } from '../../platform/json/exact-json.js';
import { transferWithMetadata } from '../transfers/transfers.schema.js';
import { TransfersService } from '../transfers/transfers.service.js';
import type { BulkRow, BulkUpload } from '../../generated/service/client.js';
import { isByKey, pixKeyTransfer, readTransferRow, type RowErrors } from './row-request.js';

/**
 * Namespace of the rows' idempotency keys: the same externalId makes the same key in every file.
 */
const keyNamespace = '6f1d2f0e-6d0c-5b7a-9d53-0f2f5f7e2c11';

type RowOutcome = Pick<BulkRow, 'state' | 'errors' | 'operationId'>;

@Injectable()
export class RowIssuer {
  constructor(
    private readonly charges: ChargesService,
    private readonly transfers: TransfersService,
    private readonly operations: OperationsService,
    private readonly expectedPayments: DeclaredPayments,
  ) {}

  /**
   * Returns the outcome of the row. `claim` ties a new operation to the row. Throws errors that a
   * retry may avoid.
   */
  async issue(
    { kind, requestedBy: actor }: Pick<BulkUpload, 'kind' | 'requestedBy'>,
    row: BulkRow,
    claim: RequestPreferences['claim'],
  ): Promise<RowOutcome> {
    const { accountId, operationId, request } = row;
    try {
      if (operationId !== null && !(await this.wasNeverSent(accountId, operationId)))
        return outcomeOf(await this.operations.replyAgain({ accountId, id: operationId }));
      const parsed = parseJson(request ?? '');
      if (kind === 'expected_payments') return await this.declarePayment(row, parsed);
      const requestedBy = { source: 'bulk', actor } as const;
      const preferences = { ...noPreferences, claim, requestedBy };
      const reply = await (kind === 'charges'
        ? this.issueCharge(accountId, parsed, preferences)
        : this.issueTransfer(accountId, parsed, preferences));
      return outcomeOf(reply);
    } catch (error) {
      if (!(error instanceof AppError) || !isFinalError(error)) throw error;
      const { code, details } = error;
      const { reason, public: title = null, errors = null } = details;
      return rejected({ code: reason ?? code, title, errors }, null);
    }
  }

  /** Whether the row's operation left no request at the bank, so that the row is issued again. */
  private async wasNeverSent(accountId: number, operationId: string): Promise<boolean> {
    return (await this.operations.get(accountId, operationId)).reason === 'never_sent';
  }

  /** Nothing is sent to the bank: the row has no operation. */
  private async declarePayment(
    { accountId, uploadId }: BulkRow,
    request: unknown,
  ): Promise<RowOutcome> {
    const body = z.decode(declarePayment.body, request as never);
    const author = { accountId, actor: `upload ${uploadId}`, reason: null };
    await this.expectedPayments.declare(author, body.externalId, toTerms(body));
    return { state: 'accepted', errors: null, operationId: null };
  }

  private async issueCharge(
    accountId: number,
    request: unknown,
    preferences: RequestPreferences,
  ): Promise<Reply> {
    const body = z.decode(chargeWithMetadata.body, request as never);
    return this.charges.create(accountId, inputOf(body, null), preferences);
  }

  private async issueTransfer(
    accountId: number,
    request: unknown,
    preferences: RequestPreferences,
  ): Promise<Reply> {
    const { body, idempotencyKey } = readTransferRow(request);
    const { externalId } = body as { externalId?: string };
    const key = idempotencyKey ?? uuidv5(`${accountId} ${externalId}`, keyNamespace);
    if (!isByKey(body)) {
      const { input, isWhole } = transferInput(body, key);
      const context = isWhole ? {} : { comparedBody: body };
      return this.transfers.create(accountId, input, preferences, context);
    }
    const transfer = z.decode(pixKeyTransfer, body as never);
    const { key: pixKey, holderDocument, amount, description, metadata } = transfer;
    const byKey = { key: pixKey, holderDocument, amount, description, metadata };
    return this.transfers.createByKey(accountId, byKey, key, preferences, body);
  }
}

/**
 * The contract's transfer request of a row that is not by Pix key, and whether it has all of the
 * row.
 */
function transferInput(
  row: unknown,
  key: string,
): { input: RouteInput<typeof createTransfer>; isWhole: boolean } {
  const { externalId, ...transfer } = z.decode(transferWithMetadata.body, row as never);
  // The bank takes an externalId only for a transfer between its own accounts.
  const isInternal = transferShape(transfer).shape === 'internal';
  const body = isInternal && externalId ? { ...transfer, externalId } : transfer;
  const isWhole = isInternal || externalId === undefined;
  return { input: inputOf(body as TransferRequest, key), isWhole };
}

function inputOf<Body>(body: Body, idempotencyKey: string | null) {
  return { params: {}, query: {}, body, idempotencyKey };
}

/**
 * Whether the request itself causes the error, so that a retry would fail too. A race or a fault of
 * the service may not occur again.
 */
function isFinalError({ status, code, details }: AppError): boolean {
  if (status === 409) return code === 'possible_duplicate' || details.reason !== undefined;
  return status === 400 || status === 404 || status === 422;
}

/**
 * A row with a 202 is accepted too: its operation is stored, and the bank's response is found by
 * recovery.
 */
function outcomeOf({ status, body, headers }: Reply): RowOutcome {
  const operationId = headers[operationHeader] ?? null;
  if (status < 400) return { state: 'accepted', errors: null, operationId };
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
  const decoded = z.safeDecode(errorBody.partial(), parseJson(text) as never);
  const { code = null, title = null, errors = null } = decoded.success ? decoded.data : {};
  return rejected({ code, title, errors }, operationId);
}

function rejected(errors: RowErrors, operationId: string | null): RowOutcome {
  return { state: 'rejected', errors: stringifyJson(errors), operationId };
}
