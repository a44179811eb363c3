// Every key of PostgreSQL's advisory locks that this project takes, so that no two locks share a
// key. A lock with two keys has the account id as its second key. A one-key lock and a two-key lock
// never conflict in PostgreSQL.
export const advisoryLocks = {
  // Locks with two keys.
  syncStatement: 0x434f4e01,
  /** Taken by the trigger match_covers_its_line. */
  coverLine: 0x434f4e02,
  issueBulkRows: 0x434f4e03,
  possibleDuplicates: 0x434f4e04,
  runReconciliation: 0x434f4e05,
  closeDays: 0x434f4e06,
  // Locks with one key.
  /** Prisma's own key: `prisma migrate` and `applyMigrations` wait for each other. */
  migrate: 72_707_369,
  /** Processes that start at once create the queue's schema one after the other. */
  prepareQueue: 7_270_736_902,
  useEmbeddedPostgres: 7_270_736_901,
  openSandboxAccounts: 7_270_736_990,
  numberSandboxAccounts: 7_270_736_991,
} as const;
