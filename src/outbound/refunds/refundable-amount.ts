// Whether a received Pix can be refunded by an amount.
import {
  refundableCents,
  type RefundsOfPix,
} from '../../statement/expected-payments/refunds-of-pix.js';

export interface RefundableFacts {
  originalCents: bigint;
  refunds: RefundsOfPix;
  /** The statement shows a refund, perhaps to this payer, and nothing ties that refund to a Pix. */
  hasUnattributedRefund: boolean;
  /**
   * The bank reported an infraction or a MED request about the Pix, and may return the money by
   * itself. True until the statement shows its return, or a person accepts the break.
   */
  isDisputed: boolean;
}

export const refundRejections = ['refund_frozen', 'refund_exceeds_original', 'disputed'] as const;

export interface RefundRejection {
  reason: (typeof refundRejections)[number];
  public: string;
}

export const refundableCentsOf = ({ originalCents, refunds }: RefundableFacts): bigint =>
  refundableCents(originalCents, refunds);

/** Why `requestedCents` cannot be refunded; null when the amount can be refunded. */
export function refundRejection(
  facts: RefundableFacts,
  requestedCents: bigint,
): RefundRejection | null {
  if (facts.isDisputed)
    return {
      reason: 'disputed',
      public:
        'The Pix is disputed, and the bank may return it by itself. ' +
        'It can be refunded when its break of the kind disputed is resolved.',
    };
  if (facts.hasUnattributedRefund)
    return {
      reason: 'refund_frozen',
      public:
        'The statement shows a refund, perhaps to this payer, without the id of its Pix. ' +
        'Link that refund to its Pix first, so that the refundable amount is known.',
    };
  if (requestedCents <= refundableCentsOf(facts)) return null;
  return {
    reason: 'refund_exceeds_original',
    public: 'The amount must not exceed the refundable amount of the Pix.',
  };
}
