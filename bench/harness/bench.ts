// What a bench declares: who takes part, what is compared, and what must hold afterwards.

export interface Size {
  /** A few seconds in all: the bench is kept alive, its figures mean nothing. */
  isShort: boolean;
  /** How many statement lines the larger book has; null for the default of the bench. */
  lines: number | null;
}

/** A goal for the median of a contestant: its ratio to the yardstick's, or the figure itself. */
export interface Goal {
  of: string;
  /** The yardstick; without one, `atLeast` and `atMost` are in the unit of the bench. */
  against?: string;
  atLeast?: number;
  atMost?: number;
}

export interface Contest {
  /**
   * Each runs one round and returns its figure in the unit of the bench. Rounds are interleaved,
   * in turning order.
   */
  contestants: Record<string, () => Promise<number>>;
  /** Called after the rounds. Throws when a row is lost or doubled. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export interface Bench {
  /** The id of the goal, such as `G1`. */
  id: string;
  title: string;
  /** The unit of every figure, such as `requests/s` or `ms`. */
  unit: string;
  goals: Goal[];
  /** At least five, unless one round is a whole run of minutes. */
  rounds?: number;
  /**
   * Opens servers and data on the PostgreSQL of `TEST_DATABASE_URL`, whose commits are durable. The
   * test support (`testDatabase`, `ConciliaProcess`) uses it too.
   */
  open(size: Size): Promise<Contest>;
}
