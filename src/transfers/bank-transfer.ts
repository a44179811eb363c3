// What the bank tells of one transfer, in an answer or a status read by id, and what that makes of its state.
import type { BatchElement } from '../contract/batch-transfers.js';
import type { TransferDetails, TransferResponse } from '../contract/transfers.js';
import type { Reference } from '../expected-payments/expected-payments.service.js';

export const transferStates = ['requested', 'accepted', 'effective', 'failed', 'rejected'] as const;
export type TransferState = (typeof transferStates)[number];

/** The states that the bank's word can make. */
export type BankTransferState = Extract<TransferState, 'accepted' | 'effective' | 'failed'>;

const effectiveWords = new Set(['PIX_EFFECTIVE', 'EFFECTIVE', 'DONE']);
const failedWords = new Set(['PIX_ERROR', 'ERROR']);

/** A word that nobody has explained says no more than that the bank knows the transfer. */
export function stateOfStatus(status: string): BankTransferState {
  if (effectiveWords.has(status)) return 'effective';
  return failedWords.has(status) ? 'failed' : 'accepted';
}

export interface BankTransfer {
  state: BankTransferState;
  /** The bank's own word; null when the statement alone shows the transfer. */
  bankStatus: string | null;
  errorCode: string | null;
  bankId: string | null;
  endToEndId: string | null;
  /** Of the debit. */
  nsu: bigint | null;
}

export function readTransfer(answer: TransferResponse | TransferDetails): BankTransfer {
  const { id, status, endToEndId, transactionNsu } = answer;
  const { error } = answer as Partial<TransferDetails>;
  return {
    state: stateOfStatus(status),
    bankStatus: status,
    errorCode: error?.code ?? null,
    bankId: id,
    endToEndId: endToEndId ?? null,
    nsu: transactionNsu ?? null,
  };
}

export function readBatchElement({ id, status, error }: BatchElement): BankTransfer {
  return {
    state: stateOfStatus(status),
    bankStatus: status,
    errorCode: error?.code ?? null,
    bankId: id,
    endToEndId: null,
    nsu: null,
  };
}

/** By what the statement's lines may name it. */
export function referencesOf({ bankId, endToEndId, nsu }: BankTransfer): Reference[] {
  return [
    ...(nsu === null ? [] : [{ kind: 'nsu' as const, value: nsu.toString() }]),
    ...(bankId === null ? [] : [{ kind: 'movement_id' as const, value: bankId }]),
    ...(endToEndId === null ? [] : [{ kind: 'end_to_end_id' as const, value: endToEndId }]),
  ];
}

const pausesMs = [1_000, 2_000, 5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000] as const;

/** How long after its nth reading a transfer that is not final is read again: at last each hour, and never given up. */
export const checkPausesMs: readonly number[] = pausesMs;

/** How long after its acceptance a transfer is read for the first time. */
export const firstCheckMs = pausesMs[0];
