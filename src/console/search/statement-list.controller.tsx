// The statement, newest first: each line with its explanation in words. Also the lines that could
// not be read.
import { Controller } from '@nestjs/common';
import { seesPersonalData } from '../../access/counterparties/counterparty.schema.js';
import { LineOutcomeState, UnreadableLineKind } from '../../generated/service/enums.js';
import { isNsu } from '../../platform/http/listing.js';
import { TransactionViews } from '../../reconciliation/api/transaction-views.service.js';
import { listTransactionsOfBook } from '../../reconciliation/api/transactions.schema.js';
import { listUnreadableLines } from '../../statement/lines/unreadable-lines.schema.js';
import { UnreadableLines } from '../../statement/lines/unreadable-lines.service.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { BalanceNotice } from '../kit/balances.js';
import { Badge, Message } from '../kit/elements.js';
import { Form } from '../kit/form.js';
import { ListCard, listPage } from '../kit/list-page.js';
import type { ListColumns } from '../kit/table.js';
import { MoneyFacts } from '../money-facts.service.js';
import { Redirect, type PageAnswer } from '../page.js';
import { callerOf, useVisit, type Visit } from '../visit.js';
import { LineExplanations } from './line-explanations.service.js';
import { partyColumn, StateBadge } from './list-elements.js';
import { nameOfType, Why } from './statement-elements.js';

type Line = Awaited<ReturnType<TransactionViews['list']>>['data'][number];

@Controller()
export class StatementPages {
  constructor(
    private readonly lines: TransactionViews,
    private readonly explanations: LineExplanations,
    private readonly unreadable: UnreadableLines,
    private readonly money: MoneyFacts,
  ) {}

  @ConsolePage('statement', 'view', { title: 'line.title', section: 'statement', place: 40 })
  async listLines(@Visiting() visit: Visit): Promise<PageAnswer> {
    const balances = await this.money.findBalances(visit.accountId);
    return listPage({
      visit,
      title: 'line.title',
      before: <BalanceNotice balances={balances} />,
      empty: 'line.empty',
      query: listTransactionsOfBook.query,
      filters: {
        dayFrom: { label: 'word.from', type: 'date' },
        dayTo: { label: 'word.to', type: 'date' },
        minAmount: { label: 'breaks.minAmount' },
        maxAmount: { label: 'breaks.maxAmount' },
        state: { label: 'word.status', options: Object.values(LineOutcomeState), of: 'line.state' },
        isCredit: {
          label: 'word.direction',
          options: [
            ['true', visit.t('line.credit')],
            ['false', visit.t('line.debit')],
          ],
        },
        day: { label: 'word.day', type: 'date', isMore: true },
        nsu: { label: 'line.reference.kind.nsu', isMore: true },
        reference: { label: 'word.reference', isMore: true },
        metadata: { label: 'word.metadata', hint: 'list.metadataHint', isMore: true },
      },
      isCursor: isNsu,
      read: (_page, query) => this.lines.list(callerOf(visit), query),
      total: (filters) => this.lines.total(callerOf(visit), filters),
      columns: (lines) => this.columnsOf(visit, lines),
    });
  }

  @ConsolePage('statement/unreadable', 'view', {
    title: 'unreadable.title',
    section: 'statement',
    place: 49,
  })
  listUnreadable(@Visiting() visit: Visit): PageAnswer {
    const { t, time } = visit;
    return listPage({
      visit,
      title: 'unreadable.title',
      empty: 'unreadable.empty',
      before: <ReadAgain />,
      query: listUnreadableLines.query,
      filters: {
        kind: {
          label: 'word.kind',
          options: Object.values(UnreadableLineKind),
          of: 'unreadable.kind',
        },
        isResolved: {
          label: 'word.status',
          options: [
            ['false', t('unreadable.open')],
            ['true', t('unreadable.resolved')],
          ],
        },
        nsu: { label: 'line.reference.kind.nsu' },
      },
      // The list itself refuses what is no cursor of it.
      isCursor: () => true,
      read: (_page, query) => this.unreadable.list(visit.accountId, query),
      columns: (_rows) => ({
        'word.kind': ({ kind }) => t(`unreadable.kind.${kind}`),
        'line.reference.kind.nsu': ({ nsu }) => nsu?.toString(),
        'app.reason': { wide: ({ reason }) => whyUnreadable(visit, reason) },
        'unreadable.recordedAt': { at: ({ recordedAt }) => recordedAt },
        'unreadable.resolved': ({ resolution, resolvedAt }) =>
          resolution === null ? (
            <Badge tone="warn" text={t('unreadable.open')} />
          ) : (
            `${t(`unreadable.resolution.${resolution}`)} ${time(resolvedAt)}`
          ),
      }),
      afterRows: (rows) => rows.some(({ resolvedAt }) => resolvedAt === null) && <WhatToDo />,
    });
  }

