// The packed verifier, alone in a folder: its exit codes, and both languages.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';

const project = join(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as {
  version: string;
};
const vector = join(project, 'docs/reference/certificates.jsonl');
const page = readFileSync(join(project, 'docs/reference/certificates.md'), 'utf8');
const head = 'b71074e3ffaede197212f3afd25b043c3c71611bbc8aa414e93a96f03dfb34d0';
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'concilia-verifier-'));
  execFileSync(process.execPath, ['scripts/packages.mjs', 'verifier'], { cwd: project });
  const archive = join(project, `packages/concilia-verifier-${version}.tgz`);
  execFileSync('tar', ['xzf', archive, '-C', folder]);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

const write = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const run = (...args: string[]) => {
  const program = join(folder, 'package/command.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    ...{ cwd: folder, encoding: 'utf8', env: { PATH: process.env['PATH'] } },
  });
  return { status, text: stdout + stderr };
};

it('needs no other package', () => {
  const manifest = JSON.parse(readFileSync(join(folder, 'package/package.json'), 'utf8')) as object;
  expect(manifest).not.toHaveProperty('dependencies');
  expect(manifest).toMatchObject({ bin: { 'concilia-verifier': './command.js' } });
});

it('holds with the head, and says what nothing authenticates', () => {
  const held = run(vector, '--head', head);
  expect(held).toMatchObject({ status: 0, text: expect.stringContaining('Everything holds.') });
  const alone = run(vector, '--lang', 'pt');
  expect(alone.status).toBe(3);
  expect(alone.text).toContain('Coerente em si, não autenticado');
});

it('says that it is not shown to be complete, and ends lines with a line feed alone', () => {
  const text = readFileSync(vector, 'utf8').replace('"account":"', '"account":"\u2028\u2029');
  const file = write('separators.jsonl', text);
  const held = run(file, '--head', head);
  expect(held).toMatchObject({
    ...{ status: 0, text: expect.stringContaining('Not compared, not shown complete: 2026') },
  });
});

it('names what does not hold', () => {
  const file = write(
    'changed.jsonl',
    readFileSync(vector, 'utf8').replace('amount\\":\\"50.00', 'amount\\":\\"60.00'),
  );
  const changed = run(file, '--head', head, '--lang', 'pt');
  expect(changed.status).toBe(1);
  expect(changed.text).toMatch(
    /#2 2026-02-03 credits: Não é o que segue do arquivo \(esperado 60.00, encontrado 50.00\)/,
  );
  const bank = write(
    'bank.csv',
    'nsu;createdAt;amount\n8;2026-02-03T15:00:00Z;50,00\n9;2026-02-03T16:00:00Z;-1,00\n',
  );
  const compared = run(vector, '--head', head, '--statement', bank);
  expect(compared.status).toBe(1);
  expect(compared.text).toMatch(/nsu 9: In the bank's file, not certified \(expected -1.00\)/);
});

it('refuses a file or an option that is none', () => {
  const file = write('other.jsonl', '{"a":1}\n');
  for (const args of [
    [],
    ['missing.jsonl'],
    [file],
    [vector, '--unknown'],
    [vector, '--statement', file],
    [vector, '--head', head, '--head', head],
    [vector, '--lang', 'fr'],
    [vector, file],
  ])
    expect([args, run(...args).status]).toEqual([args, 2]);
  expect(run(file).text).toBe('CERTIFICATES row 1: not in its form\n');
  expect(run(vector, '--statement', file).text).toBe('--statement row 1: not in its form\n');
});

it('runs as the page has it, and says what the page has', () => {
  const [, command = ''] = /^npx \S+ concilia-verifier (.+(?:\n {2}.+)*)$/m.exec(page) ?? [];
  const args = command.replaceAll('\\\n', ' ').trim().split(/\s+/);
  const files = args.map((one) => (one.startsWith('docs/') ? join(project, one) : one));
  const text = readFileSync(join(project, 'docs/reference/verified.txt'), 'utf8');
  expect(run(...files)).toEqual({ status: 0, text });
});
