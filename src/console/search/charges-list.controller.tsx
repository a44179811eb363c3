// The lists of charges and of operations, with the filters of the API in the address.
import { Controller } from '@nestjs/common';
import { ChargesService } from '../../outbound/charges/charges.service.js';
import { listChargesRoute } from '../../outbound/charges/charges.schema.js';
import type { ChargeSettlement } from '../../outbound/charges/charge-settlement.js';
import { Database } from '../../platform/postgres/database.service.js';
import { OperationState } from '../../generated/service/enums.js';
import { OperationLists } from '../../outbound/operations/operation-lists.service.js';
import { listOperations } from '../../outbound/operations/operations.schema.js';
import { isUuid, readPage } from '../../platform/http/listing.js';
import { ConsolePage, Visiting } from '../console-page.decorator.js';
import { Amount } from '../elements.js';
import { formatTime } from '../formats.js';
import { DataTable } from '../frame.js';
import { readFilters } from '../list-query.js';
import { Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import { findTextKey } from '../texts.js';
import { accountOf, pathTo } from '../visit.js';
import { operationKindNames } from '../../bank-contract/operation-kinds.js';
import {
  examples,
  ListBody,
  rowsOfPage,
  PartyCell,
  StateBadge,
  writeDay,
} from './list-elements.js';
import { readPayments, type ListedPayments } from './listed-payments.queries.js';

const account = '/console/accounts/:account';
const chargeTypes = ['BANKSLIP', 'BANKSLIP_PIX', 'PIX_STATIC'] as const;

@Controller()
export class ChargeLists {
  constructor(
    private readonly charges: ChargesService,
    private readonly operations: OperationLists,
    private readonly database: Database,
  ) {}

  @ConsolePage({
    path: `${account}/charges`,
    needs: 'view',
    menu: { title: 'list.charges', section: 'payments', place: 30 },
  })
  async listCharges(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { filters, wrong } = readFilters(listChargesRoute.query, visit.query);
    const page = readPage({ limit: rowsOfPage, ...filters }, isUuid);
    const { data, next } = await this.charges.list(accountOf(visit).id, page, filters);
    const rows = [...data].map(toChargeRow);
    const ids = rows.map(({ expectedPaymentId }) => expectedPaymentId);
    const payments = await readPayments(this.database.prisma, visit, ids);
    const { t } = visit;
    const types = chargeTypes.map((type) => [type, t(`list.charge.type.${type}`)] as const);
    const body = (
      <ListBody
        {...{ visit, wrong, next }}
        empty="list.charges.empty"
        example={examples.charges}
        fields={[
          { name: 'correlationId', label: 'list.correlationId', type: 'text' },
          { name: 'type', label: 'list.type', options: types },
          {
            name: 'metadata',
            label: 'list.metadata',
            type: 'text',
            hint: 'list.metadataHint',
          },
        ]}
      >
        {rows.length === 0 ? null : <Charges visit={visit} rows={rows} payments={payments} />}
      </ListBody>
    );
    return new Shown(t('list.charges'), body);
  }

  @ConsolePage({
    path: `${account}/operations`,
    needs: 'view',
    menu: { title: 'list.operations', section: 'payments', place: 34 },
  })
  async listOperations(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { filters, wrong } = readFilters(listOperations.query, visit.query);
    const page = readPage({ limit: rowsOfPage, ...filters }, isUuid);
    const { data, next } = await this.operations.list(accountOf(visit).id, page, filters);
    const rows = [...data];
    const { t } = visit;
    const states = Object.values(OperationState).map(
      (state) => [state, t(`list.operationState.${state}`)] as const,
    );
    const kinds = operationKindNames.map((kind) => [kind, nameOfKind(visit, kind)] as const);
    const body = (
      <ListBody
        {...{ visit, wrong, next }}
        empty="list.operations.empty"
        example={examples.charges}
        fields={[
          { name: 'state', label: 'list.state', options: states },
          { name: 'kind', label: 'list.kind', options: kinds },
          { name: 'idempotencyKey', label: 'list.idempotencyKey', type: 'text' },
          {
            name: 'metadata',
            label: 'list.metadata',
            type: 'text',
            hint: 'list.metadataHint',
          },
        ]}
      >
        {rows.length === 0 ? null : <Operations visit={visit} rows={rows} />}
      </ListBody>
    );
    return new Shown(t('list.operations'), body);
  }
}

/** A kind of a later version is shown as it is stored. */
function nameOfKind({ t }: Visit, kind: string): string {
  const key = findTextKey(`list.operationKind.${kind}`);
  return key ? t(key) : kind;
}

interface ChargeRow {
  operationId: string;
  correlationId: string;
  expectedPaymentId: string;
  type: string;
  settlement: ChargeSettlement;
  operationState: OperationState;
  createdAt: Date | null;
}

type ChargeView = Omit<ChargeRow, 'type' | 'createdAt'> & { type?: unknown; createdAt?: unknown };

/** The bank's response may have any content. */
function toChargeRow(view: ChargeView): ChargeRow {
  const createdAt = typeof view.createdAt === 'string' ? new Date(view.createdAt) : null;
  return {
    ...view,
    type: typeof view.type === 'string' ? view.type : '',
    createdAt: createdAt && !Number.isNaN(createdAt.getTime()) ? createdAt : null,
  };
}

function Charges({
  visit,
  rows,
  payments,
}: {
  visit: Visit;
  rows: readonly ChargeRow[];
  payments: ListedPayments;
}) {
  const { t, language } = visit;
  return (
    <div class="stacked">
      <DataTable
        visit={visit}
        name={t('list.charges')}
        columns={[
          'list.correlationId',
          'list.amount',
          'list.settlement',
          'list.payer',
          'list.dueDate',
          'list.type',
          'list.createdAt',
        ]}
        numbers={['list.amount']}
      >
        {rows.map((row) => {
          const { amountCents, dueDate, counterparty } = payments(row.expectedPaymentId);
          const type = findTextKey(`list.charge.type.${row.type}`);
          return (
            <tr>
              <td class="wide">
                <a href={pathTo(visit, `charges/${row.operationId}`)}>{row.correlationId}</a>
              </td>
              <td class="number">
                {amountCents === null ? t('list.anyAmount') : <Amount cents={amountCents} />}
              </td>
              <td>
                <StateBadge
                  state={row.settlement}
                  text={t(`list.charge.settlement.${row.settlement}`)}
                />
                {row.operationState !== 'succeeded' && (
                  <>
                    {' '}
                    <StateBadge
                      state={row.operationState}
                      text={t(`list.operationState.${row.operationState}`)}
                    />
                  </>
                )}
              </td>
              <td class="wide" data-label={t('list.payer')}>
                <PartyCell party={counterparty} none={t('app.none')} />
              </td>
              <td data-label={t('list.dueDate')}>
                {dueDate === null ? t('app.none') : writeDay(dueDate)}
              </td>
              <td data-label={t('list.type')}>{type ? t(type) : row.type}</td>
              <td data-label={t('list.createdAt')}>{formatTime(row.createdAt, language)}</td>
            </tr>
          );
        })}
      </DataTable>
    </div>
  );
}

type OperationRow =
  Awaited<ReturnType<OperationLists['list']>>['data'] extends Iterable<infer Row> ? Row : never;

function Operations({ visit, rows }: { visit: Visit; rows: readonly OperationRow[] }) {
  const { t, language } = visit;
  return (
    <div class="stacked">
      <DataTable
        visit={visit}
        name={t('list.operations')}
        columns={[
          'list.kind',
          'list.state',
          'list.amount',
          'list.createdAt',
          'list.updatedAt',
          'list.attempts',
          'list.idempotencyKey',
        ]}
        numbers={['list.amount', 'list.attempts']}
      >
        {rows.map((row) => (
          <tr>
            <td>
              <a href={pathTo(visit, `operations/${row.id}`)}>{nameOfKind(visit, row.kind)}</a>
            </td>
            <td>
              <StateBadge state={row.state} text={t(`list.operationState.${row.state}`)} />
            </td>
            <td class="number">
              {row.amountCents === null ? t('app.none') : <Amount cents={row.amountCents} />}
            </td>
            <td data-label={t('list.createdAt')}>{formatTime(row.createdAt, language)}</td>
            <td data-label={t('list.updatedAt')}>{formatTime(row.updatedAt, language)}</td>
            <td class="number" data-label={t('list.attempts')}>
              {row.attempts}
            </td>
            <td class="wide" data-label={t('list.idempotencyKey')}>
              {row.idempotencyKey ?? t('app.none')}
            </td>
          </tr>
        ))}
      </DataTable>
    </div>
  );
}
