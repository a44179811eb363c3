// What PostgreSQL says of itself and of our rights in it, and the ages of API keys.
import type { Reader } from '../../platform/postgres/database.service.js';

export interface DatabaseFacts {
  name: string;
  /** 180004 is 18.4. */
  version: number;
  encoding: string;
  user: string;
  mayCreateSchema: boolean;
  mayCreateTables: boolean;
  /** Of those that migrations create: not installed on the server. */
  lackingExtensions: string[];
  maxConnections: number;
  /** Settings by which a crash of the server loses what was committed. */
  unsafeSettings: string[];
  /** Servers that replicate this one, connected or not. */
  standbys: number;
  /** Whether a commit waits until a standby has it on disk. */
  waitsForStandby: boolean;
}

export async function readDatabaseFacts(db: Reader): Promise<DatabaseFacts> {
  const [facts] = await db.$queryRaw<DatabaseFacts[]>`
    SELECT current_database() AS name,
           current_setting('server_version_num')::int AS version,
           current_setting('server_encoding') AS encoding,
           current_user::text AS "user",
           has_database_privilege(current_database(), 'CREATE') AS "mayCreateSchema",
           has_schema_privilege('public', 'CREATE') AS "mayCreateTables",
           ARRAY(SELECT needed FROM unnest(ARRAY['btree_gin', 'pg_trgm']) needed
                 WHERE NOT EXISTS (SELECT FROM pg_available_extensions a WHERE a.name = needed)
                ) AS "lackingExtensions",
           current_setting('max_connections')::int AS "maxConnections",
           ARRAY(SELECT name FROM pg_settings WHERE setting = 'off'
                   AND name IN ('fsync', 'full_page_writes', 'synchronous_commit')
                 ORDER BY name) AS "unsafeSettings",
           -- A user without rights sees no more of another's connection than its process.
           (SELECT count(*)::int FROM pg_stat_replication r FULL JOIN pg_replication_slots s
              ON s.active_pid = r.pid
            WHERE COALESCE(s.slot_type, 'physical') = 'physical'
              AND r.application_name IS DISTINCT FROM 'pg_basebackup') AS standbys,
           current_setting('synchronous_standby_names') <> ''
             AND current_setting('synchronous_commit') IN ('on', 'remote_apply')
             AS "waitsForStandby"`;
  return facts as DatabaseFacts;
}

export interface KeyAges {
  /** In use for more than a year. */
  old: number;
  /** Rotated, and refused within a week. */
  ending: number;
}

/** Of keys that an operator created. Those of the settings are as old as the settings. */
export async function readKeyAges(db: Reader): Promise<KeyAges> {
  const [ages] = await db.$queryRaw<KeyAges[]>`
    SELECT (count(*) FILTER (WHERE expires_at IS NULL
              AND created_at < clock_timestamp() - interval '1 year'))::int AS old,
           (count(*) FILTER (WHERE expires_at BETWEEN clock_timestamp()
              AND clock_timestamp() + interval '7 days'))::int AS ending
    FROM api_key WHERE origin = 'api' AND revoked_at IS NULL`;
  return ages ?? { old: 0, ending: 0 };
}
