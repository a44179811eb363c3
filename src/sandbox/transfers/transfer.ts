import type { BankAccount, Party } from '../accounts/party.js';

export type TransferStatus =
  'PIX_PROCESSING' | 'PIX_WAITING_SPI_RESPONSE' | 'PIX_EFFECTIVE' | 'PIX_ERROR' | 'EFFECTIVE';

/** Why a Pix did not arrive, in the words of the SPI. */
export interface PixFailure {
  code: string;
  description: string;
}

/** Money that an account sent. */
export interface Transfer {
  id: string;
  accountId: number;
  type: 'PIX_KEY' | 'PIX_MANUAL' | 'INTERNAL';
  status: TransferStatus;
  amountCents: bigint;
  description: string | null;
  /** Of transfers between accounts alone. */
  externalId: string | null;
  /** Null on transfers between accounts. */
  endToEndId: string | null;
  idempotencyKey: string;
  payer: Party;
  beneficiary: Party;
  /** Null when the beneficiary is at another institution, or nobody. */
  beneficiaryAccountId: number | null;
  /** Of the debit on the payer's statement; null until it stands there. */
  transactionNsu: bigint | null;
  /** Whether the amount is held on the payer's account. */
  isBlocked: boolean;
  /** What it ends with, known from its acceptance on and told at its end. */
  error: PixFailure | null;
  createdAt: Date;
  updatedAt: Date;
}

/** What an account sends, whichever way. */
export interface Order {
  payer: BankAccount;
  amountCents: bigint;
  description: string | null;
  idempotencyKey: string;
}

export function isFinal({ status }: Pick<Transfer, 'status'>): boolean {
  return status === 'PIX_EFFECTIVE' || status === 'PIX_ERROR' || status === 'EFFECTIVE';
}

/** `AC06` is the example that the real service publishes; the others are of the same list (ISO 20022). */
export const pixFailures = {
  accountBlocked: { code: 'AC06', description: 'A conta do recebedor está bloqueada.' },
  accountUnknown: { code: 'AC03', description: 'A conta do recebedor não existe.' },
  amountRefused: { code: 'AM02', description: 'A conta do recebedor não comporta o valor.' },
} as const satisfies Record<string, PixFailure>;
