// The lists of money that was sent: transfers, bill payments and refunds, with the filters of the
// API in the address.
import { Controller } from '@nestjs/common';
import type { ComponentChildren } from 'preact';
import { BillPaymentViews } from '../../outbound/bill-payments/bill-payment-views.service.js';
import { listBillPaymentsRoute } from '../../outbound/bill-payments/bill-payments.schema.js';
import { Database } from '../../platform/postgres/database.service.js';
import type { OutgoingSettlement } from '../../statement/expected-payments/outgoing-settlement.js';
import {
  BillPaymentState,
  RefundState,
  TransferShape,
  TransferState,
} from '../../generated/service/enums.js';
import { isUuid, readPage } from '../../platform/http/listing.js';
import { RefundViews } from '../../outbound/refunds/refund-views.service.js';
import { listRefundsRoute } from '../../outbound/refunds/refunds.schema.js';
import { TransferViews } from '../../outbound/transfers/transfer-views.service.js';
import { listTransfersRoute } from '../../outbound/transfers/transfers.schema.js';
import { ConsolePage, Visiting } from '../console-page.decorator.js';
import { Amount, type FilterField } from '../elements.js';
import { formatTime } from '../formats.js';
import { DataTable } from '../frame.js';
import { readFilters } from '../list-query.js';
import { Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import type { TextKey } from '../texts.js';
import { accountOf, pathTo } from '../visit.js';
import {
  examples,
  LineLink,
  ListBody,
  rowsOfPage,
  PartyCell,
  StateBadge,
} from './list-elements.js';
import { readPayments, type ListedPayments } from './listed-payments.queries.js';

const account = '/console/accounts/:account';

@Controller()
export class SentMoneyLists {
  constructor(
    private readonly transfers: TransferViews,
    private readonly bills: BillPaymentViews,
    private readonly refunds: RefundViews,
    private readonly database: Database,
  ) {}

  @ConsolePage({
    path: `${account}/transfers`,
    needs: 'view',
    menu: { title: 'list.transfers', section: 'payments', place: 31 },
  })
  async listTransfers(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t } = visit;
    const { filters, wrong } = readFilters(listTransfersRoute.query, visit.query);
    const page = readPage({ limit: rowsOfPage, ...filters }, isUuid);
    const { data, next } = await this.transfers.list(accountOf(visit).id, page, filters);
    const rows = [...data].map((row) => ({
      ...row,
      stateText: t(`list.transferState.${row.state}`),
      name: t(`list.transferShape.${row.shape}`),
      detail: row.externalId,
    }));
    const states = Object.values(TransferState);
    const shapes = Object.values(TransferShape);
    return this.show(visit, { rows, next, wrong }, transferList, [
      {
        name: 'state',
        label: 'list.state',
        options: states.map((state) => [state, t(`list.transferState.${state}`)]),
      },
      {
        name: 'shape',
        label: 'list.shape',
        options: shapes.map((shape) => [shape, t(`list.transferShape.${shape}`)]),
      },
      { name: 'externalId', label: 'list.externalId', type: 'text' },
      { name: 'endToEndId', label: 'list.endToEndId', type: 'text' },
      { name: 'operationId', label: 'list.operationId', type: 'text' },
      { name: 'metadata', label: 'list.metadata', type: 'text', hint: 'list.metadataHint' },
    ]);
  }

  @ConsolePage({
    path: `${account}/bills`,
    needs: 'view',
    menu: { title: 'list.bills', section: 'payments', place: 32 },
  })
  async listBills(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t, language } = visit;
    const { filters, wrong } = readFilters(listBillPaymentsRoute.query, visit.query);
    const page = readPage({ limit: rowsOfPage, ...filters }, isUuid);
    const { data, next } = await this.bills.list(accountOf(visit).id, page, filters);
    const rows = [...data].map((row) => ({
      ...row,
      stateText: t(`list.billState.${row.state}`),
      name: row.barCode,
      detail: row.scheduledFor === null ? null : formatTime(row.scheduledFor, language),
    }));
    const states = Object.values(BillPaymentState);
    return this.show(visit, { rows, next, wrong }, billList, [
      {
        name: 'state',
        label: 'list.state',
        options: states.map((state) => [state, t(`list.billState.${state}`)]),
      },
      { name: 'barCode', label: 'list.barCode', type: 'text' },
    ]);
  }

  @ConsolePage({
    path: `${account}/refunds`,
    needs: 'view',
    menu: { title: 'list.refunds', section: 'payments', place: 33 },
  })
  async listRefunds(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t } = visit;
    const { filters, wrong } = readFilters(listRefundsRoute.query, visit.query);
    const page = readPage({ limit: rowsOfPage, ...filters }, isUuid);
    const { data, next } = await this.refunds.list(accountOf(visit).id, page, filters);
    const rows = [...data].map((row) => ({
      ...row,
      stateText: t(`list.refundState.${row.state}`),
      name: row.endToEndId ?? row.id,
      detail: <LineLink visit={visit} nsu={row.originalNsu} />,
    }));
    const states = Object.values(RefundState);
    return this.show(visit, { rows, next, wrong }, refundList, [
      {
        name: 'state',
        label: 'list.state',
        options: states.map((state) => [state, t(`list.refundState.${state}`)]),
      },
      { name: 'originalNsu', label: 'list.originalNsu', type: 'text' },
    ]);
  }

  private async show(
    visit: Visit,
    { rows, next, wrong }: { rows: SentRow[]; next: string | null; wrong: string[] },
    list: SentList,
    fields: readonly FilterField[],
  ): Promise<PageAnswer> {
    const ids = rows.map(({ expectedPaymentId }) => expectedPaymentId);
    const payments = await readPayments(this.database.prisma, visit, ids);
    const { empty, example } = list;
    const body = (
      <ListBody {...{ visit, fields, wrong, next, empty, example }}>
        {rows.length === 0 ? null : <SentTable {...{ visit, rows, payments, list }} />}
      </ListBody>
    );
    return new Shown(visit.t(list.title), body);
  }
}

