// The service's database: whether it can be reached, what it is, our rights, its migrations, the
// keys of its secrets, its space, and how far behind the bank its statements are.
import { examineKeys } from '../../access/secrets/credentials-keys.service.js';
import { findClockDifference } from '../../platform/http/health.js';
import type { Database } from '../../platform/postgres/database.service.js';
import { DiskSpace } from '../../platform/postgres/disk-space.queries.js';
import { checkServiceDatabase } from '../../platform/postgres/service-migrations.js';
import type { Settings } from '../../platform/settings/config.js';
import { readSyncLag } from '../../statement/lines/statement-metrics.queries.js';
import { overdueAfterIntervals } from '../../statement/lines/sync-schedule.service.js';
import { encryptedColumns } from '../encrypted-columns.js';
import { plainMessageOf } from '../exit.js';
import { hasEmbeddedDatabase, withDatabaseAt } from '../program-database.js';
import { readDatabaseFacts, readKeyAges, type DatabaseFacts } from './database-facts.queries.js';
import { failed, passed, unchecked, warned, type SetUpFinding } from './finding.js';

/** `npm run support` runs with each from this one on. */
const oldestMajor = 14;

export async function examineDatabase(settings: Settings): Promise<SetUpFinding[]> {
  if (!settings.databaseUrl && !hasEmbeddedDatabase(settings))
    return [unchecked('database', 'The first start creates the embedded PostgreSQL.')];
  try {
    return await withDatabaseAt(
      { ...settings, databaseUrl: settings.directDatabaseUrl ?? settings.databaseUrl },
      async (database, url) => {
        const facts = await readDatabaseFacts(database.sql);
        const { findings, isMigrated } = await examineMigrations(url);
        return [
          ...describeServer(facts, settings),
          ...describeRights(facts),
          ...findings,
          ...(await examineClock(database)),
          ...(await examineSpace(database)),
          ...(isMigrated ? await examineContents(database, settings) : []),
        ];
      },
    );
  } catch (error) {
    const message = plainMessageOf(error);
    if (message === null) throw error;
    const advice = 'Correct DATABASE_URL (host, port, user, password, name), or start PostgreSQL.';
    return [failed('database', message, advice)];
  }
}

function describeServer(facts: DatabaseFacts, settings: Settings): SetUpFinding[] {
  const { version, encoding, maxConnections, unsafeSettings, name } = facts;
  const major = Math.floor(version / 10_000);
  const findings = [passed('database', `PostgreSQL ${major} answers, database ${name}.`)];
  if (major < oldestMajor)
    findings.push(
      warned(
        'database',
        `PostgreSQL is version ${major}: Concilia is tested with ${oldestMajor} and later.`,
        'Use the newest PostgreSQL.',
      ),
    );
  if (encoding !== 'UTF8')
    findings.push(
      failed('database', `Its encoding is ${encoding}.`, 'Create it with ENCODING UTF8.'),
    );
  if (unsafeSettings.length > 0)
    findings.push(
      warned(
        'database',
        `A crash of the server loses what was committed: ${unsafeSettings.join(', ')} off.`,
        'Set them to on in postgresql.conf.',
      ),
    );
  findings.push(...describeStandbys(facts));
  const { poolSize, queuePoolSize } = settings.databaseLimits;
  const needed = poolSize + (settings.redisUrl ? 0 : queuePoolSize);
  if (needed > maxConnections)
    findings.push(
      failed(
        'queue',
        `One process opens up to ${needed} connections; max_connections is ${maxConnections}.`,
        'Raise max_connections, or lower DATABASE_POOL_SIZE and QUEUE_POOL_SIZE.',
      ),
    );
  return findings;
}

function describeStandbys({ standbys, waitsForStandby }: DatabaseFacts): SetUpFinding[] {
  if (standbys === 0) return [];
  return waitsForStandby
    ? [passed('database', 'A commit waits until a standby has it.')]
    : [
        warned(
          'database',
          'A standby that is promoted may lack the last commits, with the keys of what was sent.',
          "Set synchronous_standby_names to 'ANY 1 (…)' of two standbys, and synchronous_commit " +
            'to on. Until then, run concilia restored on a promoted standby before any start.',
        ),
      ];
}

