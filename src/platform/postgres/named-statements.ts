// Statements that are sent often get a name, under which PostgreSQL keeps their plan: most of its
// time for one payment would go into planning the same statements again. A name belongs to a
// session, so there are none where a pooler may give each transaction another session.
import { createHash } from 'node:crypto';
import type { Duplex } from 'node:stream';
import pg from 'pg';

/** A statement that is sent less often is not worth the memory of its plan. */
const sendsBeforeName = 5;
/** The most names of a process, and so the most plans of each of its sessions. */
const maxNames = 300;
const maxCounted = 2_000;
/**
 * A plan that is kept expects few rows. For longer arrays, and longer texts, which may be JSON,
 * PostgreSQL plans each time: joined one row after the other, a thousand rows cost a million
 * comparisons.
 */
const maxElements = 32;
const maxLength = 2_000;
/**
 * A condition that a parameter can switch off. PostgreSQL looks rows up by it only where it knows
 * the value.
 */
const optionalCondition = /\$\d+(::\w+)? IS NULL OR /;
/** Such statements have no plan, and the first of a transaction must be the first. */
const transactionControl = /^\s*(BEGIN|SET|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b/i;
/**
 * How long a session keeps a plan, and how long a new one does. A table that grows fast may have a
 * plan from when it was small, and was read whole; PostgreSQL renews it only when the statistics
 * change. Each time of a session is twice the last, because what it does first may be what fills
 * the tables.
 */
const maxPlanLifetimeMs = 15_000;
const firstPlanLifetimeMs = 1_000;

/** The names of statements by their text. */
export class StatementNames {
  private readonly names = new Map<string, string>();
  private readonly sends = new Map<string, number>();

  /** Counts the statement. An empty name means that it is planned each time. */
  nameOf(text: string, values: readonly unknown[]): string {
    if (values.some((value, at) => mayHoldManyRows(value) && !isOpaque(text, at))) return '';
    const name = this.names.get(text);
    if (name !== undefined) return name;
    if (this.names.size === maxNames) return '';
    if (optionalCondition.test(text) || transactionControl.test(text)) return '';
    const sends = (this.sends.get(text) ?? 0) + 1;
    if (sends > sendsBeforeName) return this.add(text);
    if (this.sends.size === maxCounted) this.sends.clear();
    this.sends.set(text, sends);
    return '';
  }

  private add(text: string): string {
    this.sends.delete(text);
    // The same text has the same name in every process: no session can run another one under it.
    const name = createHash('sha256').update(text).digest('base64url');
    this.names.set(text, name);
    return name;
  }
}

function mayHoldManyRows(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > maxElements;
  return (typeof value === 'string' || Buffer.isBuffer(value)) && value.length > maxLength;
}

/**
 * Of how many rows such a JSON text has, or an array or a list of texts in a query of its own,
 * PostgreSQL expects the same, whether it knows the value or not: a plan that is kept is the one
 * that it would make.
 */
function isOpaque(text: string, at: number): boolean {
  const parameter = `$${at + 1}::`;
  return (
    text.includes(`jsonb_to_recordset(${parameter}jsonb)`) ||
    text.includes(`(SELECT ${parameter}`) ||
    text.includes(`(SELECT string_to_array(${parameter}text`)
  );
}

const processNames = new StatementNames();

export const statementNameOf = (text: string, values: readonly unknown[]): string =>
  processNames.nameOf(text, values);

/**
 * invalid_sql_statement_name, duplicate_prepared_statement, feature_not_supported: the session was
 * not its own after all, or a migration changed what a statement returns. Its connection is closed.
 */
export const lostPlanCodes: ReadonlySet<string> = new Set(['26000', '42P05', '0A000']);

/** A connection that sends names only if its session is its own. */
class NamingClient extends pg.Client {
  private mayName = false;
  private plansSince = 0;
  private planLifetimeMs = firstPlanLifetimeMs;
  private isCorked = false;

  override query = ((query: unknown, ...rest: unknown[]) => {
    const send = super.query.bind(this) as (...parameters: unknown[]) => unknown;
    this.sendTogether();
    if (typeof query !== 'object' || query === null || !('name' in query) || query.name === '')
      return send(query, ...rest);
    if (!this.mayName) return send(withoutName(query), ...rest);
    if (performance.now() - this.plansSince > this.planLifetimeMs) {
      this.plansSince = performance.now();
      this.planLifetimeMs = Math.min(2 * this.planLifetimeMs, maxPlanLifetimeMs);
      // It shares the round trip. In a transaction that has failed, it fails too.
      send('DISCARD PLANS', () => undefined);
    }
    return send(query, ...rest);
  }) as pg.Client['query'];

  /** Statements that are sent at the same moment reach the server together. */
  private sendTogether(): void {
    if (this.isCorked) return;
    this.isCorked = true;
    // The types of the package leave the connection out.
    const { stream } = (this as unknown as { connection: { stream: Duplex } }).connection;
    stream.cork();
    process.nextTick(() => {
      this.isCorked = false;
      stream.uncork();
    });
  }

  /** A pooler shows the process of its own, and not that of the server which runs a statement. */
  async findOwnSession(): Promise<void> {
    const { rows } = await this.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    // The types of the package leave this property out.
    const { processID } = this as unknown as { processID: number | null };
    this.mayName = rows[0]?.pid === processID;
    this.plansSince = performance.now();
  }
}

const withoutName = (query: object): object =>
  query instanceof pg.Query ? Object.assign(query, { name: '' }) : { ...query, name: '' };

/** The options of a pool whose connections send names. */
export const namingConnections: pg.PoolConfig = {
  Client: NamingClient,
  // The pool waits for the result, which the types of the package leave out.
  onConnect: ((client: NamingClient) => client.findOwnSession()) as unknown as () => void,
};
