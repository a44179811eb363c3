// Owns refunds of received Pix. The refundable amount is computed under the lock of the Pix's line,
// so concurrent refunds never exceed the received amount.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { fieldError } from '../../bank-contract/field-errors.js';
import { refundTransaction } from '../../bank-contract/refunds.js';
import type { RouteInput, RouteOutput } from '../../bank-contract/route.js';
import { Database, type Tx } from '../../platform/postgres/database.service.js';
import { expectedDebit, referencesOf } from '../../statement/expected-payments/expected-payment.js';
import { addReferences } from '../../statement/expected-payments/recording.queries.js';
import type {
  Acceptance,
  Operation,
  OperationKind,
  OperationRequest,
  OwnRecord,
  RequestPreferences,
} from '../operations/operation.js';
import type { Refund } from '../../generated/service/client.js';
import type { OperationRef } from '../operations/operations.queries.js';
import { withoutMetadata } from '../../statement/expected-payments/metadata.js';
import { OperationsService } from '../operations/operations.service.js';
import type { Reply } from '../../platform/http/contract-route.js';
import { AppError, conflict, invalidField, ruleBroken } from '../../platform/errors.js';
import { isNsu } from '../../platform/http/listing.js';
import { readBankTime } from '../../statement/lines/bank-clock.queries.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import { isRefundWindowOpen, type RefundOriginal } from './received-pix.js';
import { ReceivedPixFinder } from './received-pix.service.js';
import { refundRejection, refundRejections, refundableCentsOf } from './refundable-amount.js';
import * as queries from './refunds.queries.js';

type RefundInput = RouteInput<typeof refundTransaction>;
type RefundResponse = RouteOutput<typeof refundTransaction>;
/** What else must be true in the transaction that creates the refund. */
interface RefundConditions {
  /** Rejects the refund when any part of the Pix is refunded or being refunded. */
  onlyIfUnrefunded?: boolean;
  assertApplies?: (tx: Tx) => Promise<void>;
}
/** The reasons with which a request for a refund is refused. */
export const refundRefusals = [...refundRejections, 'refund_window_closed'] as const;

export interface RefundPreview {
  original: RefundOriginal;
  refundableCents: bigint;
  /** Why not even a cent can be refunded; null where the amount can be. */
  refusal: (typeof refundRefusals)[number] | null;
}

type PreparedRefund = Pick<OperationRequest, 'outgoing' | 'expectedPayments'> &
  Pick<OwnRecord, 'record'>;

const refundWindowClosed = 'A Pix can be refunded up to 90 days after its receipt.';

type NewRefund = Omit<Refund, 'endToEndId' | 'nsu' | 'state' | 'createdAt'>;

@Injectable()
export class RefundsService implements OnModuleInit {
  private readonly kind: OperationKind<typeof refundTransaction> = {
    name: 'refund_pix',
    sendsMoney: 'refund',
    route: refundTransaction,
    repeat: 'unkeyed',
    echoes: isEcho,
    onSucceeded: (tx, operation, acceptance) => this.onAccepted(tx, operation, acceptance),
    onRejected: async (tx, { accountId, id }) => {
      const where = { accountId, id, state: 'requested' } as const;
      await tx.refund.updateMany({ where, data: { state: 'rejected' } });
    },
    assertStillSendable: (tx, operation) => assertStillRefundable(tx, operation),
  };

  constructor(
    private readonly database: Database,
    private readonly operations: OperationsService,
    private readonly receivedPix: ReceivedPixFinder,
    private readonly bankTime: BankTime,
  ) {}

  onModuleInit(): void {
    this.operations.register(this.kind);
  }

  async refund(
    accountId: number,
    request: RefundInput,
    preferences: RequestPreferences,
    { onlyIfUnrefunded = false, assertApplies }: RefundConditions = {},
  ): Promise<Reply> {
    const { input, metadata } = withoutMetadata(request);
    const { transactionId } = input.params;
    if (input.query.filterBy === 'NSU' && !isNsu(transactionId))
      throw invalidField('$.transactionId', fieldError('whole_number'));
    return this.operations.perform(this.kind, {
      accountId,
      idempotencyKey: input.idempotencyKey,
      joinsSameRequest: true,
      input,
      metadata,
      preferences,
      ...(assertApplies ? { assertApplies } : {}),
      ...(await this.prepare(accountId, input, onlyIfUnrefunded)),
    });
  }

  /**
   * What a refund of the received Pix with this nsu may be at present. What is true when the refund
   * is requested decides. Throws like `ReceivedPixFinder.getStored`.
   */
  async preview(accountId: number, nsu: bigint): Promise<RefundPreview> {
    const reference = { filterBy: 'NSU', id: nsu.toString() } as const;
    const original = await this.receivedPix.getStored(accountId, reference);
    const now = await this.bankTime.now(accountId);
    const facts = await this.database.transaction((tx) =>
      queries.readRefundableFacts(tx, accountId, original),
    );
    const isOpen = isRefundWindowOpen(original.occurredAt, now);
    return {
      original,
      refundableCents: refundableCentsOf(facts),
      refusal: isOpen ? (refundRejection(facts, 1n)?.reason ?? null) : 'refund_window_closed',
    };
  }

