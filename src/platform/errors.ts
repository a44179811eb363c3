// Faults: one error type whose code decides the HTTP status. Outcomes are returned, bugs are `invariant`;
// only what a caller cannot go on from is thrown as a fault.
const faults = {
  validation_failed: 400,
  malformed_body: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  possible_duplicate: 409,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  rule_broken: 422,
  rate_limited: 429,
  bank_unreachable: 502,
  bank_refused: 502,
  not_ready: 503,
  bank_timeout: 504,
} as const satisfies Record<string, number>;

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
    return faults[this.code];
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
