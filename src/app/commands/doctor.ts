// Examines what the service needs, one finding a question, each with what to do. It changes
// nothing, and needs no running service. The exit code is 1 where something is wrong.
import { setTimeout as sleep } from 'node:timers/promises';
import { InvalidArgumentError, type Command } from 'commander';
import type { Settings } from '../../platform/settings/config.js';
import { examineBank } from '../doctor/bank-answer.js';
import { examineDatabase } from '../doctor/database-check.js';
import {
  describeFinding,
  failed,
  unchecked,
  type SetUpFinding,
  type Subject,
} from '../doctor/finding.js';
import { examineCertificates, examineDisk } from '../doctor/machine-check.js';
import { examinePublicAddress } from '../doctor/public-address.js';
import { examineQueue } from '../doctor/queue-check.js';
import { examineSettings } from '../doctor/settings-check.js';
import { serviceRoles } from '../open-databases.js';
import { reports, type CommandResult } from './definition.js';

const timeoutMs = 30_000;
const defaultMinFreeMib = 1_024;

interface Options {
  minFree: number;
}

async function examine({ minFree }: Options): Promise<CommandResult> {
  const { settings, findings } = examineSettings();
  if (settings) findings.push(...(await examineWith(settings, minFree)));
  else
    findings.push(unchecked('database', 'Nothing else is examined before the settings are valid.'));
  const wrong = findings.filter(({ state }) => state === 'failed').length;
  const summary = wrong === 0 ? '✓ Nothing is wrong' : `✗ ${wrong} things are wrong`;
  return {
    text: [...findings.flatMap(describeFinding), summary],
    json: { findings },
    isOk: wrong === 0,
  };
}

async function examineWith(settings: Settings, minFree: number): Promise<SetUpFinding[]> {
  const checks: [Subject, () => Promise<SetUpFinding[]>][] = [
    ['disk', () => examineDisk(settings, minFree)],
    ['bank', () => examineCertificates(settings)],
  ];
  if (serviceRoles(settings).length > 0)
    checks.push(
      ['database', () => examineDatabase(settings)],
      ['queue', () => examineQueue(settings)],
      ['bank', () => examineBank(settings)],
      ['webhook address', () => examinePublicAddress(settings)],
    );
  const found = await Promise.all(checks.map(([subject, check]) => inTime(subject, check)));
  return found.flat();
}

/** A check that fails in a way of its own is a finding too: the others are still reported. */
async function inTime(
  subject: Subject,
  check: () => Promise<SetUpFinding[]>,
): Promise<SetUpFinding[]> {
  const advice = 'See whether it hangs, and run concilia doctor again.';
  const late = failed(subject, `No answer within ${timeoutMs / 1_000} s.`, advice);
  const ended = new AbortController();
  try {
    const timer = sleep(timeoutMs, [late], { signal: ended.signal, ref: false });
    timer.catch(() => undefined);
    return await Promise.race([check(), timer]);
  } catch (error) {
    return [failed(subject, `It could not be examined: ${String(error)}`, advice)];
  } finally {
    ended.abort();
  }
}

function readMebibytes(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number of MiB.');
}

export function doctorCommand(command: Command): void {
  command.option(
    '--min-free <MiB>',
    'space that must be free under DATA_DIR',
    readMebibytes,
    defaultMinFreeMib,
  );
  reports<Options>(command, 'doctor', examine);
}
