// Runs the commands of a page of the documentation as a reader does: one after the other, in one
// shell, against a service of its own.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect } from '@jest/globals';
import { until } from './until.js';

const longestCommandMs = 60_000;
const marker = '<<the command has ended>>';

/** The code blocks of a page in one language. `background`: it runs in another terminal. */
export function codeBlocks(page: string, language: string): { text: string; info: string }[] {
  const text = readFileSync(page, 'utf8');
  return [...text.matchAll(/^```(\w+)([^\n]*)\n(.*?)^```/gms)]
    .filter(([, found]) => found === language)
    .map(([, , info = '', block = '']) => ({ text: block, info: info.trim() }));
}

/** Whole commands: lines are joined until the shell can read them. */
function commandsOf(block: string): string[] {
  const commands: string[] = [];
  let command = '';
  for (const line of block.split('\n')) {
    command += `${line}\n`;
    const isWhole = spawnSync('bash', ['-n'], { input: command }).stderr.length === 0;
    if (!isWhole || line.endsWith('\\')) continue;
    if (!/^\s*(?:#.*)?$/.test(command)) commands.push(command);
    command = '';
  }
  expect(command.trim()).toBe('');
  return commands;
}

/** `# … "a":1,"b":2,…` at the end of a command names parts of its output. */
function expectedParts(command: string): string[] {
  const [, comment = ''] = /\s# … (.*)$/.exec(command.trim()) ?? [];
  return [...comment.matchAll(/"\w+":(?:"[^"…]*"|[\w.]+)/g)].map(([part]) => part);
}

export class DocumentedShell {
  private output = '';
  private readonly others: ChildProcess[] = [];

  private constructor(
    private readonly shell: ChildProcess,
    private readonly addresses: Readonly<Record<string, string>>,
    private readonly folder: string,
  ) {
    for (const stream of [shell.stdout, shell.stderr])
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
  }

  /** `addresses`: what stands for each host and port that the documents name. */
  static start(addresses: Readonly<Record<string, string>>, folder: string): DocumentedShell {
    const shell = spawn('bash', ['--noprofile', '--norc'], { cwd: folder });
    const documented = new DocumentedShell(shell, addresses, folder);
    // A response that is no 2xx fails the command.
    shell.stdin.write(
      'curl() { command curl --fail-with-body --max-time 30 "$@"; }\nset -o pipefail\n',
    );
    return documented;
  }

  async runBlock({ text, info }: { text: string; info: string }): Promise<void> {
    if (info === 'background') {
      const child = spawn('bash', ['-c', `exec ${this.addressed(text)}`], { cwd: this.folder });
      this.others.push(child);
      return;
    }
    for (const command of commandsOf(text)) await this.run(command);
  }

  private async run(command: string): Promise<void> {
    const attempt = async (): Promise<true> => {
      const { code, output } = await this.runOnce(command);
      const missing = expectedParts(command).filter((part) => !output.includes(part));
      if (code === 0 && missing.length === 0) return true;
      throw new Error(`exit code ${code}, without ${missing.join(' ')}:\n${output}`);
    };
    const isRead = !/ -d |-X |--data|\w+=\$\(/.test(command);
    await (isRead ? until(`this shows what the page says: ${command}`, attempt) : attempt());
  }

  private async runOnce(command: string): Promise<{ code: number; output: string }> {
    this.output = '';
    this.shell.stdin?.write(
      `${this.addressed(command)}\nCODE_=$?; echo; echo "${marker} $CODE_"\n`,
    );
    const ended = new RegExp(`${marker} (\\d+)\\n`);
    const [all, code] = await until(
      `this command ends: ${command}`,
      () => ended.exec(this.output),
      longestCommandMs,
    );
    return { code: Number(code), output: this.output.replace(all, '') };
  }

  private addressed(command: string): string {
    // In one pass: a port that was put in may begin like another that the documents name.
    const documented = new RegExp(Object.keys(this.addresses).map(escaped).join('|'), 'g');
    return command.replace(documented, (address) => this.addresses[address] ?? address);
  }

  async end(): Promise<void> {
    for (const child of [this.shell, ...this.others]) {
      if (child.exitCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  }
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
