// What a process prints beside its log: sentences for people. In production each of them is a line
// of the log, as is what Node.js and packages print, so that every byte is JSON.
import { format, inspect } from 'node:util';
import type { Log } from '../platform/log.js';

let log: Log | null = null;

/** Of the process. May be called again, with the log of the settings. */
export function printAsLog(to: Log): void {
  log = to;
  const writer = (level: 'info' | 'warn' | 'error') => {
    return (...given: unknown[]) => to[level](format(...given));
  };
  const [info, warn, error] = [writer('info'), writer('warn'), writer('error')];
  Object.assign(globalThis.console, { log: info, info, debug: info, warn, error });
  process.removeAllListeners('warning').on('warning', (warning) => to.warn(warning));
  process.removeAllListeners('uncaughtException').once('uncaughtException', (cause) => {
    to.fatal(cause);
    process.exit(1);
  });
}

/** `logged` is what the log says, whose lines have a time of their own. */
export function printLine(text: string, logged = text): void {
  if (log) log.info(logged);
  else process.stdout.write(`${text}\n`);
}

export function printError(problem: unknown): void {
  if (log) log.error(typeof problem === 'string' ? problem : { err: problem });
  else process.stderr.write(`${typeof problem === 'string' ? problem : inspect(problem)}\n`);
}
