// Recognises errors that say that the database cannot work at present, whichever library reports
// them: such a request may be repeated. Errors of a statement itself are bugs.

/** SQLSTATE: connection lost, shutting down, out of resources, read-only. */
const sqlStates = /^(08...|57P0[1235]|53...|25006)$/;
/** Of sockets, of Prisma, and of its driver adapter. */
const otherCodes = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'],
  ...['EHOSTUNREACH', 'ENETUNREACH'],
  ...['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2037'],
  ...['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections'],
]);
/** Errors without a code, of the client and its pool. */
const messages =
  /timeout exceeded when trying to connect|Connection terminated|not queryable|Unable to start a transaction/;

/** SQLSTATE of a connection that the server refuses: the user, the password or the database. */
const refusedConnection = /^(28...|3D000)$/;

/** A program cannot work on its database. The message says why, and what an operator can do. */
export class UnusableDatabase extends Error {
  override readonly name = 'UnusableDatabase';
}

interface Reported {
  code?: unknown;
  originalCode?: unknown;
  kind?: unknown;
  message?: unknown;
  cause?: unknown;
  meta?: { driverAdapterError?: unknown };
  errors?: unknown;
}

/** Whether an error, or what caused it, says that the database is away or cannot write. */
export function isDatabaseUnavailable(error: unknown): boolean {
  const seen = new Set<unknown>();
  const isCause = (one: unknown): boolean => {
    if (typeof one !== 'object' || one === null || seen.has(one)) return false;
    seen.add(one);
    const { code, originalCode, kind, message, cause, meta, errors } = one as Reported;
    if ([code, originalCode, kind].some(isUnavailableCode)) return true;
    if (typeof message === 'string' && messages.test(message)) return true;
    // A connection to several addresses reports the error of each.
    const attempts: unknown[] = Array.isArray(errors) ? errors : [];
    return [cause, meta?.driverAdapterError, ...attempts].some(isCause);
  };
  return isCause(error);
}

function isUnavailableCode(code: unknown): boolean {
  return typeof code === 'string' && (otherCodes.has(code) || sqlStates.test(code));
}

/** Runs the work of an operator's program. Throws UnusableDatabase where the database is away. */
export async function withReachableDatabase<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (!isDatabaseUnavailable(cause) && !isConnectionRefused(cause)) throw cause;
    throw new UnusableDatabase(
      `The database cannot be reached or cannot write: ${reasonOf(cause)}. Check that PostgreSQL ` +
        `runs and that DATABASE_URL is its address, then run this command again.`,
      { cause },
    );
  }
}

function isConnectionRefused(error: unknown): boolean {
  const { code } = error as Reported;
  return typeof code === 'string' && refusedConnection.test(code);
}

/** The last line of the message: Prisma's begin with the statement. */
function reasonOf(error: unknown): string {
  const { message, code, errors } = error as Reported;
  // A connection to several addresses has no message of its own.
  const [first] = Array.isArray(errors) ? (errors as unknown[]) : [];
  if (first !== undefined) return reasonOf(first);
  const text = typeof message === 'string' ? message.trim() : '';
  return text.split('\n').at(-1)?.replace(/\.$/, '') || String(code);
}
