// docs/reference/commands.md follows from the commands. `WRITE_DOCS=1` writes it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { buildProgram, catalogue } from '../../src/app/commands/catalogue.js';
import { describeExitCodes } from '../../src/app/exit-codes.js';
import { expectDocument } from '../support/docs-document.js';

const page = 'commands.md';
const maxWords = 450;
/** They run until they are stopped, and have no result. */
const running = ['start', 'sandbox'];

let leaves: { words: string; command: Command }[] = [];
beforeAll(async () => {
  leaves = leavesOf(await buildProgram(() => true), []);
}, 60_000);

function leavesOf(command: Command, names: string[]): typeof leaves {
  if (command.commands.length === 0) return [{ words: names.join(' '), command }];
  return command.commands.flatMap((one) => leavesOf(one, [...names, one.name()]));
}

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
  return text;
}

const exampleOf = (command: Command) => /Example:\n {2}(.*)/.exec(helpOf(command))?.[1];

function pageText(): string {
  const examples = leaves
    .map(({ words, command }) => [`concilia ${words}`, `${exampleOf(command)}`])
    // An example that is the command alone says no more than its name.
    .flatMap(([name, example = '']) => (name === example ? [] : [example]));
  return `# Commands

\`concilia\` is one program: \`npx concilia …\` from a packed tarball, \`npm run concilia -- …\` in a checkout, \`node dist/cli.js …\` in the image. \`npm start\` is \`concilia start\`. Each command explains its options with \`--help\`.

${Object.entries(catalogue)
  .map(([name, { summary }]) => `- \`${name}\`: ${summary}`)
  .join('\n')}

Examples:

\`\`\`
${examples.join('\n')}
\`\`\`

- With \`--json\`, stdout has one JSON document. Progress and errors go to stderr.
- \`people\`, \`verify\`, \`erase\`, \`reencrypt\` and \`restored\` work on the database (\`DATABASE_URL\`, or \`DATA_DIR\`), beside the service. \`doctor\` changes nothing.
- \`accounts\` and \`keys\` call the running service with \`CONCILIA_ADMIN_KEY\`, \`runs\`, \`months\` and \`export\` with \`CONCILIA_API_KEY\`: they show what that key may see. Set it to the key of another account for that account.

Exit codes:

\`\`\`
${describeExitCodes().join('\n')}
\`\`\`
`;
}

describe('a command', () => {
  it('has an example of itself in its help', () => {
    for (const { words, command } of leaves)
      expect(`concilia ${words} | ${exampleOf(command)}`).toMatch(
        new RegExp(`^(concilia ${words}) \\| \\1( |$)`),
      );
  });

  it('has --json, unless it runs until it is stopped', () => {
    const without = leaves.filter(({ command }) => !helpOf(command).includes('--json'));
    expect(without.map(({ words }) => words)).toEqual(running);
  });

  it('explains each option and argument', () => {
    for (const { words, command } of leaves)
      for (const { long, description, argChoices } of command.options)
        expect([words, long, Boolean(description || argChoices)]).toEqual([words, long, true]);
  });
});

it(`is on the page, in at most ${maxWords} words`, () => {
  expectDocument(page, pageText());
  const text = readFileSync(join(import.meta.dirname, '../../docs/reference', page), 'utf8');
  expect(text.split(/\s+/).length).toBeLessThanOrEqual(maxWords);
});
