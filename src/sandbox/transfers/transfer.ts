import type { Transfer as TransferRow } from '../../generated/sandbox/client.js';
import type { SandboxAccount, Party } from '../accounts/party.js';

export type TransferStatus =
  'PIX_PROCESSING' | 'PIX_WAITING_SPI_RESPONSE' | 'PIX_EFFECTIVE' | 'PIX_ERROR' | 'EFFECTIVE';

/** Why a Pix failed, with the codes of the SPI. */
export type PixFailure = { code: string; description: string };

/** A transfer that an account sent. */
export interface Transfer extends TransferRow {
  type: 'PIX_KEY' | 'PIX_MANUAL' | 'INTERNAL';
  status: TransferStatus;
  payer: Party;
  beneficiary: Party;
  /** The failure of the Pix: set at acceptance, reported when the Pix ends. */
  error: PixFailure | null;
}

/** The fields that every kind of transfer has. */
export interface TransferOrder {
  payer: SandboxAccount;
  amountCents: bigint;
  description: string | null;
  idempotencyKey: string;
}

export function isFinalTransfer({ status }: Pick<Transfer, 'status'>): boolean {
  return status === 'PIX_EFFECTIVE' || status === 'PIX_ERROR' || status === 'EFFECTIVE';
}

/** `AC06` is the example that the real service publishes; all are codes of ISO 20022. */
export const pixFailures = {
  accountBlocked: { code: 'AC06', description: 'A conta do recebedor está bloqueada.' },
  accountUnknown: { code: 'AC03', description: 'A conta do recebedor não existe.' },
  amountRefused: { code: 'AM02', description: 'A conta do recebedor não comporta o valor.' },
} as const satisfies Record<string, PixFailure>;
