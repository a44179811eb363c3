// The folder of somebody who installs a packed package: nothing of the checkout is in reach.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const projectFolder = join(import.meta.dirname, '..', '..');
const { version } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8')) as {
  version: string;
};

export interface StrangerFolder {
  path: string;
  write(files: Record<string, string>): Promise<void>;
  /** What a Node.js program writes. Throws where it fails. */
  node(...argv: string[]): Promise<string>;
  /** Jest as it is without settings. */
  jest(...argv: string[]): Promise<string>;
  /** The errors of strict TypeScript; empty for none. */
  typeErrors(...files: string[]): Promise<string>;
  remove(): Promise<void>;
}

/** Builds the packages, and installs their archives into an empty folder. */
export async function strangerFolder(...packages: string[]): Promise<StrangerFolder> {
  await run(process.execPath, [join(projectFolder, 'scripts/packages.mjs'), ...packages]);
  const archives = packages.map((name) =>
    join(projectFolder, 'packages', `concilia-${name}-${version}.tgz`),
  );
  const path = await mkdtemp(join(tmpdir(), 'stranger-'));
  await writeFile(join(path, 'package.json'), '{ "name": "stranger", "private": true }\n');
  const options = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  const shell = process.platform === 'win32';
  await run('npm', ['install', ...options, ...archives], { cwd: path, shell });
  const node = async (...argv: string[]) => {
    const env = { ...process.env, NODE_OPTIONS: '' };
    const { stdout, stderr } = await run(process.execPath, argv, { cwd: path, env });
    return stdout + stderr;
  };
  return {
    path,
    node,
    write: async (files) => {
      for (const [name, text] of Object.entries(files)) {
        await mkdir(dirname(join(path, name)), { recursive: true });
        await writeFile(join(path, name), text);
      }
    },
    jest: (...argv) =>
      node(join(projectFolder, 'node_modules/jest/bin/jest.js'), '--rootDir', path, ...argv),
    typeErrors: async (...files) => {
      const compiler = join(projectFolder, 'node_modules/typescript-7/bin/tsc');
      const types = join(projectFolder, 'node_modules/@types');
      const options = [
        '--noEmit',
        '--strict',
        '--exactOptionalPropertyTypes',
        '--module',
        'nodenext',
      ];
      const roots = ['--target', 'es2022', '--types', 'node', '--typeRoots', types];
      return node(compiler, ...options, ...roots, ...files).then(
        () => '',
        (error: { stdout?: string }) => String(error.stdout),
      );
    },
    remove: () => rm(path, { recursive: true, force: true }),
  };
}