  @ConsoleAction('statement/unreadable', 'resolve breaks', 'read lines again', 'statement :account')
  async readAgain(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { read, unreadable } = await this.unreadable.redrive(visit.accountId);
    return new Redirect(visit.to(`statement/unreadable?read=${read}&unreadable=${unreadable}`));
  }

  private async columnsOf(visit: Visit, lines: readonly Line[]): Promise<ListColumns<Line>> {
    const { t } = visit;
    const isVisible = seesPersonalData(callerOf(visit).scopes);
    const isFile = visit.query.has('file');
    const explanations = isFile && (await this.explanations.read(visit.accountId, lines));
    return {
      'word.when': { at: ({ occurredAt }) => occurredAt, isOrder: true },
      'line.reference.kind.nsu': { isOnly: 'file', cell: ({ nsu }) => nsu.toString() },
      'word.counterparty': {
        ...partyColumn(
          ({ counterparty }: Line) => counterparty,
          ({ notes, ...line }) => notes ?? nameOfType(visit, line),
        ),
        isLead: true,
        href: ({ nsu }) => visit.to(`statement/${nsu}`),
      },
      'word.line': {
        wide: (line) => nameOfType(visit, line),
        ...(isVisible && {
          below: {
            label: 'line.notes',
            // Most say again what the line is, and who: the file and the record have them.
            cell: ({ notes, ...line }) =>
              notes !== null &&
              (isFile || !notes.startsWith(nameOfType(visit, line))) && <bdi>{notes}</bdi>,
          },
        }),
      },
      'word.amount': {
        isSigned: true,
        cents: ({ isCredit, amountCents }) => (isCredit ? amountCents : -amountCents),
        below: {
          label: 'word.direction',
          cell: ({ isCredit }) => t(isCredit ? 'line.credit' : 'line.debit'),
        },
      },
      'word.balanceAfter': {
        isDetail: true,
        cents: ({ currentBalanceCents }) => currentBalanceCents,
      },
      'word.status': (line) => {
        const badge = <StateBadge state={line.state} text={t(`line.state.${line.state}`)} />;
        if (line.breakKind === null || line.breakId === null) return badge;
        return <a href={visit.to(`breaks/${line.breakId}`)}>{badge}</a>;
      },
      'line.state': explanations && {
        isOnly: 'file',
        cell: (line) => <Why explained={explanations(line)} />,
      },
    };
  }
}

/** Why a line could not be read, in the reader's language. */
function whyUnreadable({ t, language }: Visit, reason: string) {
  if (language === 'en') return reason;
  const path = /^cannot be read at (.*)$/.exec(reason)?.[1];
  if (path === undefined)
    return t(
      reason === 'is a credit of a negative amount' ? 'unreadable.negative' : 'unreadable.changed',
    );
  return (
    <>
      {t('unreadable.cannotRead')} <code>{path === 'its root' ? '{}' : path}</code>
    </>
  );
}

function countIn(query: URLSearchParams, name: string): string {
  const count = query.get(name) ?? '';
  return /^\d{1,9}$/.test(count) ? count : '0';
}

/** What the step before has done. */
function ReadAgain() {
  const { t, query } = useVisit();
  const read = query.get('read');
  if (read === null || !/^\d{1,9}$/.test(read)) return null;
  const unreadable = countIn(query, 'unreadable');
  return <Message kind="good">{t('unreadable.done', { read, unreadable })}</Message>;
}

function WhatToDo() {
  const { t, to, may } = useVisit();
  return (
    <ListCard>
      <p>{t('unreadable.what')}</p>
      {may('resolve breaks') && (
        <Form action={to('statement/unreadable')}>
          <button>{t('unreadable.again')}</button>
        </Form>
      )}
    </ListCard>
  );
}
