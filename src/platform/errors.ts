// Faults: one error type whose code decides the HTTP status and whether a job may try again. Outcomes are
// returned, bugs are `invariant`; only what a caller cannot go on from is thrown as a fault.
const faults = {
  validation_failed: { status: 400, retry: 'never' },
  malformed_body: { status: 400, retry: 'never' },
  idempotency_key_missing: { status: 400, retry: 'never' },
  unauthenticated: { status: 401, retry: 'never' },
  forbidden: { status: 403, retry: 'never' },
  not_found: { status: 404, retry: 'never' },
  conflict: { status: 409, retry: 'never' },
  possible_duplicate: { status: 409, retry: 'never' },
  payload_too_large: { status: 413, retry: 'never' },
  unsupported_media_type: { status: 415, retry: 'never' },
  idempotency_key_reused: { status: 422, retry: 'never' },
  rule_broken: { status: 422, retry: 'never' },
  rate_limited: { status: 429, retry: 'later' },
  bank_unreachable: { status: 502, retry: 'later' },
  bank_refused: { status: 502, retry: 'later' },
  not_ready: { status: 503, retry: 'later' },
  bank_timeout: { status: 504, retry: 'later' },
} as const satisfies Record<string, { status: number; retry: 'never' | 'later' }>;

export type FaultCode = keyof typeof faults;

export interface FaultDetails {
  /** JSON path → messages, for the caller. */
  errors?: Record<string, string[]>;
  /** A sentence for the caller; never holds secrets or personal data. */
  public?: string;
  /** A reason that machines read; the fault's own code where left out. */
  reason?: string;
  /** For the log alone; never holds secrets or personal data. */
  internal?: string;
  cause?: unknown;
  headers?: Record<string, string>;
}

/** A fault: answered with the status of its code, in the contract's body. */
export class AppError extends Error {
  override readonly name = 'AppError';

  constructor(
    readonly code: FaultCode,
    readonly details: FaultDetails = {},
  ) {
    super(details.internal ?? details.public ?? code, { cause: details.cause });
  }

  get status(): number {
    return faults[this.code].status;
  }

  get retry(): 'never' | 'later' {
    return faults[this.code].retry;
  }
}

/** Holds what must be true whatever comes in; a failure is a bug of ours and is loud. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`Invariant broken: ${message}`);
}

/** Closes a switch over a union: the compiler proves that no case is left. */
export function unreachable(value: never): never {
  throw new Error(`Invariant broken: unexpected ${String(value)}`);
}
