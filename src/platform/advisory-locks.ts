// Every number of PostgreSQL's advisory locks that is taken in a database of ours, so that no two meet. Those of two
// halves have the account as their second; the others stand alone, and PostgreSQL keeps the two sorts apart.
export const advisoryLocks = {
  // Of two halves.
  syncStatement: 0x434f4e01,
  /** Taken by the trigger match_covers_its_line. */
  coverLine: 0x434f4e02,
  advanceBulk: 0x434f4e03,
  possibleDuplicates: 0x434f4e04,
  runReconciliation: 0x434f4e05,
  closeDays: 0x434f4e06,
  // Of one number.
  /** Prisma's own: its CLI and our runner of migrations wait for each other. */
  migrate: 72_707_369,
  /** Processes that start at once make the queue's schema one after the other. */
  prepareQueue: 7_270_736_902,
  useEmbeddedPostgres: 7_270_736_901,
  openSandboxAccounts: 7_270_736_990,
  numberSandboxAccounts: 7_270_736_991,
} as const;
