// Every key of PostgreSQL's advisory locks that this project takes, so that no two locks share a
// key. A lock with two keys has the account id as its second key, where nothing else is said. A
// one-key lock and a two-key lock never conflict in PostgreSQL. Work on an account that one process
// does at a time has a lease instead (src/platform/postgres/leases): a lock that lasts longer than
// a transaction would hold a connection.
export const advisoryLocks = {
  // Locks with two keys.
  /** Taken by the trigger match_covers_its_line. */
  coverLine: 0x434f4e02,
  /** Requests for outgoing money are compared one after the other. */
  possibleDuplicates: 0x434f4e04,
  /** Its second key is a hash of the request. Requests that share it by chance wait in turn. */
  sameRequest: 0x434f4e07,
  /** What has a quota is counted before one more of the account is added. */
  addWithinQuota: 0x434f4e09,
  /** Taken by triggers of breaks and of the steps of their severity. */
  totalBreaks: 0x434f4e0a,
  /** Taken by triggers of accounts and of the rights of operators; its second key is 0. */
  logRights: 0x434f4e0b,
  // Locks with one key.
  /** Prisma's own key: `prisma migrate` and `applyMigrations` wait for each other. */
  migrate: 72_707_369,
  /** Processes that start at once create the queue's schema one after the other. */
  prepareQueue: 7_270_736_902,
  /** Shared by the processes of an embedded server; the last of them stops it. */
  useEmbeddedPostgres: 7_270_736_901,
  openSandboxAccounts: 7_270_736_990,
  numberSandboxAccounts: 7_270_736_991,
} as const;
