// The months of the account whose key is CONCILIA_API_KEY: which are closed, and what is missing.
import type { Command } from 'commander';
import type { z } from 'zod';
import { unmetItems } from '../../reporting/months/checklist.js';
import { getMonth, listMonths } from '../../reporting/months/months.schema.js';
import { reports, serviceOf, withUrl, type CommandResult, type ToService } from './definition.js';

type Month = z.input<typeof getMonth.response>;
type ListedMonth = z.input<typeof listMonths.response>['data'][number];

type Part = string | ListedMonth['revision'] | Month['lines'];

/** Without what there is none of. */
const join = (parts: readonly Part[], between = '  ') =>
  parts.flatMap((part) => (part === null ? [] : [String(part)])).join(between);

const lineOf = ({ month, state, revision, hash }: Omit<ListedMonth, 'closedAt'>) =>
  join([month, state, revision === null ? null : join(['revision', revision], ' '), hash]);

async function list(options: ToService): Promise<CommandResult> {
  const months = await serviceOf(options).listAll<ListedMonth>(listMonths);
  return { text: months.map(lineOf), json: { months } };
}

interface Showing extends ToService {
  check?: true;
}

async function show({ check, ...given }: Showing, month = ''): Promise<CommandResult> {
  const shown = await serviceOf(given).call(getMonth, { params: { month } });
  const isReady = shown.state === 'closed' || unmetItems(shown.checklist).length === 0;
  return { text: textOf(shown), json: shown, isOk: !check || isReady };
}

function textOf(shown: Month): string[] {
  const { opening, credits, debits, closing, lines, checklist, decisions, amendments } = shown;
  return [
    lineOf(shown),
    join(['opening', opening, 'credits', credits, 'debits', debits, 'closing', closing]),
    join(['lines', lines]),
    'Checklist:',
    ...checklist.map(({ item, state, count, amount, since, reason }) =>
      join([
        ...['', item.padEnd(18), state.padEnd(14)],
        ...(since === null ? [] : [count, amount, 'since', since]),
        reason,
      ]),
    ),
    'Decisions:',
    ...decisions.map(({ at, action, item, role, actor, reason }) =>
      join(['', at, action, item, actor, role, reason]),
    ),
    join(['Amendments:', amendments.lines, 'lines'], ' '),
    ...amendments.data.map(({ date, nsu, effect, fromState, toState }) =>
      join(['', date, nsu, effect, fromState ?? 'new', 'to', toState]),
    ),
  ];
}

export function monthsCommand(command: Command): void {
  const listing = withUrl(command.command('list').description('Every month, newest first.'));
  reports<ToService>(listing, 'months list', list);
  const showing = withUrl(command.command('show <month>'))
    .description('The checklist, the sign-offs and the amendments of a month.')
    .option('--check', 'fail while something stands in the way of its close');
  reports<Showing>(showing, 'months show 2026-11 --check', (given, [month]) => show(given, month));
}
