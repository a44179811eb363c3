// The limits that no setting changes, and what their refusals say. Those that an operator sets are
// in settings/request-limit-settings.ts.

/** What may be open or under way at once in one process. */
export interface OpenLimit {
  most: number;
  /** Without a refusal, a caller waits or does something else. */
  refusal?: { says: string; retryAfterSeconds: number };
}

const ofAccount = (most: number, what: string): OpenLimit => {
  const says = `An account can have at most ${most} ${what}. Retry when one ends.`;
  return { most, refusal: { says, retryAfterSeconds: 10 } };
};

export const openLimits = {
  exportFiles: ofAccount(4, 'open export files'),
  uploads: ofAccount(8, 'uploads in progress'),
  channelTests: ofAccount(2, 'test messages under way'),
  endpointTests: ofAccount(2, 'test events under way'),
  // Of a host: one with many slow endpoints must not occupy the whole process.
  deliveries: { most: 50 },
  relays: { most: 50 },
  // Of all addresses together.
  heldFailures: {
    most: 1_000,
    refusal: { says: 'Too many requests fail to authenticate.', retryAfterSeconds: 1 },
  },
} satisfies Record<string, OpenLimit>;

/** Failed authentications of an address that get their response at once, per second. */
export const failuresPerSecond = 10;

/** What all processes share: at first `burst`, and one more after each `refillSeconds`. */
export interface AttemptLimit {
  burst: number;
  refillSeconds: number;
}

/** Attempts to sign in: from one address for one e-mail, of one address, and for one e-mail. */
export const signInLimits = {
  pair: { burst: 6, refillSeconds: 60 },
  address: { burst: 30, refillSeconds: 10 },
  email: { burst: 30, refillSeconds: 60 },
} satisfies Record<string, AttemptLimit>;

/** The least time between two tests of one endpoint or channel. */
export const testInterval = { ms: 10_000, seconds: 10 };

/** Passwords that a process compares: those at work, in a lane of the queue, and of one source. */
export const passwordLimits = { concurrent: 2, waiting: 40, waitingPerSource: 8 };
