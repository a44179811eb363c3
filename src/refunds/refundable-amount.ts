// How much of a received Pix can still be refunded.
export interface RefundableFacts {
  originalCents: bigint;
  /** Total of the refund debits of this Pix on the statement, by us or by the bank. */
  refundedCents: bigint;
  /** Total of the reversals of those debits. */
  reversedCents: bigint;
  /**
   * Total of our refunds that are accepted or unresolved, have no line yet and are not withdrawn.
   */
  pendingCents: bigint;
  /** The statement shows a refund to this payer, and nothing ties that refund to a Pix. */
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

export function refundableCents(facts: RefundableFacts): bigint {
  const { originalCents, refundedCents, reversedCents, pendingCents } = facts;
  const refundable = originalCents - refundedCents + reversedCents - pendingCents;
  // Reversals never make a Pix refundable beyond its own amount.
  return refundable < originalCents ? refundable : originalCents;
}

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
        'The statement shows a refund to this payer without the id of its Pix. ' +
        'Match that refund first, so that the refundable amount is known.',
    };
  if (requestedCents <= refundableCents(facts)) return null;
  return {
    reason: 'refund_exceeds_original',
    public: 'The amount must not exceed the refundable amount of the Pix.',
  };
}
