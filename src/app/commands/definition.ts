// How a command is declared, and how its work ends: what it prints, and its exit code. Results go
// to stdout, for people or with --json as one document; everything else goes to stderr.
import { CommanderError, type Command } from 'commander';
import { loadClientSettings } from '../../platform/settings/client-settings.js';
import { readEnvironment } from '../../platform/settings/environment.js';
import { stringifyJson } from '../../platform/json/exact-json.js';
import { exitCodes } from '../exit-codes.js';
import { exitWith, plainMessageOf } from '../exit.js';
import { ServiceClient } from '../service-client.js';

/** Adds the arguments, options, sub-commands and work to a command of the catalogue. */
export type DefineCommand = (command: Command) => void;

export interface CommandResult {
  /** For people, a line each. */
  text: readonly string[];
  /** The same for programs. */
  json: unknown;
  /** False: something that was examined is wrong. The exit code is 1. */
  isOk?: boolean;
}

/** `args` are the arguments of the command line that have no option's name. */
export type Work<Options> = (options: Options, args: readonly string[]) => Promise<CommandResult>;

export function withExample(command: Command, example: string): Command {
  return command.addHelpText('after', `\nExample:\n  concilia ${example}`);
}

/** What `command` does. It gets `--json`. A failure ends the process with its exit code. */
export function reports<Options extends object>(
  command: Command,
  example: string,
  work: Work<Options>,
): void {
  withExample(command, example)
    .option('--json', 'print one JSON document')
    .action(async () => {
      const options = command.opts<Options & { json?: true }>();
      const write = (document: unknown) => process.stdout.write(`${stringifyJson(document)}\n`);
      try {
        const { text, json, isOk = true } = await work(options, command.args);
        showProgress('');
        if (options.json) write(json);
        else for (const line of text) process.stdout.write(`${line}\n`);
        if (!isOk) process.exitCode = exitCodes.failed;
      } catch (error) {
        showProgress('');
        if (error instanceof CommanderError) throw error;
        if (options.json) write({ error: plainMessageOf(error) ?? 'See the standard error.' });
        exitWith(error);
      }
    });
}

/** Commands that call the running service. */
export interface ToService {
  url?: string;
}

export function withUrl(command: Command): Command {
  return command.option('--url <address>', 'of the service; default: this machine, by PORT');
}

export function serviceOf({ url }: ToService): ServiceClient {
  const settings = loadClientSettings(readEnvironment());
  return new ServiceClient(url ? { ...settings, url: url.replace(/\/+$/, '') } : settings);
}

const plainProgressEveryMs = 10_000;
let lastProgressMs = 0;

/** How far long work is: one line that changes in a terminal, elsewhere a line in ten seconds. */
export function showProgress(message: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${message}`);
  else if (message !== '' && performance.now() - lastProgressMs > plainProgressEveryMs) {
    lastProgressMs = performance.now();
    note(message);
  }
}

/** A line beside the result: what the work has done, or waits for. */
export function note(message: string): void {
  process.stderr.write(`${message}\n`);
}
