// How much of a received Pix can still be given back.
export interface RefundFacts {
  originalCents: bigint;
  /** Debits on the statement that give it back, whoever ordered them. */
  refundedCents: bigint;
  /** Of those, what came back again. */
  reversedCents: bigint;
  /** Refunds of ours, accepted or without an end, that have no line yet and that nobody has given up. */
  pendingCents: bigint;
  /** A refund to that payer is on the statement, and nothing says which Pix it gives back. */
  hasUntiedRefund: boolean;
}

export interface RefundRefusal {
  reason: 'refund_frozen' | 'refund_exceeds_original';
  public: string;
}

export function roomOf(facts: RefundFacts): bigint {
  const { originalCents, refundedCents, reversedCents, pendingCents } = facts;
  const room = originalCents - refundedCents + reversedCents - pendingCents;
  // What came back of a refund never makes more of the Pix than it was.
  return room < originalCents ? room : originalCents;
}

/** Why that much cannot be given back; null when it can. */
export function refusalOf(facts: RefundFacts, askedCents: bigint): RefundRefusal | null {
  if (facts.hasUntiedRefund)
    return {
      reason: 'refund_frozen',
      public:
        'The statement shows a refund to this payer that does not say which Pix it returns: until it is matched, what is left of this one is not known.',
    };
  if (askedCents <= roomOf(facts)) return null;
  return {
    reason: 'refund_exceeds_original',
    public: 'More than what is left of the Pix cannot be refunded.',
  };
}
