// The `.env` file: it adds to the environment, and no test or image contains one.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { loadSettings } from '../src/platform/settings/config.js';
import { readEnvironment } from '../src/platform/settings/environment.js';

const project = join(import.meta.dirname, '..');

describe('a .env file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'concilia-env-'));
  const path = join(folder, '.env');
  const unset = () => void delete process.env.CONCILIA_TEST_VARIABLE;

  afterEach(unset);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('adds its variables to the environment', () => {
    writeFileSync(
      path,
      '# comment\r\n\r\nPORT=4000 # comment\r\nexport DATA_DIR="/a b"\r\nROLES=\r\n',
    );
    expect(readEnvironment(path)).toMatchObject({ PORT: '4000', DATA_DIR: '/a b', ROLES: '' });
    expect(readEnvironment(path).PATH).toBe(process.env.PATH);
    expect(process.env.PORT).toBeUndefined();
  });

  it('does not replace a variable of the environment', () => {
    writeFileSync(path, 'CONCILIA_TEST_VARIABLE=file');
    expect(readEnvironment(path).CONCILIA_TEST_VARIABLE).toBe('file');
    process.env.CONCILIA_TEST_VARIABLE = 'environment';
    expect(readEnvironment(path).CONCILIA_TEST_VARIABLE).toBe('environment');
  });

  it('may be missing', () => {
    expect(readEnvironment(join(folder, 'missing'))).toEqual({ ...process.env });
  });

  it('may be a copy of .env.example', () => {
    writeFileSync(path, readFileSync(join(project, '.env.example')));
    expect(loadSettings(readEnvironment(path))).toEqual(loadSettings({ ...process.env }));
  });

  it.each(['PORT 4000', 'PORT: 4000', '=4000', 'KEY="secret', "KEY='secret' more", '4KEY=secret'])(
    'with the line %j is refused with its line number and without its content',
    (line) => {
      writeFileSync(path, `HOST=127.0.0.1\n${line}\n`);
      expect(() => readEnvironment(path)).toThrow(
        `Invalid settings:\n  - ${path}, line 2: must be NAME=value, a comment after #, or empty.`,
      );
    },
  );

  it('that cannot be read is refused with its path', () => {
    expect(() => readEnvironment(folder)).toThrow(`${folder} must be a readable file (EISDIR).`);
  });

  it('is ignored by git and by the Docker build', () => {
    const ignored = readFileSync(join(project, '.gitignore'), 'utf8').split('\n');
    expect(ignored).toContain('.env');
    const patterns = readFileSync(join(project, '.dockerignore'), 'utf8').match(/^[^#\s].*$/gm);
    expect(patterns?.[0]).toBe('*');
    expect(patterns).not.toContainEqual(expect.stringMatching(/^!(\.env|\.\*|\*)/));
  });

  it('of a developer is not read by the processes that tests start', () => {
    const sources = readdirSync(join(project, 'test'), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|mjs)$/.test(name))
      .map((name) => [name, readFileSync(join(project, 'test', name), 'utf8')] as const)
      .filter(([, source]) => /\bspawn\(process\.execPath/.test(source));
    expect(sources.map(([name]) => name)).toContain(join('support', 'concilia-process.ts'));
    const inCheckout = sources.filter(([, source]) => /cwd: project/.test(source));
    expect(inCheckout.map(([name]) => name)).toEqual([]);
  });
});
