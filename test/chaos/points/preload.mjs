// Preloaded into a service, it finds the crash points of the process: each commit, each statement
// that writes outside a transaction, and each call to the bank. It appends the name of each that is
// reached to the file `reached` of CRASH_POINTS, and ends the process by SIGKILL at the first of
// the points that the file `armed` there lists: before it, or after its answer and before anybody
// has read that.
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import diagnostics from 'node:diagnostics_channel';
import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { register, syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SchedulerRegistry } from '@nestjs/schedule';
import pg from 'pg';

const mutant = process.env.CRASH_MUTANT;
if (mutant) register('./mutants.mjs', { parentURL: import.meta.url, data: mutant });

const folder = process.env.CRASH_POINTS;
const armedFile = join(folder, 'armed');
const built = dirname(process.argv[1]);
const bank = new URL(process.env.BANK_BASE_URL);
/** What runs (a request, a job, a timer), and the function of ours that uses the database. */
const context = new AsyncLocalStorage();

function reach(point, side) {
  if (side === 'before') appendFileSync(join(folder, 'reached'), `${point}\n`);
  const kill = `${side} ${point}`;
  if (!readArmed().includes(kill)) return;
  // A restarted process must find nothing armed, and whoever armed it may have changed his mind.
  try {
    renameSync(armedFile, join(folder, 'taken'));
  } catch {
    return;
  }
  writeFileSync(join(folder, 'killed'), kill);
  process.kill(process.pid, 'SIGKILL');
  for (;;); // until the signal arrives
}

function readArmed() {
  try {
    return readFileSync(armedFile, 'utf8').split('\n');
  } catch {
    return []; // nothing is armed
  }
}

const nameOf = (what, { origin = 'start', where } = context.getStore() ?? {}) =>
  [origin, where, what].filter(Boolean).join(' › ');

/** A path with its ids left out, and without its query. */
function templateOf(path) {
  const [plain] = path.split('?');
  if (plain.startsWith('/webhooks/bank')) return '/webhooks/bank';
  return plain.replace(/\/(?!v\d+(?:\/|$))[^/]*\d[^/]*/g, '/{id}');
}

/** The function of the stack nearest to the caller that belongs to a module and not to platform. */
function callingFunction() {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 50;
  const { stack } = new Error();
  Error.stackTraceLimit = limit;
  for (const line of stack.split('\n')) {
    const [, name, path] =
      /at (?:async )?(?:(\S+)(?: \[as \w+\])? \()?file:\/\/(.*):\d+:\d+/.exec(line) ?? [];
    if (!path?.startsWith(`${built}/`) || path.startsWith(`${built}/platform/`)) continue;
    if (path.startsWith(`${built}/generated/`) || !name || name.includes('<anonymous>')) continue;
    return name.replace(/^(?:Object|Function|Module)\./, '');
  }
  return undefined;
}

/** Runs `work` as the code of the function that calls us, unless that is known already. */
function fromCaller(work) {
  const outer = context.getStore() ?? {};
  return context.run({ ...outer, where: callingFunction() ?? outer.where }, work);
}

const { Database } = await import(
  pathToFileURL(join(built, 'platform/postgres/database.service.js'))
);
for (const method of ['transaction', 'sqlTransaction', 'sqlAtOnce']) {
  const run = Database.prototype[method];
  Database.prototype[method] = function (...given) {
    return fromCaller(() => run.apply(this, given));
  };
}

const { query: poolQuery, connect } = pg.Pool.prototype;
pg.Pool.prototype.query = function (...given) {
  return fromCaller(() => poolQuery.apply(this, given));
};
// The pool calls a waiting caller from the work that has released the connection.
pg.Pool.prototype.connect = function (callback) {
  return connect.call(this, callback && AsyncResource.bind(callback));
};

const write =
  /\b(?:INSERT INTO|DELETE FROM|MERGE INTO|UPDATE(?= (?:ONLY )?[\w."]+(?: (?:AS )?\w+)? SET\b)) (?:ONLY )?(?:"?public"?\.)?"?(\w+)/gi;
const tablesWrittenBy = (text) => {
  const flat = text.replace(/\s+/g, ' ');
  return [...new Set([...flat.matchAll(write)].map(([, table]) => table))].sort();
};

/** The point that a statement is, or null. The transaction of a connection is noted there. */
function pointOf(client, text) {
  if (client.connectionParameters.options?.includes('search_path=bullmq')) return null;
  if (/^BEGIN\b/i.test(text)) {
    client.crashPoint = { store: context.getStore(), hasWritten: false };
    return null;
  }
  const transaction = client.crashPoint;
  if (/^(?:COMMIT|ROLLBACK)\b/i.test(text)) {
    client.crashPoint = null;
    const commits = /^COMMIT/i.test(text) && transaction?.hasWritten;
    return commits ? nameOf('commit', transaction.store) : null;
  }
  const tables = tablesWrittenBy(text);
  if (tables.length === 0) return null;
  if (!transaction) return nameOf(`write ${tables.join(', ')}`);
  transaction.hasWritten = true;
  return null;
}

const { query } = pg.Client.prototype;
pg.Client.prototype.query = function (...given) {
  const [statement] = given;
  const text = typeof statement === 'string' ? statement : statement?.text;
  const point = typeof text === 'string' ? pointOf(this, text) : null;
  if (point === null) return query.apply(this, given);
  reach(point, 'before');
  const answer = given.findLastIndex((each) => typeof each === 'function');
  if (answer !== -1) {
    const next = given[answer];
    given[answer] = (error, result) => {
      if (!error) reach(point, 'after');
      next(error, result);
    };
    return query.apply(this, given);
  }
  const result = query.apply(this, given);
  result.then(
    () => reach(point, 'after'),
    () => undefined,
  );
  return result;
};

const { request } = http;
http.request = function (...given) {
  const [options] = given;
  if (String(options?.port) !== bank.port) return request.apply(this, given);
  const { origin } = context.getStore() ?? {};
  const point = nameOf(`call ${options.method} ${templateOf(options.path)}`, { origin });
  reach(point, 'before');
  const sent = request.apply(this, given);
  sent.prependListener('response', (response) =>
    response.prependListener('end', () => reach(point, 'after')),
  );
  return sent;
};

syncBuiltinESMExports();

diagnostics.subscribe('http.server.request.start', ({ request: { method, url } }) =>
  context.enterWith({ origin: `${method} ${templateOf(url)}` }),
);

const { JobWorkers } = await import(pathToFileURL(join(built, 'platform/queue/job-workers.js')));
const { run: runJob } = JobWorkers.prototype;
JobWorkers.prototype.run = function (job, work) {
  return context.run({ origin: `job ${job.name}` }, () => runJob.call(this, job, work));
};

const { addInterval } = SchedulerRegistry.prototype;
SchedulerRegistry.prototype.addInterval = function (name, interval) {
  const fire = interval._onTimeout;
  interval._onTimeout = () => context.run({ origin: `timer ${name}` }, fire);
  return addInterval.call(this, name, interval);
};
