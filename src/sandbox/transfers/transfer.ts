import type { Transfer as TransferRow } from '../../generated/sandbox/client.js';
import type { SandboxAccount, Party } from '../accounts/party.js';

export type TransferStatus =
  | ('PIX_PROCESSING' | 'PIX_WAITING_SPI_RESPONSE' | 'PIX_EFFECTIVE' | 'PIX_ERROR')
  | ('PROCESSING' | 'EFFECTIVE' | 'ERROR');

/** Why a Pix or TED failed, with the codes of the SPI. */
export type PixFailure = { code: string; description: string };

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
}

export function isFinalTransfer({ status }: Pick<Transfer, 'status'>): boolean {
  return ['PIX_EFFECTIVE', 'PIX_ERROR', 'EFFECTIVE', 'ERROR'].includes(status);
}

/** `AC06` is the example that the real service publishes; all are codes of ISO 20022. */
export const pixFailures = {
  accountBlocked: { code: 'AC06', description: 'A conta do recebedor está bloqueada.' },
  accountUnknown: { code: 'AC03', description: 'A conta do recebedor não existe.' },
  notProcessed: { code: 'ED05', description: 'O Pix não foi processado.' },
  amountRefused: { code: 'AM02', description: 'A conta do recebedor não comporta o valor.' },
} as const satisfies Record<string, PixFailure>;
