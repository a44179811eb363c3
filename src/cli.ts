#!/usr/bin/env node
// The one entry of the package, the checkout and the image: `concilia COMMAND`.
import { CommanderError } from 'commander';
import { buildProgram } from './app/commands/catalogue.js';
import { exitCodes } from './app/exit-codes.js';

/** Without a command it is `start`: `nest start --watch` cannot pass one. */
async function main([name = 'start', ...rest]: readonly string[]): Promise<void> {
  // Only the file of the command that is named is loaded.
  const program = await buildProgram((one) => one === name);
  // Whoever reads the output, such as `head`, may have read enough.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(exitCodes.failed);
  });
  try {
    await program.parseAsync([name, ...rest], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Commander has printed what is wrong, or the help that was asked for.
    process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.wrongUsage;
  }
}

/** Resolves when the command has ended; for `start`, when the process is ready. */
export const finished = main(process.argv.slice(2));