/** A transfer, a bill payment or a refund, with its own words. */
interface SentRow {
  id: string;
  expectedPaymentId: string;
  amountCents: bigint;
  state: string;
  stateText: string;
  settlement: OutgoingSettlement;
  nsu: bigint | null;
  createdAt: Date;
  name: string;
  detail: ComponentChildren;
}

interface SentList {
  page: 'transfers' | 'bills' | 'refunds';
  title: TextKey;
  /** Of the columns `name` and `detail`. */
  columns: readonly [TextKey, TextKey];
  empty: TextKey;
  example: string;
}

const transferList: SentList = {
  page: 'transfers',
  title: 'list.transfers',
  columns: ['list.shape', 'list.externalId'],
  empty: 'list.transfers.empty',
  example: examples.transfers,
};
const billList: SentList = {
  page: 'bills',
  title: 'list.bills',
  columns: ['list.barCode', 'list.scheduledFor'],
  empty: 'list.bills.empty',
  example: examples.bills,
};
const refundList: SentList = {
  page: 'refunds',
  title: 'list.refunds',
  columns: ['list.id', 'list.originalNsu'],
  empty: 'list.refunds.empty',
  example: examples.refunds,
};

function SentTable({
  visit,
  rows,
  payments,
  list: { page, title, columns },
}: {
  visit: Visit;
  rows: readonly SentRow[];
  payments: ListedPayments;
  list: SentList;
}) {
  const { t, language } = visit;
  const [name, detail] = columns;
  return (
    <div class="stacked">
      <DataTable
        visit={visit}
        name={t(title)}
        columns={[
          name,
          'list.amount',
          'list.state',
          'list.settlement',
          'list.beneficiary',
          detail,
          'list.nsu',
          'list.createdAt',
        ]}
        numbers={['list.amount']}
      >
        {rows.map((row) => (
          <tr>
            <td class="wide">
              <a href={pathTo(visit, `${page}/${row.id}`)}>{row.name}</a>
            </td>
            <td class="number">
              <Amount cents={row.amountCents} />
            </td>
            <td>
              <StateBadge state={row.state} text={row.stateText} />
            </td>
            <td data-label={t('list.settlement')}>
              <StateBadge
                state={row.settlement}
                text={t(`list.sent.settlement.${row.settlement}`)}
              />
            </td>
            <td class="wide" data-label={t('list.beneficiary')}>
              <PartyCell
                party={payments(row.expectedPaymentId).counterparty}
                none={t('app.none')}
              />
            </td>
            <td class="wide" data-label={t(detail)}>
              {row.detail ?? t('app.none')}
            </td>
            <td data-label={t('list.nsu')}>
              <LineLink visit={visit} nsu={row.nsu} />
            </td>
            <td data-label={t('list.createdAt')}>{formatTime(row.createdAt, language)}</td>
          </tr>
        ))}
      </DataTable>
    </div>
  );
}
