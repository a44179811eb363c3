// Decisions by spreadsheet: a filter of open breaks as a file with columns to fill, and the file
// that comes back, as a batch that a person confirms. No decision of a file sends money.
import { Controller } from '@nestjs/common';
import { formatOfName, readRows } from '../../outbound/bulk/upload-reader.js';
import { AppError } from '../../platform/errors.js';
import { withReceivedFile } from '../../platform/files/received-file.js';
import {
  BreakReading,
  type VersionedView,
} from '../../reconciliation/breaks/break-reading.service.js';
import { DecisionBatches } from '../../reconciliation/breaks/decision-batches.service.js';
import {
  decisionColumns,
  maxFileDecisions,
  readDecisions,
  writtenVersion,
  type RefusedRow,
} from '../../reconciliation/breaks/decision-file.js';
import { strangerColumn, type Table } from '../../reporting/exports/table.js';
import { formatCount } from '../formats.js';
import { Card, Message, Muted, ButtonLink, Row } from '../kit/elements.js';
import { Fields, Form } from '../kit/form.js';
import { TableCard } from '../kit/table.js';
import { DeclaredList, Redirect, Shown, type ListFileRow, type PageAnswer } from '../page.js';
import { problemIn } from '../problems.js';
import {
  ConsoleAction,
  ConsolePage,
  TakesFile,
  Visiting,
} from '../serving/console-page.decorator.js';
import { callerOf, useVisit, type Visit } from '../visit.js';
import { readBreakList } from './break-list.js';
import { amountOf, BackToBreaks, kindOf, partyOf, refusalOfCode } from './break-words.js';

const needs = 'resolve breaks';
const maxBytes = 2 * 1_048_576;
const rowsPerRead = 100;

interface Outcome {
  problem?: string;
  refused?: readonly RefusedRow[];
  batchId?: string | null;
}

@Controller()
export class DecisionFilePages {
  constructor(
    private readonly reading: BreakReading,
    private readonly batches: DecisionBatches,
  ) {}

  @ConsolePage('breaks/decisions', needs)
  show(@Visiting() visit: Visit): PageAnswer {
    return new DeclaredList(
      () => Promise.resolve(pageOf(visit, {})),
      () => Promise.resolve({ table: tableOf(visit), chunks: this.chunks(visit) }),
      { name: 'breaks/decisions' },
    );
  }

  /** Changes no break: what the file decides is confirmed first. */
  @ConsoleAction('breaks/decisions', needs, 'own')
  @TakesFile(maxBytes)
  async upload(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { file, t } = visit;
    const format = file && formatOfName(file.name);
    if (!file || !format || format === 'ndjson')
      return pageOf(visit, { problem: t('bulk.wrongName') });
    try {
      const rows = await withReceivedFile(file.body, maxBytes, async (received) => {
        const read: [number, unknown][] = [];
        for await (const row of readRows({ format }, received.chunks(), maxFileDecisions)) {
          const content = row.read();
          read.push([row.line, 'request' in content ? content.request : null]);
        }
        return read;
      });
      const { decisions, refused } = readDecisions(rows);
      const stored = await this.batches.selectRows(callerOf(visit), decisions);
      const all = [...refused, ...stored.refused].sort((one, other) => one.line - other.line);
      const { batchId } = stored;
      if (batchId !== null && all.length === 0)
        return new Redirect(visit.to(`breaks/batches/${batchId}`));
      return pageOf(visit, { refused: all, batchId });
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      return pageOf(visit, { problem: problemIn(visit, error) });
    }
  }

  private async *chunks(visit: Visit): AsyncGenerator<ListFileRow[]> {
    const caller = callerOf(visit);
    const { filters } = readBreakList(visit.query);
    let [left, cursor] = [maxFileDecisions, undefined as string | undefined];
    do {
      const page = {
        ...filters,
        state: 'open' as const,
        cursor,
        limit: Math.min(left, rowsPerRead),
      };
      const { data, next } = await this.reading.list(caller, page);
      const rows: ListFileRow[] = [];
      for (const found of data) {
        const [best] = (await this.reading.get(caller, found.id)).candidates;
        rows.push(rowOf(visit, found, best));
      }
      yield rows;
      left -= data.length;
      cursor = next ?? undefined;
    } while (cursor !== undefined && left > 0);
  }
}

type Best = { amount: bigint | null; day: string; counterparty: VersionedView['counterparty'] };

function rowOf(visit: Visit, found: VersionedView, best: Best | undefined): ListFileRow {
  const { t } = visit;
  const candidate = best && [amountOf(t, best.amount), best.day, partyOf(visit, best.counterparty)];
  return [
    ...[found.id, writtenVersion(found.version), kindOf(t, found.kind), found.amount],
    ...[partyOf(visit, found.counterparty), String(found.ageDays), candidate?.join(' · ') ?? ''],
    ...['', ''],
  ];
}

/** The names are read back: see `decisionColumns`. */
function tableOf({ t, language }: Visit): Table<ListFileRow> {
  const at = language === 'pt' ? 0 : 1;
  const { id, version, decision, reason } = decisionColumns;
  const heads = [
    ...[id[at], version[at], ...t('breaks.file.heads').split(' '), decision[at], reason[at]],
  ];
  return {
    title: t('breaks.file'),
    columns: heads.map((head, index) =>
      index === 3
        ? { name: head, title: head, kind: 'money', value: (row) => row[index] as bigint | null }
        : strangerColumn(head, head, (row: ListFileRow) => row[index] as string | null),
    ),
  };
}

function pageOf(visit: Visit, outcome: Outcome): Shown {
  const status = outcome.problem === undefined ? 200 : 422;
  return new Shown(visit.t('breaks.file'), <DecisionFile {...outcome} />, { status });
}

function DecisionFile({ problem, refused = [], batchId }: Outcome) {
  const { t, to, query, may } = useVisit();
  const { address } = readBreakList(query);
  const file = { is: 'file', label: 'bulk.file', required: true, accept: '.csv,.xlsx' } as const;
  const most = { count: formatCount(maxFileDecisions) };
  return (
    <>
      <p>
        <BackToBreaks address={address} />
      </p>
      {problem !== undefined && <Message kind="bad">{problem}</Message>}
      {batchId === null && <Message kind="warn">{t('breaks.file.nothing')}</Message>}
      {batchId && (
        <Message kind="warn">
          {t('breaks.file.some')}{' '}
          <a href={to(`breaks/batches/${batchId}`)}>{t('breaks.file.confirm')}</a>
        </Message>
      )}
      {refused.length > 0 && (
        <TableCard
          {...{ title: 'breaks.batch.refused', rows: refused }}
          columns={{
            'breaks.file.line': { count: ({ line }) => line },
            'word.result': { wide: ({ code }) => refusalOfCode(t, code) },
          }}
        />
      )}
      <Card title={t('breaks.file')}>
        <Muted>{t('breaks.file.intro', most)}</Muted>
        {may('take files') && (
          <Row>
            <ButtonLink
              is="plain"
              href={`${to('breaks/decisions')}?${address.toString()}&file=csv`}
            >
              {t('breaks.file.take')}
            </ButtonLink>
          </Row>
        )}
        <Form action={`${to('breaks/decisions')}?${address.toString()}`} hasFile>
          <Fields fields={{ file }} />
          <button>{t('breaks.file.check')}</button>
        </Form>
      </Card>
    </>
  );
}
