// Connects Prisma to a pool of PostgreSQL connections without any setting of a session: the pool
// may stand behind a transaction-mode pooler, which gives each transaction another session. Times
// carry their offset in both directions, and each transaction sets its own limits.
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { TransactionConnection } from './transaction-connection.js';

export interface TransactionLimits {
  /** The server ends a statement of a transaction after this time. */
  statementTimeoutMs: number;
  /** The server ends the connection of a transaction that is idle for this time. */
  idleTimeoutMs: number;
}

/**
 * A connection of the pool that is lost while nobody listens ends no process: its next statement
 * fails, and the pool opens another one. The server's last message may arrive together with the
 * answer before it. The pool has then given the connection to a caller who has had no time to
 * listen, and an error without a listener would end the process.
 */
export function surviveLostConnections(pool: pg.Pool): void {
  pool.on('connect', (client) => client.on('error', () => undefined));
}

/** Begins a transaction with its limits, as one message, so that the limits cost no round trip. */
export const beginTransaction = (limits: TransactionLimits): string =>
  `BEGIN; SET LOCAL statement_timeout = ${limits.statementTimeoutMs}; ` +
  `SET LOCAL idle_in_transaction_session_timeout = ${limits.idleTimeoutMs}`;

type Adapter = Awaited<ReturnType<PrismaPg['connect']>>;
type Query = Parameters<Adapter['queryRaw']>[0];
type ArgType = Query['argTypes'][number];

/**
 * Prisma's own adapter drops the offset of times that it reads and sends times without one. Both
 * are right in sessions in UTC only. `onTransaction` gets the connection of each transaction, where
 * the transaction is begun.
 */
export function prismaAdapter(
  pool: pg.Pool,
  limits: TransactionLimits,
  onTransaction: (connection: TransactionConnection) => void = () => undefined,
) {
  const adapterFactory = new PrismaPg(poolForPrisma(pool, limits, onTransaction));
  const { adapterName } = adapterFactory;
  const connect = async (): Promise<Adapter> => {
    const adapter = sendOffsets(await adapterFactory.connect());
    const startTransaction = adapter.startTransaction.bind(adapter);
    adapter.startTransaction = async (level) => sendOffsets(await startTransaction(level));
    return adapter;
  };
  return { provider: 'postgres' as const, adapterName, connect };
}

function sendOffsets<Target extends Pick<Adapter, 'queryRaw' | 'executeRaw'>>(target: Target) {
  const [queryRaw, executeRaw] = [target.queryRaw.bind(target), target.executeRaw.bind(target)];
  target.queryRaw = (query) => queryRaw(withOffsets(query));
  target.executeRaw = (query) => executeRaw(withOffsets(query));
  return target;
}

/** Types that have no offset: Prisma's adapter formats them as text. */
const withoutOffset = ['DATE', 'TIME', 'TIMETZ'];

function withOffsets({ sql, args, argTypes }: Query): Query {
  const types = argTypes.map((type) =>
    type.scalarType === 'datetime' && !withoutOffset.includes(type.dbType ?? '')
      ? { ...type, scalarType: 'string' as const }
      : type,
  );
  return { sql, args: args.map((arg, index) => timeText(arg, argTypes[index])), argTypes: types };
}

function timeText(value: unknown, type: ArgType | undefined): unknown {
  if (Array.isArray(value)) return value.map((item) => timeText(item, type));
  const isTime = value instanceof Date || (typeof value === 'string' && isOffsetTime(type));
  return isTime && !withoutOffset.includes(type?.dbType ?? '')
    ? new Date(value).toISOString()
    : value;
}

const isOffsetTime = (type: ArgType | undefined): boolean => type?.scalarType === 'datetime';

const { TIMESTAMPTZ } = pg.types.builtins;
/** The type timestamptz[], which the package does not name. */
const timestamptzArray = 1185 as typeof TIMESTAMPTZ;

/** The instant as text in UTC, as Prisma expects it; `infinity` stays as it is. */
const utcText = (value: unknown): unknown =>
  value instanceof Date ? value.toISOString().replace('Z', '+00:00') : value;

const utcParsers = new Map<number, (text: string) => unknown>([
  [
    TIMESTAMPTZ,
    // Most sessions are in UTC, and most of the time of this parser would go into a Date.
    (text) =>
      text.endsWith('+00')
        ? `${text.replace(' ', 'T')}:00`
        : utcText(pg.types.getTypeParser(TIMESTAMPTZ)(text)),
  ],
  [
    timestamptzArray,
    (text) => (pg.types.getTypeParser(timestamptzArray)(text) as unknown[]).map(utcText),
  ],
]);

interface PrismaQuery extends pg.QueryConfig {
  types: pg.CustomTypesConfig;
}

const withUtcParsers = (query: PrismaQuery): PrismaQuery => ({
  ...query,
  types: {
    getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
      (format === 'text' && utcParsers.get(oid)) ||
      query.types.getTypeParser(oid, format)) as never,
  },
});

/** The parts of the pool that Prisma's adapter uses. */
function poolForPrisma(
  pool: pg.Pool,
  limits: TransactionLimits,
  onTransaction: (connection: TransactionConnection) => void,
): pg.Pool {
  const begin = beginTransaction(limits);
  return override(pool, {
    query: (query: PrismaQuery) => pool.query(withUtcParsers(query)),
    connect: async () => {
      const client = await pool.connect();
      const connection = new TransactionConnection(client);
      onTransaction(connection);
      return override(client, {
        query: (query: PrismaQuery) => {
          if (query.text === 'COMMIT' || query.text === 'ROLLBACK') connection.end();
          return connection.send(query.text === 'BEGIN' ? begin : withUtcParsers(query));
        },
        release: (error?: Error | boolean) => {
          connection.end();
          client.release(error ?? connection.isBroken);
        },
      });
    },
  });
}

/** The object with other methods in place of some of its own. */
function override<Target extends object>(target: Target, methods: Record<string, unknown>): Target {
  return new Proxy(target, {
    get: (_, name) => {
      const value: unknown = methods[name as string] ?? Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
