// Gives received Pix back. What is left of each is worked out under the lock of its line, so that refunds that race
// take no more than was received; whoever ordered what went back before.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { refundTransaction } from '../contract/refunds.js';
import type { RouteInput, RouteOutput } from '../contract/route.js';
import type { Tx } from '../database.service.js';
import { expectedDebit } from '../expected-payments/expected-debit.js';
import {
  ExpectedPaymentsService,
  type NewExpectedPayment,
  type Reference,
} from '../expected-payments/expected-payments.service.js';
import type { Acceptance, OperationRequest, OperationKind, RequestPreferences } from '../operations/operation.js';
import { OperationsService } from '../operations/operations.service.js';
import type { Reply } from '../platform/contract-route.js';
import { AppError } from '../platform/errors.js';
import { isNsu } from '../platform/listing.js';
import { BankTime } from '../statement/bank-time.service.js';
import { isWithinRefundWindow, type OriginalPix } from './original-pix.js';
import { Originals } from './originals.service.js';
import { refusalOf, roomOf } from './refundable-amount.js';
import * as queries from './refunds.queries.js';

type RefundInput = RouteInput<typeof refundTransaction>;
type RefundAnswer = RouteOutput<typeof refundTransaction>;
type OwnPart = Pick<OperationRequest<typeof refundTransaction>, 'outgoing' | 'expectedPayments' | 'record'>;

@Injectable()
export class RefundsService implements OnModuleInit {
  private readonly kind: OperationKind<typeof refundTransaction> = {
    name: 'refund_pix',
    route: refundTransaction,
    repeat: 'another',
    echoes: (input, answer) => isEcho(input, answer),
    onSucceeded: (tx, operation, acceptance) => this.accepted(tx, operation, acceptance),
    onRejected: (tx, { accountId, id }) => queries.markRejected(tx, { accountId, id }),
  };

  constructor(
    private readonly operations: OperationsService,
    private readonly originals: Originals,
    private readonly expectedPayments: ExpectedPaymentsService,
    private readonly bankTime: BankTime,
  ) {}

  onModuleInit(): void {
    this.operations.register(this.kind);
  }

  /** `isOnlyOne`: it is refused where any of the Pix has gone back already, or is on its way. */
  async refund(
    accountId: number,
    input: RefundInput,
    preferences: RequestPreferences,
    { isOnlyOne = false } = {},
  ): Promise<Reply> {
    const { transactionId } = input.params;
    if (input.query.filterBy === 'NSU' && !isNsu(transactionId))
      throw new AppError('validation_failed', {
        errors: { '$.transactionId': ['Must be a whole number.'] },
      });
    return this.operations.perform(this.kind, {
      accountId,
      idempotencyKey: input.idempotencyKey,
      naturalIdentity: null,
      joinsSameRequest: true,
      input,
      preferences,
      ...(await this.prepare(accountId, input, isOnlyOne)),
    });
  }

  /** What is refused here is refused of a new refund only: a repeat is given its answer whatever has come since. */
  private async prepare(
    accountId: number,
    { params, query, body }: RefundInput,
    isOnlyOne: boolean,
  ): Promise<OwnPart> {
    try {
      const reference = { filterBy: query.filterBy, id: params.transactionId };
      const original = await this.originals.get(accountId, reference);
      const now = await this.bankTime.now(accountId);
      return {
        outgoing: {
          counterparty: `nsu ${original.nsu}`,
          amountCents: body.amount,
          isDistinguishable: false,
        },
        expectedPayments: [expectedOf(original, body.amount)],
        record: (tx, id, [expectedPaymentId = '']) =>
          this.record(tx, original, now, {
            accountId,
            id,
            originalNsu: original.nsu,
            amountCents: body.amount,
            expectedPaymentId,
            isOnlyOne,
          }),
      };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return { outgoing: null, expectedPayments: [], record: () => Promise.reject(error) };
    }
  }

  private async record(
    tx: Tx,
    original: OriginalPix,
    now: Date,
    { isOnlyOne, ...refund }: Parameters<typeof queries.insertRefund>[1] & { isOnlyOne: boolean },
  ): Promise<void> {
    if (!isWithinRefundWindow(original.occurredAt, now))
      throw new AppError('rule_broken', {
        public: 'A Pix can be refunded up to 90 days after its receipt.',
        reason: 'refund_window_closed',
      });
    await queries.lockOriginal(tx, refund.accountId, original.nsu);
    const facts = await queries.readFacts(tx, refund.accountId, original);
    if (isOnlyOne && roomOf(facts) < facts.originalCents)
      throw new AppError('rule_broken', {
        public: 'Some of this Pix was given back already: say how much more is to be.',
        reason: 'already_refunded',
      });
    const refusal = refusalOf(facts, refund.amountCents);
    if (refusal) throw new AppError('rule_broken', { ...refusal });
    await queries.insertRefund(tx, refund);
  }

  private async accepted(
    tx: Tx,
    key: queries.RefundKey,
    { answer }: Acceptance<RefundAnswer>,
  ): Promise<void> {
    const told = answer ? idsOf(answer) : await queries.findMatchedLine(tx, key);
    const { nsu, endToEndId } = told ?? { nsu: null, endToEndId: null };
    const refund = await queries.markAccepted(tx, key, { nsu, endToEndId });
    if (!refund || !answer) return;
    const { accountId } = key;
    await this.expectedPayments.addReferences(
      tx,
      accountId,
      refund.expectedPaymentId,
      referencesOf(answer),
    );
  }
}

function expectedOf(
  { endToEndId, counterparty }: OriginalPix,
  amountCents: bigint,
): NewExpectedPayment {
  const references: Reference[] = [{ kind: 'original_end_to_end_id', value: endToEndId }];
  if (counterparty !== null) references.push({ kind: 'counterparty', value: counterparty });
  return expectedDebit(amountCents, references);
}

function isEcho({ params, query, body }: RefundInput, answer: RefundAnswer): boolean {
  const { amount, type } = answer;
  const original = textOf(answer.proof?.originalEndToEndId);
  const isOfOriginal =
    query.filterBy !== 'END_TO_END_ID' || original === null || original === params.transactionId;
  return !type.isCredit && (amount < 0n ? -amount : amount) === body.amount && isOfOriginal;
}

function idsOf({ nsu, proof }: RefundAnswer) {
  return { nsu, endToEndId: textOf(proof?.endToEndId), movementId: textOf(proof?.id) };
}

/** Ids by which the line of the debit may name the refund. */
function referencesOf(answer: RefundAnswer): Reference[] {
  const { nsu, endToEndId, movementId } = idsOf(answer);
  const references: Reference[] = [{ kind: 'nsu', value: String(nsu) }];
  if (endToEndId !== null) references.push({ kind: 'end_to_end_id', value: endToEndId });
  if (movementId !== null) references.push({ kind: 'movement_id', value: movementId });
  return references;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= 200 ? value : null;
}