  /**
   * An error found here rejects only a new refund, when its record is written. A repeat still gets
   * its stored response.
   */
  private async prepare(
    accountId: number,
    { params, query, body }: RefundInput,
    onlyIfUnrefunded: boolean,
  ): Promise<PreparedRefund> {
    try {
      const reference = { filterBy: query.filterBy, id: params.transactionId };
      const original = await this.receivedPix.get(accountId, reference);
      const now = await this.bankTime.now(accountId);
      const { endToEndId, counterparty } = original;
      const references = referencesOf({ original_end_to_end_id: endToEndId, counterparty });
      return {
        outgoing: {
          counterparty: `nsu ${original.nsu}`,
          amountCents: body.amount,
          isDistinguishable: false,
        },
        expectedPayments: [expectedDebit(body.amount, references)],
        record: (tx, id, [expectedPaymentId = '']) =>
          this.record(tx, original, now, {
            accountId,
            id,
            originalNsu: original.nsu,
            amountCents: body.amount,
            expectedPaymentId,
            onlyIfUnrefunded,
          }),
      };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return { expectedPayments: [], record: () => Promise.reject(error) };
    }
  }

  private async record(
    tx: Tx,
    original: RefundOriginal,
    now: Date,
    { onlyIfUnrefunded, ...refund }: NewRefund & { onlyIfUnrefunded: boolean },
  ): Promise<void> {
    if (!isRefundWindowOpen(original.occurredAt, now))
      throw ruleBroken('refund_window_closed', refundWindowClosed);
    await queries.lockRefundOriginal(tx, refund.accountId, original.nsu);
    const facts = await queries.readRefundableFacts(tx, refund.accountId, original);
    if (onlyIfUnrefunded && refundableCentsOf(facts) < facts.originalCents)
      throw ruleBroken(
        'already_refunded',
        'Part of this Pix is already refunded: request a refund of an explicit amount.',
      );
    const rejection = refundRejection(facts, refund.amountCents);
    if (rejection) throw new AppError('rule_broken', { ...rejection });
    await tx.refund.create({ data: { ...refund, state: 'requested' } });
  }

  private async onAccepted(
    tx: Tx,
    { accountId, id }: OperationRef,
    { response }: Acceptance<RefundResponse>,
  ): Promise<void> {
    const ids = response ? idsOf(response) : await queries.findLineOfRefund(tx, { accountId, id });
    const { nsu, endToEndId } = ids ?? { nsu: null, endToEndId: null };
    const [refund] = await tx.refund.updateManyAndReturn({
      where: { accountId, id },
      // An id that is null here keeps its stored value.
      data: { state: 'accepted', nsu: nsu ?? undefined, endToEndId: endToEndId ?? undefined },
      select: { expectedPaymentId: true },
    });
    if (!refund || !response) return;
    // The debit line may carry these ids.
    const movementId = textOf(response.proof?.id);
    const references = referencesOf({ nsu, end_to_end_id: endToEndId, movement_id: movementId });
    await addReferences(tx, accountId, [{ ...refund, references }]);
  }
}

/**
 * Throws where a refund that waited for approval must not be sent any more: what was true when it
 * was requested may have changed. The refund itself counts as pending.
 */
async function assertStillRefundable(
  tx: Tx,
  { accountId, id, idempotencyKey }: Operation,
): Promise<void> {
  const refund = await tx.refund.findUniqueOrThrow({ where: { accountId_id: { accountId, id } } });
  const { originalNsu, amountCents } = refund;
  await queries.lockRefundOriginal(tx, accountId, originalNsu);
  const line = await tx.statementLine.findUniqueOrThrow({
    where: { accountId_nsu: { accountId, nsu: originalNsu } },
  });
  if (!isRefundWindowOpen(line.occurredAt, await readBankTime(tx, accountId)))
    throw conflict('refund_window_closed', refundWindowClosed);
  const ofOthers = await queries.readRefundableFacts(tx, accountId, line as RefundOriginal, id);
  const rejection = refundRejection(ofOthers, amountCents);
  if (rejection) throw conflict(rejection.reason, rejection.public);
  const states = await queries.lockBreaksOfRefund(tx, accountId, originalNsu, idempotencyKey);
  if (states.length > 0 && !states.includes('open'))
    throw conflict('break_changed', 'The break for which the refund was requested is resolved.');
}

function isEcho({ params, query, body }: RefundInput, response: RefundResponse): boolean {
  const { amount, type } = response;
  const original = textOf(response.proof?.originalEndToEndId);
  const isOfOriginal =
    query.filterBy !== 'END_TO_END_ID' || original === null || original === params.transactionId;
  const amountCents = amount < 0n ? -amount : amount;
  return type?.isCredit !== true && amountCents === body.amount && isOfOriginal;
}

function idsOf({ nsu, proof }: RefundResponse) {
  return { nsu: nsu ?? null, endToEndId: textOf(proof?.endToEndId) };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= 200 ? value : null;
}
