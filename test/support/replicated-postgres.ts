// Two servers of Debian's PostgreSQL 15: a primary, and a standby that streams from it. A test
// kills the primary, and promotes the standby without the last commits.
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from './concilia-process.js';
import { until } from './until.js';

const programs = '/usr/lib/postgresql/15/bin';

/** Whether the machine has it. Without it, the tests of a failover are skipped. */
export const hasPostgres15 = existsSync(join(programs, 'postgres'));

/** PostgreSQL refuses to run as root. */
const account = process.getuid?.() === 0 ? accountOf('postgres') : null;

function accountOf(user: string): { uid: number; gid: number } {
  const idOf = (option: string) => Number(spawnSync('id', [option, user]).stdout.toString());
  return { uid: idOf('-u'), gid: idOf('-g') };
}

const run = (program: string, ...args: string[]) =>
  promisify(execFile)(join(programs, program), args, { ...account, cwd: '/', maxBuffer: 2 ** 28 });

/** The servers that run. Nothing else would end them where a test ends early. */
const endedWithUs = new Set<ChildProcess>();
process.once('exit', () => endedWithUs.forEach((child) => child.kill('SIGKILL')));

const serverSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  // What a killed process has written stays with the operating system.
  fsync: 'off',
  shared_buffers: '64MB',
  // What the primary has written is read after its end.
  wal_keep_size: '1GB',
};

class Server {
  private child: ChildProcess | null = null;

  private constructor(
    readonly folder: string,
    private readonly port: number,
  ) {}

  static async in(folder: string): Promise<Server> {
    return new Server(folder, await freePort());
  }

  get url(): string {
    return this.urlOf('concilia');
  }

  urlOf(database: string): string {
    return `postgresql://postgres@127.0.0.1:${this.port}/${database}`;
  }

  async start(settings: Record<string, string> = {}): Promise<void> {
    const given = { ...serverSettings, port: String(this.port), ...settings };
    const options = Object.entries(given).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const child = spawn(join(programs, 'postgres'), ['-D', this.folder, ...options], {
      ...{ ...account, cwd: '/', stdio: 'ignore' },
    });
    this.child = child;
    endedWithUs.add(child);
    child.once('exit', () => endedWithUs.delete(child));
    await until('PostgreSQL 15 answers', () => this.query('SELECT 1', 'postgres'), 60_000);
  }

  async query(sql: string, database = 'concilia'): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.urlOf(database) });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** SIGKILL: the server's other processes end when they find that it is gone. */
  async end(signal: 'SIGINT' | 'SIGKILL'): Promise<void> {
    const { child } = this;
    this.child = null;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  }
}

export class ReplicatedPostgres {
  private constructor(
    private readonly folder: string,
    readonly primary: Server,
    readonly standby: Server,
  ) {}

  /** The standby receives everything, and shows none of it before it is promoted. */
  static async start(prepare: (url: string) => Promise<void>): Promise<ReplicatedPostgres> {
    // TMPDIR may be in a folder that the other account cannot enter.
    const folder = await mkdtemp('/tmp/concilia-replicated-');
    if (account) await chown(folder, account.uid, account.gid);
    const primary = await Server.in(join(folder, 'primary'));
    const standby = await Server.in(join(folder, 'standby'));
    const pair = new ReplicatedPostgres(folder, primary, standby);
    try {
      const initial = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8'];
      await run('initdb', '-D', primary.folder, '--no-sync', ...initial);
      await primary.start();
      await primary.query('CREATE DATABASE concilia', 'postgres');
      await prepare(primary.url);
      const source = ['-D', standby.folder, '-d', primary.urlOf('postgres')];
      await run('pg_basebackup', ...source, '-R', '-c', 'fast', '--no-sync');
      await standby.start();
      await until('the standby streams', async () => {
        const [row] = await primary.query('SELECT count(*)::int AS n FROM pg_stat_replication');
        return row?.n === 1;
      });
      await standby.query('SELECT pg_wal_replay_pause()');
    } catch (error) {
      await pair.stop();
      throw error;
    }
    return pair;
  }

  /** Kills the primary. Returns how many commits it has written since the standby was started. */
  async killPrimary(): Promise<number> {
    await this.primary.end('SIGKILL');
    let count = -1;
    await until('the last process of the primary has ended', async () => {
      const before = count;
      count = (await this.commits()).length;
      return before === count;
    });
    return count;
  }

  /** Promotes the standby as it was before the last `lost` commits of the primary. */
  async promote(lost: number): Promise<void> {
    await this.standby.end('SIGINT');
    await this.standby.start({
      primary_conninfo: '',
      recovery_target_lsn: (await this.commits()).at(-lost - 1) ?? '',
      recovery_target_action: 'promote',
      restore_command: `cp ${join(this.primary.folder, 'pg_wal', '%f')} %p`,
    });
    await until('the standby is promoted', async () => {
      const [row] = await this.standby.query('SELECT NOT pg_is_in_recovery() AS "isPrimary"');
      return row?.isPrimary === true;
    });
  }

  async stop(): Promise<void> {
    for (const server of [this.primary, this.standby]) await server.end('SIGKILL');
    await rm(this.folder, { recursive: true, force: true });
  }

  /** The positions of the primary's commits since the base backup, the earliest first. */
  private async commits(): Promise<string[]> {
    const label = await readFile(join(this.standby.folder, 'backup_label.old'), 'utf8');
    const [, start = ''] = /^START WAL LOCATION: (\S+)/.exec(label) ?? [];
    const path = join(this.primary.folder, 'pg_wal');
    // It ends with an error where the log ends.
    const { stdout } = await run('pg_waldump', '-p', path, '-s', start, '-r', 'Transaction').catch(
      (error: unknown) => error as { stdout: string },
    );
    return [...stdout.matchAll(/lsn: (\S+), .* desc: COMMIT /g)].map(([, lsn = '']) => lsn);
  }
}
