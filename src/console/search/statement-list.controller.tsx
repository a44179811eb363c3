// The statement, newest first: each line with its explanation in words. Also the lines that could
// not be read.
import { Controller } from '@nestjs/common';
import { seesPersonalData } from '../../access/counterparties/counterparty.schema.js';
import { LineOutcomeState } from '../../generated/service/enums.js';
import { TransactionViews } from '../../reconciliation/api/transaction-views.service.js';
import { listTransactionsOfBook } from '../../reconciliation/api/transactions.schema.js';
import { listUnreadableLines } from '../../statement/lines/unreadable-lines.schema.js';
import { UnreadableLines } from '../../statement/lines/unreadable-lines.service.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Badge, Empty, Filters, Pager } from '../kit/elements.js';
import { formatTime } from '../formats.js';
import { DataTable, Form, Message } from '../kit/frame.js';
import { readFilters } from '../list-query.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import { accountOf, callerOf, isAllowedTo, pathTo } from '../visit.js';
import { LineExplanations } from './line-explanations.service.js';
import { rowsOfPage } from '../kit/list-page.js';
import { ListBody } from './list-elements.js';
import { StatementTable } from './statement-elements.js';

const statement = '/console/accounts/:account/statement';

@Controller()
export class StatementPages {
  constructor(
    private readonly lines: TransactionViews,
    private readonly explanations: LineExplanations,
    private readonly unreadable: UnreadableLines,
  ) {}

  @ConsolePage({
    path: statement,
    needs: 'view',
    menu: { title: 'line.title', section: 'statement', place: 40 },
  })
  async listLines(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t } = visit;
    const { filters, wrong } = readFilters(listTransactionsOfBook.query, visit.query);
    const { data: lines, next } = await this.lines.list(callerOf(visit), {
      limit: rowsOfPage,
      ...filters,
    });
    const explanations = await this.explanations.read(accountOf(visit).id, lines);
    const states = Object.values(LineOutcomeState);
    const body = (
      <ListBody
        {...{ visit, wrong, next }}
        empty="line.empty"
        fields={[
          { name: 'day', label: 'line.day', type: 'date' },
          {
            name: 'state',
            label: 'line.state',
            options: states.map((state) => [state, t(`line.state.${state}`)]),
          },
          {
            name: 'isCredit',
            label: 'line.direction',
            options: [
              ['true', t('line.credit')],
              ['false', t('line.debit')],
            ],
          },
          { name: 'nsu', label: 'list.nsu', type: 'text' },
          { name: 'reference', label: 'line.reference', type: 'text' },
          { name: 'metadata', label: 'list.metadata', type: 'text', hint: 'list.metadataHint' },
        ]}
      >
        {lines.length === 0 ? null : (
          <StatementTable
            {...{ visit, lines, explanations }}
            isVisible={seesPersonalData(callerOf(visit).scopes)}
          />
        )}
      </ListBody>
    );
    return new Shown(t('line.title'), body);
  }

  @ConsolePage({
    path: `${statement}/unreadable`,
    needs: 'view',
    menu: { title: 'unreadable.title', section: 'statement', place: 49 },
  })
  async listUnreadable(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t } = visit;
    const { filters, wrong } = readFilters(listUnreadableLines.query, visit.query);
    const { data: lines, next } = await this.unreadable.list(accountOf(visit).id, {
      limit: rowsOfPage,
      ...filters,
    });
    const read = visit.query.get('read');
    const body = (
      <>
        {read !== null && /^\d{1,9}$/.test(read) && (
          <Message kind="good">
            {t('unreadable.done', { read, unreadable: countIn(visit.query, 'unreadable') })}
          </Message>
        )}
        <Filters
          visit={visit}
          wrong={wrong}
          fields={[
            {
              name: 'kind',
              label: 'list.kind',
              options: [
                ['unreadable', t('unreadable.kind.unreadable')],
                ['changed', t('unreadable.kind.changed')],
              ],
            },
            {
              name: 'isResolved',
              label: 'list.state',
              options: [
                ['false', t('unreadable.open')],
                ['true', t('unreadable.resolved')],
              ],
            },
            { name: 'nsu', label: 'list.nsu', type: 'text' },
          ]}
        />
        <div class="card">
          {lines.length === 0 ? (
            <Empty>{t('unreadable.empty')}</Empty>
          ) : (
            <UnreadableTable visit={visit} lines={lines} />
          )}
          <Pager visit={visit} next={next} />
        </div>
        {lines.some(({ resolvedAt }) => resolvedAt === null) && <WhatToDo visit={visit} />}
      </>
    );
    return new Shown(t('unreadable.title'), body);
  }

  @ConsoleAction({
    path: `${statement}/unreadable`,
    needs: 'resolve breaks',
    audit: { action: 'read lines again', subject: (visit) => `statement ${accountOf(visit).slug}` },
  })
  async readAgain(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { read, unreadable } = await this.unreadable.redrive(accountOf(visit).id);
    return new Redirect(
      pathTo(visit, `statement/unreadable?read=${read}&unreadable=${unreadable}`),
    );
  }
}

function countIn(query: URLSearchParams, name: string): string {
  const count = query.get(name) ?? '';
  return /^\d{1,9}$/.test(count) ? count : '0';
}

type UnreadableRow = Awaited<ReturnType<UnreadableLines['list']>>['data'][number];

function UnreadableTable({ visit, lines }: { visit: Visit; lines: readonly UnreadableRow[] }) {
  const { t, language } = visit;
  return (
    <DataTable
      visit={visit}
      name={t('unreadable.title')}
      columns={[
        'list.kind',
        'list.nsu',
        'unreadable.reason',
        'unreadable.recordedAt',
        'unreadable.resolved',
      ]}
    >
      {lines.map((line) => (
        <tr>
          <td>{t(`unreadable.kind.${line.kind}`)}</td>
          <td>{line.nsu?.toString() ?? t('app.none')}</td>
          <td class="wide">{line.reason}</td>
          <td>{formatTime(line.recordedAt, language)}</td>
          <td>
            {line.resolution === null ? (
              <Badge tone="warn" text={t('unreadable.open')} />
            ) : (
              <>
                {t(`unreadable.resolution.${line.resolution}`)}{' '}
                {formatTime(line.resolvedAt, language)}
              </>
            )}
          </td>
        </tr>
      ))}
    </DataTable>
  );
}

function WhatToDo({ visit }: { visit: Visit }) {
  const { t } = visit;
  return (
    <div class="card">
      <p>{t('unreadable.what')}</p>
      {isAllowedTo(visit, 'resolve breaks') && (
        <Form visit={visit} action={pathTo(visit, 'statement/unreadable')}>
          <button>{t('unreadable.again')}</button>
        </Form>
      )}
    </div>
  );
}
