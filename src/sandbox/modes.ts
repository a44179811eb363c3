/** What the contract leaves open. Each has its default here and is read from nowhere else. */
export interface ModeValues {
  /** A longer `limit` is served up to this many lines. */
  statementPageCap: number;
  /** Words for a charge's status; the contract shows only those on creation. */
  chargeStatus: { slipCreated: string; qrCreated: string; paid: string; expired: string };
  /** What `/pay` pays on a static QR code whose payer chooses. */
  freeAmountPaymentCents: bigint;
}

export const defaultModes: ModeValues = {
  statementPageCap: 1_000,
  chargeStatus: {
    slipCreated: 'Pending',
    qrCreated: 'Created',
    paid: 'Paid',
    expired: 'Expired',
  },
  freeAmountPaymentCents: 100n,
};