function describeRights(facts: DatabaseFacts): SetUpFinding[] {
  const { user, name, mayCreateSchema, mayCreateTables, lackingExtensions } = facts;
  const findings: SetUpFinding[] = [];
  if (!mayCreateSchema)
    findings.push(
      failed(
        'database',
        `The user ${user} lacks the right CREATE on the database: no extension, no queue.`,
        `As its owner: GRANT CREATE ON DATABASE "${name}" TO "${user}".`,
      ),
    );
  if (!mayCreateTables)
    findings.push(
      failed(
        'database',
        `The user ${user} lacks the right CREATE on the schema public.`,
        `As its owner: GRANT CREATE ON SCHEMA public TO "${user}".`,
      ),
    );
  if (lackingExtensions.length > 0)
    findings.push(
      failed(
        'database',
        `The server lacks the extensions ${lackingExtensions.join(', ')}.`,
        'Install the package postgresql-contrib of the server.',
      ),
    );
  return findings;
}

async function examineMigrations(
  url: string,
): Promise<{ findings: SetUpFinding[]; isMigrated: boolean }> {
  try {
    await checkServiceDatabase(url);
    return { findings: [passed('database', 'It has all migrations.')], isMigrated: true };
  } catch (error) {
    const message = plainMessageOf(error);
    if (message === null) throw error;
    const finding = failed('database', message, 'Run concilia migrate.');
    return { findings: [finding], isMigrated: false };
  }
}

async function examineClock(database: Database): Promise<SetUpFinding[]> {
  const difference = await findClockDifference(() => database.now());
  return difference === null
    ? [passed('clocks', "This machine's clock and PostgreSQL's agree.")]
    : [failed('clocks', difference, 'Set both machines to network time (NTP).')];
}

async function examineSpace(database: Database): Promise<SetUpFinding[]> {
  if (await new DiskSpace(database.pool).isThere()) return [];
  const advice = 'Free or add space on the server of PostgreSQL.';
  return [failed('disk', 'The disk of PostgreSQL is full.', advice)];
}

async function examineContents(database: Database, settings: Settings): Promise<SetUpFinding[]> {
  const { inUse, currentId, problems } = await examineKeys(database, settings, encryptedColumns);
  const findings = problems.map((problem) =>
    failed('credentials', problem, 'Set CREDENTIALS_KEY to the key of this database.'),
  );
  const former = inUse.filter((id) => id !== currentId);
  if (problems.length === 0 && former.length > 0)
    findings.push(
      warned(
        'credentials',
        `Former keys still encrypt values: ${former.join(', ')}.`,
        'Run concilia reencrypt, then remove them from CREDENTIALS_OTHER_KEYS.',
      ),
    );
  if (findings.length === 0) findings.push(passed('credentials', 'CREDENTIALS_KEY opens all.'));
  const { old, ending } = await readKeyAges(database.sql);
  if (old > 0)
    findings.push(
      warned('credentials', `${old} API keys are older than a year.`, 'concilia keys rotate'),
    );
  if (ending > 0)
    findings.push(
      warned(
        'credentials',
        `${ending} rotated API keys are refused within a week.`,
        'Give their holders the successors.',
      ),
    );
  return [...findings, ...(await examineSync(database, settings))];
}

async function examineSync(
  { prisma }: Database,
  { syncIntervalMs: configuredMs }: Settings,
): Promise<SetUpFinding[]> {
  const lag = await readSyncLag(prisma, { intervals: overdueAfterIntervals, configuredMs });
  if (!lag) return [];
  const { live, stopped, reconcileOnly, behind, oldestSeconds, keyRefused } = lag;
  const total = live + stopped + reconcileOnly;
  if (keyRefused.length > 0)
    return [
      failed(
        'bank',
        `The bank refuses the keys of these accounts: ${keyRefused.join(', ')}.`,
        'Correct BANK_API_KEY, or the account by PATCH /v1/accounts/{slug}.',
      ),
    ];
  if (behind === 0) return [passed('bank', `The statements of ${total} accounts are up to date.`)];
  return [
    failed(
      'bank',
      `${behind} of ${total} accounts are behind the bank, one by ${Math.round(oldestSeconds)} s.`,
      'Start a process with the roles worker and scheduler; concilia runs start names the error.',
    ),
  ];
}
