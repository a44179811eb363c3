// Reconciliation runs of the account whose key is CONCILIA_API_KEY.
import { setTimeout as sleep } from 'node:timers/promises';
import { Option, type Command } from 'commander';
import type { z } from 'zod';
import { getRun, listRuns, runView, startRun } from '../../reconciliation/runs/runs.schema.js';
import {
  reports,
  serviceOf,
  showProgress,
  withUrl,
  type CommandResult,
  type ToService,
} from './definition.js';

type Run = z.input<typeof runView>;

const shownRuns = 20;
const askEveryMs = 1_000;

function lineOf({ id, state, trigger, startedAt, durationMs, counts, error }: Run): string {
  const duration =
    durationMs === null ? 'not ended' : `${(Number(durationMs) / 1_000).toFixed(1)} s`;
  const [newLines, matched, breaksOpened] = [
    counts.newLines,
    counts.matched,
    counts.breaksOpened,
  ].map(Number);
  const found = `${newLines} new lines, ${matched} matched, ${breaksOpened} breaks`;
  return [id, state, trigger, startedAt, duration, error ?? found].join('  ');
}

function describe(run: Run): CommandResult {
  return { text: [lineOf(run)], json: run, isOk: run.state !== 'failed' };
}

interface Selection extends ToService {
  state?: Run['state'];
}

async function list(given: Selection): Promise<CommandResult> {
  const query = { state: given.state, limit: shownRuns };
  const { data } = await serviceOf(given).call(listRuns, { query });
  return { text: data.map(lineOf), json: { runs: data } };
}

async function start({ watch: watches, ...given }: ToService & { watch?: true }) {
  const run = await serviceOf(given).call(startRun);
  return watches ? watch(given, run.id) : describe(run);
}

/** Until the run ends. The exit code is 1 where it fails. */
async function watch(options: ToService, id = ''): Promise<CommandResult> {
  const service = serviceOf(options);
  for (;;) {
    const run = await service.call(getRun, { params: { id } });
    if (run.state !== 'running') return describe(run);
    showProgress(lineOf(run));
    await sleep(askEveryMs);
  }
}

export function runsCommand(command: Command): void {
  const listing = withUrl(command.command('list'))
    .description(`The last ${shownRuns} runs, newest first.`)
    .addOption(
      new Option('--state <state>', 'only these').choices(['running', 'finished', 'failed']),
    );
  reports<Selection>(listing, 'runs list --state failed', list);
  const starting = withUrl(command.command('start'))
    .description('Starts a run, or shows the run in progress.')
    .option('--watch', 'wait until it ends');
  reports<ToService & { watch?: true }>(starting, 'runs start --watch', start);
  const watching = withUrl(command.command('watch <id>').description('Waits until a run ends.'));
  reports<ToService>(watching, 'runs watch 019a7c9e-5b1f-7f3c-9b9a-0d6f2c3e4a51', (given, [id]) =>
    watch(given, id),
  );
}
