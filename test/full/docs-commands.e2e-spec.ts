// Every command of the documentation works as it stands there, on a service that has just started,
// and shows what the page says.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ConciliaProcess, freePort } from '../support/concilia-process.js';
import { codeBlocks, DocumentedShell } from '../support/docs-commands.js';
import { testDatabase } from '../support/postgres.js';

const firstPage = 'README.md';
const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.md'))
  .map((path) => join('docs', path))
  .concat(firstPage)
  .filter((path) => codeBlocks(path, 'bash').length > 0)
  .sort();
/** They continue where the README ends: a line is on the statement. */
const continuations = ['docs/tutorial/first-hour.md', 'docs/how-to/exports.md'];
const hasTools = ['bash', 'curl'].every((tool) => spawnSync(tool, ['--version']).status === 0);

(hasTools ? describe : describe.skip)('the commands of', () => {
  const ends: (() => Promise<unknown> | void)[] = [];

  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  /** Of the tests' own PostgreSQL: that of a newcomer takes half of the time of a page to start. */
  const readyDatabases = async () => {
    const [service, sandbox] = [await testDatabase('service'), await testDatabase('sandbox')];
    ends.push(() => Promise.all([service.drop(), sandbox.drop()]));
    return { DATABASE_URL: service.url, SANDBOX_DATABASE_URL: sandbox.url };
  };

  it.each(pages)(
    '%s',
    async (page) => {
      const folder = mkdtempSync(join(tmpdir(), 'concilia-docs-'));
      ends.push(() => rmSync(folder, { recursive: true, force: true }));
      const concilia = await ConciliaProcess.with({
        ...(page === firstPage ? { DATA_DIR: join(folder, 'data') } : await readyDatabases()),
        SANDBOX_PRESET: 'published',
      });
      ends.push(() => concilia.kill());
      await concilia.start();
      const port = await freePort();
      const shell = DocumentedShell.start(
        {
          'http://127.0.0.1:3000': concilia.serviceUrl,
          'http://127.0.0.1:3900': concilia.bankUrl,
          '127.0.0.1:4000': `127.0.0.1:${port}`,
          'listen(4000)': `listen(${port})`,
        },
        folder,
      );
      ends.push(() => shell.end());
      if (continuations.includes(page))
        for (const block of codeBlocks(firstPage, 'bash')) await shell.runBlock(block);
      else if (page !== firstPage) await shell.runBlock({ text: variablesOfFirstPage(), info: '' });
      for (const block of codeBlocks(page, 'bash')) await shell.runBlock(block);
    },
    120_000,
  );

  it('are all found', () => {
    expect(pages).toEqual(expect.arrayContaining(continuations));
    expect(variablesOfFirstPage()).toMatch(/^KEY=.*\nBANK=.*\nJSON=/);
  });
});

/** Pages that need them say so. */
function variablesOfFirstPage(): string {
  return codeBlocks(firstPage, 'bash')
    .flatMap(({ text }) => text.split('\n'))
    .filter((line) => /^(?:KEY|BANK|JSON)=/.test(line))
    .join('\n')
    .concat('\n');
}
