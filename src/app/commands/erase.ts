// Erases the personal data of a certified statement line. Its amounts stay, and `verify` still
// succeeds.
import { InvalidArgumentError, type Command } from 'commander';
import { LineEraser } from '../../reporting/day-closes/line-eraser.service.js';
import { loadProgramSettings } from '../../platform/settings/config.js';
import { readEnvironment } from '../../platform/settings/environment.js';
import { withProgramDatabase } from '../program-database.js';
import { reports } from './definition.js';

const messages = {
  erased: (line: string) => `The personal data of ${line} is erased.`,
  not_found: (line: string) => `There is no ${line}.`,
  not_certified: (line: string) =>
    `The certificate of its day does not contain ${line} yet: close the day first.`,
};

function readNsu(text: string): bigint {
  if (/^\d{1,18}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError('It must be a number of at most 18 digits.');
}

function readReason(text: string): string {
  if (text.trim()) return text.trim();
  throw new InvalidArgumentError('It must not be empty.');
}

interface Options {
  account: string;
  nsu: bigint;
  reason: string;
}

export function eraseCommand(command: Command): void {
  command
    .requiredOption('--account <slug>', 'the bank account')
    .requiredOption('--nsu <number>', 'the statement line', readNsu)
    .requiredOption('--reason <text>', 'why; it is stored', readReason);
  const example = "erase --account main --nsu 123 --reason 'request 42 of its holder'";
  reports<Options>(command, example, async ({ account, nsu, reason }) => {
    const settings = loadProgramSettings(readEnvironment());
    const outcome = await withProgramDatabase(settings, (database) =>
      new LineEraser(database).erase(account, nsu, reason),
    );
    return {
      text: [messages[outcome](`statement line ${nsu} of account ${account}`)],
      json: { outcome },
      isOk: outcome === 'erased',
    };
  });
}
