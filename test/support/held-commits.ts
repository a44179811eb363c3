// Makes commits wait, as a slow disk would.
import type pg from 'pg';

const lockKey = 77_777;

export interface HeldCommits {
  /** Lets the commits go on, these and all later ones. */
  release(): Promise<void>;
}

/** The commits of transactions that insert into a table wait until they are released. */
export async function holdCommits(pool: pg.Pool, table: string): Promise<HeldCommits> {
  await pool.query(`
    CREATE FUNCTION commit_waits() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN PERFORM pg_advisory_xact_lock_shared(${lockKey}); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER commit_waits AFTER INSERT ON ${table}
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION commit_waits()`);
  const holder = await pool.connect();
  await holder.query(`BEGIN; SELECT pg_advisory_xact_lock(${lockKey})`);
  return {
    release: async () => {
      await holder.query('COMMIT');
      holder.release();
      await pool.query('DROP FUNCTION commit_waits CASCADE');
    },
  };
}
