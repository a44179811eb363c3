// A PgBouncer of the test in transaction mode, in front of the tests' PostgreSQL.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from './concilia-process.js';
import { until } from './until.js';

const paths = ['pgbouncer', '/usr/sbin/pgbouncer'];
const program = paths.find((path) => spawnSync(path, ['--version']).status === 0);

/** Whether the machine has a pgbouncer. Without it, the tests behind a pooler are skipped. */
export const hasPgBouncer = program !== undefined;

/** PgBouncer refuses to run as root. */
const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

export class TestPgBouncer {
  private constructor(
    private readonly server: ChildProcess,
    private readonly folder: string,
    private readonly port: number,
  ) {}

  /**
   * After each transaction PgBouncer discards the session: settings, locks, prepared statements and
   * subscriptions. It refuses start-up options.
   */
  static async start(databaseUrl: string): Promise<TestPgBouncer> {
    const { hostname, port: serverPort, username, password } = new URL(databaseUrl);
    // TMPDIR may be in a folder that the other account cannot enter.
    const folder = mkdtempSync('/tmp/concilia-pgbouncer-');
    const port = await freePort();
    const files = {
      'users.txt': `"${decodeURIComponent(username)}" "${decodeURIComponent(password)}"\n`,
      'pgbouncer.ini': [
        '[databases]',
        `* = host=${hostname} port=${serverPort}`,
        '[pgbouncer]',
        'listen_addr = 127.0.0.1',
        `listen_port = ${port}`,
        'unix_socket_dir =',
        'auth_type = scram-sha-256',
        `auth_file = ${join(folder, 'users.txt')}`,
        `logfile = ${join(folder, 'log')}`,
        'pool_mode = transaction',
        'default_pool_size = 5',
        'max_client_conn = 200',
        'server_reset_query = DISCARD ALL',
        'server_reset_query_always = 1',
        '',
      ].join('\n'),
    };
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    if (account.uid !== undefined)
      for (const path of ['', ...Object.keys(files)])
        chownSync(join(folder, path), account.uid, account.gid);
    const server = spawn(program ?? '', ['-q', join(folder, 'pgbouncer.ini')], {
      ...account,
      cwd: '/',
      stdio: 'ignore',
    });
    const pooler = new TestPgBouncer(server, folder, port);
    await until('PgBouncer answers', async () => {
      const client = new pg.Client({ connectionString: pooler.inFrontOf(databaseUrl) });
      await client.connect();
      await client.end();
      return true;
    });
    return pooler;
  }

  /** The address of the same database, through the pooler. */
  inFrontOf(databaseUrl: string): string {
    const url = new URL(databaseUrl);
    url.host = `127.0.0.1:${this.port}`;
    return url.href;
  }

  get log(): string {
    return readFileSync(join(this.folder, 'log'), 'utf8');
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.server.once('exit', resolve));
    this.server.kill('SIGTERM');
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}
