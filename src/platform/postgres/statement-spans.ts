// Records a span for each statement of a pool, within the spans of the work that sends them. A
// statement is named by what it does to which tables: its text is long, and its values are secret.
import { AsyncResource } from 'node:async_hooks';
import type pg from 'pg';
import { Prisma } from '../../generated/service/client.js';
import { beginSpan, isInSpan } from '../trace.js';

const tables = new Set(
  Object.values(Prisma.ModelName).map((name) =>
    name.replace(/(?<!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase(),
  ),
);
const target = /\b(INSERT INTO|UPDATE|DELETE FROM|FROM|JOIN)\s+(?:"public"\.)?"?([a-z_]+)"?/gi;
const maxTargets = 3;

const names = new Map<string, string>();
/** The texts of Prisma's client vary with the number of their values. */
const maxNames = 2_000;

/** Such as `INSERT webhook_event`: what is written, or else the first table that is read. */
export function statementName(text: string): string {
  const targets = [...text.matchAll(target)].flatMap(([, verb = '', table = '']) =>
    tables.has(table) ? [{ verb: verb.toUpperCase().replace(/ ?(INTO|FROM)$/, ''), table }] : [],
  );
  const written = targets.filter(({ verb }) => verb !== '' && verb !== 'JOIN');
  if (written.length > 0) {
    const all = new Set(written.map(({ verb, table }) => `${verb} ${table}`));
    return [...all].slice(0, maxTargets).join(', ');
  }
  const [, verb = 'SELECT'] = /^\s*(BEGIN|COMMIT|ROLLBACK|SET)\b/.exec(text) ?? [];
  return targets[0] ? `${verb} ${targets[0].table}` : verb;
}

function nameOf(query: unknown): string {
  const text = typeof query === 'string' ? query : (query as { text?: string }).text;
  if (!text) return 'statement';
  let name = names.get(text);
  if (name === undefined) {
    name = statementName(text);
    if (names.size < maxNames) names.set(text, name);
  }
  return name;
}

type Answer = (error: Error | null | undefined, ...results: unknown[]) => void;
type Callable = (...given: unknown[]) => unknown;

/** Call it before the pool has connections. */
export function recordStatements(pool: pg.Pool): void {
  const connect = pool.connect.bind(pool) as Callable;
  // A connection that another one's work has released is used in the trace of who waited for it.
  pool.connect = ((...given: unknown[]) =>
    connect(
      ...given.map((one) =>
        typeof one === 'function' ? AsyncResource.bind(one as Callable) : one,
      ),
    )) as never;
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as Callable;
    client.query = ((...given: unknown[]) => send(query, given)) as never;
  });
}

function send(query: Callable, given: unknown[]): unknown {
  const span = isInSpan() ? beginSpan(nameOf(given[0]), 'CLIENT') : null;
  if (span === null) return query(...given);
  span.set({ 'db.system.name': 'postgresql' });
  const last = given.at(-1);
  if (typeof last === 'function') {
    const answer: Answer = (error, ...results) => {
      span.end(error ?? undefined);
      (last as Answer)(error, ...results);
    };
    return query(...given.slice(0, -1), answer);
  }
  const sent = query(...given) as Promise<unknown>;
  sent.then(
    () => span.end(),
    (error: unknown) => span.end(error),
  );
  return sent;
}
