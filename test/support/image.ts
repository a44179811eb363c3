// The image, built by Debian's buildah from the project's Dockerfile, and its processes, which run
// on a file system that they cannot write. The base image is made here: Debian with this machine's
// npm and the Node.js that the Dockerfile names.
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { readFileSync, statfsSync, symlinkSync, writeFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { dirname, join } from 'node:path';

const projectFolder = join(import.meta.dirname, '..', '..');

const programs = ['buildah', 'mmdebstrap', 'unshare', 'chroot'];
/** Only root makes file systems. */
export const canBuildImage =
  process.getuid?.() === 0 &&
  programs.every((program) => spawnSync(program, ['--version']).status === 0);

export interface ImageConfiguration {
  User: string;
  Env: string[];
  Cmd: string[];
  Healthcheck: { Test: string[] };
}

interface RunningCommand {
  child: ChildProcess;
  printed: () => string;
  ended: Promise<number | null>;
}

const execute = (program: string, args: readonly string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', maxBuffer: 2 ** 26, stdio: 'pipe' });

export class BuiltImage {
  private constructor(
    private readonly folder: string,
    private readonly root: string,
    readonly configuration: ImageConfiguration,
    /** Above the base image, in megabytes. */
    readonly layersMb: number,
  ) {}

  static build(): BuiltImage {
    const folder = mkdtempSync(join(storageParent(), 'concilia-image-'));
    const buildah = (command: string, ...args: string[]) =>
      execute('buildah', [...storageOf(folder), command, ...args]).trim();
    const [, from = ''] = /^FROM (\S+)/m.exec(dockerfile()) ?? [];
    const base = join(folder, 'base');
    makeBase(base, /^node:(\d+)-bookworm/.exec(from)?.[1] ?? '', folder);
    const working = buildah('from', 'scratch');
    buildah('add', '--quiet', working, base, '/');
    buildah('config', '--env', 'PATH=/usr/local/bin:/usr/bin:/bin', working);
    buildah(
      'commit',
      '--quiet',
      '--rm',
      '--format',
      'docker',
      working,
      `docker.io/library/${from}`,
    );
    const files = readFileSync('/proc/self/limits', 'utf8').match(/^Max open files +\d+ +(\d+)/m);
    buildah(
      ...([
        'bud',
        '--quiet',
        '--isolation',
        'chroot',
        '--network',
        'host',
        '--pull-never',
      ] as const),
      ...['--format', 'docker', '--ulimit', `nofile=${files?.[1]}:${files?.[1]}`],
      ...['--volume', `${npmSetting('cache')}:/root/.npm`, '--tag', 'concilia', projectFolder],
    );
    const images = JSON.parse(buildah('images', '--json')) as { names?: string[]; size: string }[];
    const sizeOf = (name: string) =>
      Number.parseFloat(images.find(({ names }) => names?.[0]?.includes(name))?.size ?? '');
    const inspected = JSON.parse(buildah('inspect', '--type', 'image', 'localhost/concilia')) as {
      Docker: { config: ImageConfiguration };
    };
    const root = buildah('mount', buildah('from', '--pull-never', 'localhost/concilia'));
    const layersMb = sizeOf('localhost/concilia') - sizeOf(from);
    return new BuiltImage(folder, root, inspected.Docker.config, layersMb);
  }

  /** Every path of the image below its working directory. */
  paths(): string[] {
    return execute('find', [join(this.root, 'app'), '-printf', '%P\n']).split('\n');
  }

  /** Starts a command as the image's user. Of the file system, it can write /tmp alone. */
  start(command: readonly string[], environment: Record<string, string>): RunningCommand {
    const { User, Env } = this.configuration;
    const script = [
      'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"',
      'mount -t tmpfs tmpfs "$0/tmp" && mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc"',
      `exec /usr/sbin/chroot --userspec=${User}: "$0" /bin/sh -c 'cd /app && exec "$@"' sh "$@"`,
    ].join(' && ');
    const variables = Object.fromEntries(Env.map((one) => one.split(/=(.*)/s).slice(0, 2)));
    const child = spawn(
      '/usr/bin/unshare',
      ['--mount', '/bin/sh', '-c', script, this.root, ...command],
      {
        env: { ...(variables as Record<string, string>), ...environment },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    return { child, printed: () => output, ended };
  }

  remove(): void {
    spawnSync('buildah', [...storageOf(this.folder), 'umount', '--all']);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Memory where there is enough: the file system is copied for each stage. */
function storageParent(): string {
  const neededBytes = 8 * 2 ** 30;
  const memory = '/dev/shm';
  if (freemem() < neededBytes || !existsSync(memory)) return '/tmp';
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize < neededBytes ? '/tmp' : memory;
}

const storageOf = (folder: string): string[] => [
  ...['--root', join(folder, 'storage'), '--runroot', join(folder, 'run')],
  ...['--storage-driver', 'vfs'],
];

const dockerfile = (): string => readFileSync(join(projectFolder, 'Dockerfile'), 'utf8');

const npm = (...args: string[]): string => execute('npm', args).trim();
const npmSetting = (name: string): string => npm('config', 'get', name);

function makeBase(base: string, nodeMajor: string, folder: string): void {
  execute('mmdebstrap', [
    ...['--quiet', '--variant=minbase', '--include=libstdc++6', 'bookworm', base],
  ]);
  const node = `node-linux-${process.arch}`;
  npm('install', '--prefix', folder, '--ignore-scripts', `${node}@${nodeMajor}`);
  const local = join(base, 'usr', 'local');
  cpSync(join(folder, 'node_modules', node, 'bin', 'node'), join(local, 'bin', 'node'));
  const npmFolder = join('lib', 'node_modules', 'npm');
  cpSync(join(npm('root', '--global'), 'npm'), join(local, npmFolder), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin', 'npm'));
  execute('chroot', [base, '/usr/sbin/useradd', '--uid', '1000', '--create-home', 'node']);
  // The same registry, by the same authorities.
  mkdirSync(join(local, 'etc'), { recursive: true });
  const [settings, authorities] = [join(local, 'etc', 'npmrc'), npmSetting('cafile')];
  writeFileSync(settings, `registry=${npmSetting('registry')}\n`);
  if (!existsSync(authorities)) return;
  mkdirSync(dirname(join(base, authorities)), { recursive: true });
  cpSync(authorities, join(base, authorities), { dereference: true });
  appendFileSync(settings, `cafile=${authorities}\n`);
}
