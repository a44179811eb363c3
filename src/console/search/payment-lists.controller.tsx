// The lists of charges, operations, transfers, bill payments and refunds.
import { Controller } from '@nestjs/common';
import { findCounterparties } from '../../access/counterparties/counterparties.queries.js';
import { shownCounterparty } from '../../access/counterparties/counterparty.schema.js';
import { BillPaymentViews } from '../../outbound/bill-payments/bill-payment-views.service.js';
import { listBillPaymentsRoute } from '../../outbound/bill-payments/bill-payments.schema.js';
import { chargeSettlements } from '../../outbound/charges/charge-settlement.js';
import { listChargesRoute } from '../../outbound/charges/charges.schema.js';
import { ChargesService } from '../../outbound/charges/charges.service.js';
import { Database } from '../../platform/postgres/database.service.js';
import * as enums from '../../generated/service/enums.js';
import { OperationLists } from '../../outbound/operations/operation-lists.service.js';
import { listOperations } from '../../outbound/operations/operations.schema.js';
import { RefundViews } from '../../outbound/refunds/refund-views.service.js';
import { listRefundsRoute } from '../../outbound/refunds/refunds.schema.js';
import { TransferViews } from '../../outbound/transfers/transfer-views.service.js';
import { listTransfersRoute } from '../../outbound/transfers/transfers.schema.js';
import { ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { chargeTypeOf } from '../payments/payment-codes.js';
import { operationKindNames } from '../../bank-contract/operation-kinds.js';
import { listPage } from '../kit/list-page.js';
import type { ListColumns } from '../kit/table.js';
import type { Visit } from '../visit.js';
import { wordOf } from '../texts.js';
import { examples, LineLink, partyColumn, StateBadge, writeDay } from './list-elements.js';
import { readPayments } from './listed-payments.queries.js';

const metadata = { label: 'word.metadata', hint: 'list.metadataHint', isMore: true } as const;
const range = {
  createdFrom: { label: 'word.from', type: 'date' },
  createdTo: { label: 'word.to', type: 'date' },
  minAmount: { label: 'breaks.minAmount' },
  maxAmount: { label: 'breaks.maxAmount' },
} as const;
const ownId = { label: 'list.ownId', isMore: true } as const;
const chargeTypes = ['BANKSLIP', 'BANKSLIP_PIX', 'PIX_STATIC'] as const;

type ListedCharge = Awaited<ReturnType<ChargesService['list']>>['data'][number];

@Controller()
export class PaymentLists {
  constructor(
    private readonly charges: ChargesService,
    private readonly operations: OperationLists,
    private readonly transfers: TransferViews,
    private readonly bills: BillPaymentViews,
    private readonly refunds: RefundViews,
    private readonly database: Database,
  ) {}

  @ConsolePage('charges', 'view', { title: 'search.charges', section: 'payments', place: 30 })
  listCharges(@Visiting() visit: Visit) {
    return listPage({
      visit,
      title: 'search.charges',
      empty: 'list.charges.empty',
      example: examples.charges,
      query: listChargesRoute.query,
      filters: {
        ...range,
        settlement: {
          label: 'word.status',
          options: chargeSettlements,
          of: 'list.charge.settlement',
        },
        type: { label: 'word.kind', options: chargeTypes, of: 'list.charge.type' },
        correlationId: ownId,
        metadata,
      },
      read: (at, filters) => this.charges.list(visit.accountId, at, filters),
      total: (filters) => this.charges.total(visit.accountId, filters),
      columns: async (rows) => {
        const payments = await this.readPayments(visit, rows);
        return {
          'list.createdAt': {
            at: (row) => payments(row.expectedPaymentId).createdAt,
            isOrder: true,
          },
          'word.payer': {
            ...partyColumn(
              (row: ListedCharge) => payments(row.expectedPaymentId).counterparty,
              ({ correlationId }) => correlationId,
            ),
            isLead: true,
            href: ({ operationId }) => visit.to(`charges/${operationId}`),
          },
          'word.kind': (row) => visit.t(chargeTypeOf(row)),
          'list.ownId': {
            isDetail: true,
            wide: ({ correlationId }) => correlationId,
          },
          'word.dueDate': {
            isDetail: true,
            cell: (row) => {
              const { dueDate } = payments(row.expectedPaymentId);
              return dueDate && writeDay(dueDate);
            },
          },
          'word.amount': { cents: (row) => payments(row.expectedPaymentId).amountCents },
          'word.status': (row) => (
            <>
              {row.operationState === 'succeeded'
                ? badge(visit, 'list.charge.settlement', row.settlement)
                : badge(visit, 'list.operationState', row.operationState)}
            </>
          ),
        };
      },
    });
  }

  @ConsolePage('operations', 'view', { title: 'search.operations', section: 'payments', place: 34 })
  listOperations(@Visiting() visit: Visit) {
    return listPage({
      visit,
      title: 'search.operations',
      empty: 'list.operations.empty',
      example: examples.charges,
      query: listOperations.query,
      filters: {
        state: states('list.operationState', enums.OperationState),
        kind: { label: 'word.kind', options: operationKindNames, of: 'list.operationKind' },
        idempotencyKey: { label: 'referenceKind.idempotency_key', isMore: true },
        metadata,
      },
      read: (at, filters) => this.operations.list(visit.accountId, at, filters),
      total: (filters) => this.operations.total(visit.accountId, filters),
      columns: (_rows) => ({
        'list.createdAt': { at: ({ createdAt }) => createdAt, isOrder: true },
        'word.kind': {
          isLead: true,
          href: hrefIn(visit, 'operations'),
          wide: ({ kind }) => wordOf(visit.t, 'list.operationKind', kind),
        },
        'referenceKind.idempotency_key': {
          isDetail: true,
          wide: ({ idempotencyKey }) => idempotencyKey,
        },
        'list.attempts': { is: 'number', isDetail: true, cell: ({ attempts }) => attempts },
        'list.updatedAt': { isDetail: true, at: ({ updatedAt }) => updatedAt },
        'word.amount': { cents: ({ amountCents }) => amountCents },
        'word.status': ({ state }) => badge(visit, 'list.operationState', state),
      }),
    });
  }

  @ConsolePage('transfers', 'view', { title: 'search.transfers', section: 'payments', place: 31 })
  listTransfers(@Visiting() visit: Visit) {
    return listPage({
      visit,
      title: 'search.transfers',
      empty: 'list.transfers.empty',
      example: examples.transfers,
      query: listTransfersRoute.query,
      filters: {
        ...range,
        state: states('list.sentState', enums.TransferState),
        shape: {
          label: 'list.shape',
          options: Object.values(enums.TransferShape),
          of: 'list.transferShape',
        },
        externalId: ownId,
        endToEndId: { label: 'list.endToEndId', isMore: true },
        operationId: { label: 'list.operationId', isMore: true },
        metadata,
      },
      read: (at, filters) => this.transfers.list(visit.accountId, at, filters),
      total: (filters) => this.transfers.total(visit.accountId, filters),
      columns: (rows) =>
        this.sentColumns(visit, rows, 'transfers', {
          'list.shape': ({ shape }) => wordOf(visit.t, 'list.transferShape', shape),
          'list.ownId': { isDetail: true, wide: ({ externalId }) => externalId },
        }),
    });
  }

  @ConsolePage('bills', 'view', { title: 'list.bills', section: 'payments', place: 32 })
  listBills(@Visiting() visit: Visit) {
    return listPage({
      visit,
      title: 'list.bills',
      empty: 'list.bills.empty',
      example: examples.bills,
      query: listBillPaymentsRoute.query,
      filters: {
        state: states('list.sentState', enums.BillPaymentState),
        barCode: { label: 'word.barCode' },
      },
      read: (at, filters) => this.bills.list(visit.accountId, at, filters),
      total: (filters) => this.bills.total(visit.accountId, filters),
      columns: (rows) =>
        this.sentColumns(visit, rows, 'bills', {
          'word.barCode': { isDetail: true, wide: ({ barCode }) => barCode },
          'list.scheduledFor': { isDetail: true, at: ({ scheduledFor }) => scheduledFor },
        }),
    });
  }

  @ConsolePage('refunds', 'view', { title: 'search.refunds', section: 'payments', place: 33 })
  listRefunds(@Visiting() visit: Visit) {
    return listPage({
      visit,
      title: 'search.refunds',
      empty: 'list.refunds.empty',
      example: examples.refunds,
      query: listRefundsRoute.query,
      filters: {
        state: states('list.sentState', enums.RefundState),
        originalNsu: { label: 'list.originalNsu', isMore: true },
      },
      read: (at, filters) => this.refunds.list(visit.accountId, at, filters),
      total: (filters) => this.refunds.total(visit.accountId, filters),
      columns: (rows) =>
        this.sentColumns(visit, rows, 'refunds', {
          'list.endToEndId': { isDetail: true, wide: ({ endToEndId }) => endToEndId },
          'list.originalNsu': {
            isDetail: true,
            cell: ({ originalNsu }) => <LineLink nsu={originalNsu} />,
          },
        }),
    });
  }

  /** Of money that was sent: what the three lists have in common, around their own columns. */
  private async sentColumns<Row extends SentRow>(
    visit: Visit,
    rows: readonly Row[],
    list: 'transfers' | 'bills' | 'refunds',
    own: ListColumns<Row>,
  ): Promise<ListColumns<Row>> {
    const payments = await this.readPayments(visit, rows);
    // What a request does not name, its line may; of a refund, the line of the refunded Pix.
    const lineOf = ({ originalNsu, nsu }: Row) => originalNsu ?? nsu;
    const requested = (row: Row) => payments(row.expectedPaymentId).counterparty;
    const unnamed = rows.filter((row) => requested(row).name === null);
    const lines = unnamed.flatMap((row) => lineOf(row) ?? []);
    const ofLine = await findCounterparties(this.database.prisma, visit.accountId, lines);
    const partyOf = (row: Row) => {
      const party = ofLine.get(lineOf(row) ?? 0n);
      if (requested(row).name !== null || !party?.name) return requested(row);
      return shownCounterparty(party, visit.may('see personal data'));
    };
    return {
      'list.createdAt': { at: ({ createdAt }) => createdAt, isOrder: true },
      'list.beneficiary': {
        ...partyColumn(partyOf, () => visit.t('money.unnamed')),
        isLead: true,
        href: hrefIn(visit, list),
      },
      ...own,
      'line.reference.kind.nsu': { isDetail: true, cell: ({ nsu }) => <LineLink nsu={nsu} /> },
      'word.amount': { cents: ({ amountCents }) => amountCents },
      'word.status': ({ state }) => badge(visit, 'list.sentState', state),
      'word.settlement': ({ settlement }) => badge(visit, 'list.sent.settlement', settlement),
    };
  }

  private readPayments(visit: Visit, rows: readonly { expectedPaymentId: string }[]) {
    const ids = rows.map(({ expectedPaymentId }) => expectedPaymentId);
    return readPayments(this.database.prisma, visit, ids);
  }
}

interface SentRow {
  id: string;
  expectedPaymentId: string;
  amountCents: bigint;
  state: string;
  settlement: string;
  nsu: bigint | null;
  originalNsu?: bigint;
  createdAt: Date;
}

const states = (of: string, values: Record<string, string>) =>
  ({ label: 'word.status', options: Object.values(values), of }) as const;

const badge = (visit: Visit, of: string, state: string) => (
  <StateBadge state={state} text={wordOf(visit.t, of, state)} />
);

const hrefIn = (visit: Visit, records: string) => (row: { id: string }) =>
  visit.to(`${records}/${row.id}`);
