// Statements that are sent often get a name, under which PostgreSQL keeps their plan: most of its
// time for one payment would go into planning the same statements again. A name belongs to a
// session, so there are none where a pooler may give each transaction another session.
import { createHash } from 'node:crypto';
import pg from 'pg';

/** A statement that is sent less often is not worth the memory of its plan. */
const sendsBeforeName = 5;
/** The most names of a process, and so the most plans of each of its sessions. */
const maxNames = 300;
const maxCounted = 2_000;
/**
 * A plan that is kept expects few rows. For longer arrays PostgreSQL plans each time: joined one
 * row after the other, a thousand rows cost a million comparisons.
 */
const maxElements = 16;
/**
 * PostgreSQL renews a plan when the statistics of its tables change. A table that grows fast may
 * have a plan from when it was small: no session keeps one longer than this.
 */
const planLifetimeSeconds = 300;

/** The names of statements by their text. */
export class StatementNames {
  private readonly names = new Map<string, string>();
  private readonly sends = new Map<string, number>();

  /** Counts the statement. An empty name means that it is planned each time. */
  nameOf(text: string, values: readonly unknown[]): string {
    if (values.some((value) => Array.isArray(value) && value.length > maxElements)) return '';
    const name = this.names.get(text);
    if (name !== undefined) return name;
    if (this.names.size === maxNames) return '';
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

const processNames = new StatementNames();

export const statementNameOf = (text: string, values: readonly unknown[]): string =>
  processNames.nameOf(text, values);

/** invalid_sql_statement_name, duplicate_prepared_statement, feature_not_supported. */
const lostPlanCodes = new Set(['26000', '42P05', '0A000']);

/** A connection that sends names only if its session is its own. */
class NamingClient extends pg.Client {
  private mayName = false;

  constructor(config?: string | pg.ClientConfig) {
    super(config);
    // The session is not its own after all, or a migration changed what a statement returns: its
    // plans are of no use any more.
    this.connection.on('errorMessage', ({ code }: { code?: string }) => {
      if (code !== undefined && lostPlanCodes.has(code)) this.mayName = false;
    });
  }

  override query = ((query: unknown, ...rest: unknown[]) => {
    const isNamed = typeof query === 'object' && query !== null && 'name' in query;
    const sent = isNamed && !this.mayName ? { ...query, name: '' } : query;
    return (super.query as (...parameters: unknown[]) => unknown)(sent, ...rest);
  }) as pg.Client['query'];

  /** A pooler shows the process of its own, and not that of the server which runs a statement. */
  async findOwnSession(): Promise<void> {
    const { rows } = await this.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    // The types of the package leave this property out.
    const { processID } = this as unknown as { processID: number | null };
    this.mayName = rows[0]?.pid === processID;
  }
}

/** The options of a pool whose connections send names. */
export const namingConnections: pg.PoolConfig = {
  Client: NamingClient,
  // The pool waits for the result, which the types of the package leave out.
  onConnect: ((client: NamingClient) => client.findOwnSession()) as unknown as () => void,
  maxLifetimeSeconds: planLifetimeSeconds,
};
