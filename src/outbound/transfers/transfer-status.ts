// The state of one transfer: The bank reports the state, in a response or in a status read by id.
// The statement decides the settlement.
import type { BatchElement } from '../../bank-contract/batch-transfers.js';
import type { TransferDetails, TransferResponse } from '../../bank-contract/transfers.js';
import { referencesOf } from '../../statement/expected-payments/expected-payment.js';
import type { Reference } from '../../statement/expected-payments/references.js';
import type { TransferState } from '../../generated/service/client.js';

/** The states that a status reported by the bank can lead to. */
export type ReportedTransferState = Extract<TransferState, 'accepted' | 'effective' | 'failed'>;

const effectiveStatuses = new Set([
  'PIX_EFFECTIVE',
  'EFFECTIVE',
  'DONE',
  // The contract's status of a sent refund. The bank reports nothing after it. Whether the money
  // moved or was reversed is decided by the statement alone, as for every state here.
  'PIX_REFUND_PAYMENT_UPDATED',
]);
const failedStatuses = new Set(['PIX_ERROR', 'ERROR']);

/** An undocumented status shows only that the bank knows the transfer, so it counts as accepted. */
export function stateOfBankStatus(status: string | null | undefined): ReportedTransferState {
  if (status == null) return 'accepted';
  if (effectiveStatuses.has(status)) return 'effective';
  return failedStatuses.has(status) ? 'failed' : 'accepted';
}

/** What the bank reports about one transfer. */
export interface TransferReport {
  state: ReportedTransferState;
  /** The bank's status, verbatim; null when only the statement shows the transfer. */
  bankStatus: string | null;
  errorCode: string | null;
  bankId: string | null;
  endToEndId: string | null;
  /** The nsu of the debit. */
  nsu: bigint | null;
}

export function readBatchElement({
  id,
  status,
  error,
}: Pick<BatchElement, 'id' | 'status' | 'error'>): TransferReport {
  return {
    state: stateOfBankStatus(status),
    bankStatus: status ?? null,
    errorCode: error?.code ?? null,
    bankId: id,
    endToEndId: null,
    nsu: null,
  };
}

export function readTransferResponse(response: TransferResponse | TransferDetails): TransferReport {
  const { endToEndId, transactionNsu } = response;
  const report = readBatchElement(response as TransferDetails);
  return { ...report, endToEndId: endToEndId ?? null, nsu: transactionNsu ?? null };
}

/** The references that a statement line of the transfer may carry. */
export function referencesOfTransfer({ bankId, endToEndId, nsu }: TransferReport): Reference[] {
  return referencesOf({ nsu, movement_id: bankId, end_to_end_id: endToEndId });
}

/**
 * The pause from the acceptance to the first status check, and then after each check of a transfer
 * that is not final: for a day, then once a day for thirty days. After the last check, the transfer
 * is checked once more for each webhook that names it. The statement decides it in any case.
 */
export const statusCheckPausesMs: readonly [number, ...number[]] = [
  1_000,
  ...[2_000, 5_000, 15_000, 60_000, 300_000, 900_000],
  ...Array.from({ length: 24 }, () => 3_600_000),
  ...Array.from({ length: 30 }, () => 86_400_000),
];
