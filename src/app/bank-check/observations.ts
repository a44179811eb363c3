// What the check saw of a bank. The questions write it, and `habits.ts` concludes from it.

/** The response to one request. Times are of the monotonic clock. */
export interface CheckAnswer {
  /** Null where no response came. */
  status: number | null;
  /** The body as JSON with exact numbers; undefined where it is none. */
  json: unknown;
  startedAtMs: number;
}

/** A line of the statement, without what the check does not need. */
export interface SeenLine {
  nsu: bigint;
  isCredit: boolean | null;
  amountCents: bigint;
  correlationId: string | null;
  externalId: string | null;
  endToEndId: string | null;
  originalEndToEndId: string | null;
}

/** A line that was not there when the check began. */
export interface NewLine extends SeenLine {
  /** The number of the reading of the statement that showed the line first. */
  reading: number;
  seenAtMs: number;
}

/** What the check asked the bank to do, which should show on the statement as one line. */
export interface Effect {
  kind: 'payment' | 'transfer' | 'refund';
  isCredit: boolean;
  /** No two effects of a check have the same. */
  amountCents: bigint;
  correlationId: string | null;
  externalId: string | null;
  answer: CheckAnswer;
}

export interface PageObservation {
  /** The lines of each page that was read, in its order. */
  pages: bigint[][];
  cap: CapObservation | null;
}

export interface CapObservation {
  /** The `limit` that was requested, and how many lines came. */
  requested: number;
  lines: number;
  /** How many lines came when the same page was requested again, at the end. */
  linesAgain: number;
  /** Whether a second page of `lines` lines showed one that the first page lacks. */
  hasMore: boolean;
  /** The largest `limit` that the bank takes, where it refuses larger ones. */
  largestTaken: number | null;
}

export interface RateObservation {
  /** Requests that the bank refused at first, when they came at once. */
  refused: number;
  /** What was answered in the time after that, while more requests came than the bank takes. */
  accepted: number;
  /** What was refused in that time. Without it, the check was too slow to reach the limit. */
  refusedInWindow: number;
  windowMs: number;
}

export interface Repeated {
  first: CheckAnswer;
  repeat: CheckAnswer;
}

export interface WebhookObservation {
  /** The correlationIds of the payments that must be reported. */
  expected: string[];
  /** Authentic webhooks only. */
  arrivals: { correlationId: string; delayMs: number }[];
}

/** Null is what was not asked. */
export interface Observations {
  statement: PageObservation;
  rate: RateObservation | null;
  /** Lines from before the check. */
  history: SeenLine[];
  effects: Effect[];
  newLines: NewLine[];
  /** How many readings of the statement were made before the last effect. */
  earlyReadings: number;
  repeatedTransfer: Repeated | null;
  repeatedCharge: Repeated | null;
  transferById: CheckAnswer | null;
  transferByExternalId: CheckAnswer | null;
  chargeById: CheckAnswer | null;
  simulations: CheckAnswer[];
  webhooks: WebhookObservation | null;
}

export const isSuccess = ({ status }: CheckAnswer) =>
  status !== null && status >= 200 && status < 300;
