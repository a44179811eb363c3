import type { Transfer as TransferRow } from '../../generated/sandbox/client.js';
import type { SandboxAccount, Party } from '../accounts/party.js';
import type { PixFailure } from '../faults/pix-failures.js';

export type TransferStatus =
  | ('PIX_PROCESSING' | 'PIX_WAITING_SPI_RESPONSE' | 'PIX_EFFECTIVE' | 'PIX_ERROR')
  | ('SCHEDULED' | 'PROCESSING' | 'EFFECTIVE' | 'ERROR');

/** A transfer that an account sent. */
export interface Transfer extends TransferRow {
  type: 'PIX_KEY' | 'PIX_MANUAL' | 'INTERNAL' | 'EXTERNAL';
  status: TransferStatus;
  payer: Party;
  beneficiary: Party;
  /** The failure of a Pix or TED: set at acceptance, reported when it ends. */
  error: PixFailure | null;
}

/** The fields that every kind of transfer has. */
export interface TransferOrder {
  payer: SandboxAccount;
  amountCents: bigint;
  description: string | null;
  idempotencyKey: string;
  /** When it is sent, as requested; at once if absent. */
  transferAt?: string | null | undefined;
}

export function isFinalTransfer({ status }: Pick<Transfer, 'status'>): boolean {
  return ['PIX_EFFECTIVE', 'PIX_ERROR', 'EFFECTIVE', 'ERROR'].includes(status);
}
