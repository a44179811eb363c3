// What awaits approval as a table: whom each payment pays, and why it waits.
import type { JSX } from 'preact';
import { punctuateTaxId } from '../../access/counterparties/party.js';
import type { NameOfActor } from '../actor-names.service.js';
import { Amount, Badge } from '../kit/elements.js';
import { formatTime } from '../formats.js';
import { DataTable } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { findTextKey, type TextKey } from '../texts.js';
import { pathTo } from '../visit.js';
import type { Waiting } from './waiting-approvals.service.js';

export interface WaitingProps {
  visit: Visit;
  waiting: Waiting;
}

/** Who receives the money, as exactly as it is known. */
export function PayeeCell({ visit, waiting }: WaitingProps): JSX.Element {
  const { t } = visit;
  const { party, digitableLine, refundedNsu } = waiting.payment;
  const { name, taxId, ispb, branch, account } = party;
  const parts = [
    taxId && (punctuateTaxId(taxId) ?? taxId),
    ispb && t('approvals.bank', { ispb }),
    branch && t('approvals.branch', { branch }),
    account && t('approvals.account', { account }),
    digitableLine && t('approvals.digitableLine', { line: digitableLine }),
  ].filter((part) => part !== null && part !== '');
  return (
    <>
      <strong>{name ?? textOf(visit, 'unnamed', waiting.kind)}</strong>
      {parts.length > 0 && <div class="muted">{parts.join(' · ')}</div>}
      {refundedNsu !== null && (
        <div>
          <a href={pathTo(visit, `statement/${refundedNsu}`)}>
            {t('approvals.refundedPix', { nsu: refundedNsu.toString() })}
          </a>
        </div>
      )}
    </>
  );
}

/** A kind of a later version is shown as it is stored. */
function textOf({ t }: Visit, list: 'kind' | 'unnamed', kind: string): string {
  const key = findTextKey(`approvals.${list}.${kind}`);
  return key ? t(key) : kind;
}

/** The name of a kind of operation that sends money. */
export function kindText(visit: Visit, kind: string): string {
  return textOf(visit, 'kind', kind);
}

export function Given({ visit: { t }, waiting }: WaitingProps): JSX.Element {
  const { given, needed, own } = waiting;
  return (
    <>
      {t('approvals.givenOf', { given, needed })}
      {own !== null && <div class="muted">{t(`approvals.own.${own}`)}</div>}
    </>
  );
}

function Expiry({ visit: { t, language }, waiting }: WaitingProps): JSX.Element {
  const { expiresAt, isExpired, expiresSoon } = waiting;
  return (
    <>
      {formatTime(expiresAt, language)}
      {isExpired ? (
        <div>
          <Badge tone="bad" text={t('approvals.expired')} />
        </div>
      ) : (
        expiresSoon && (
          <div>
            <Badge tone="warn" text={t('approvals.soon')} />
          </div>
        )
      )}
    </>
  );
}

export interface WaitingTableProps {
  visit: Visit;
  rows: readonly Waiting[];
  nameOf: NameOfActor;
  /** Whether rows can be chosen to be decided together. */
  isChosen: boolean;
}

export function WaitingTable({ visit, rows, nameOf, isChosen }: WaitingTableProps): JSX.Element {
  const columns: TextKey[] = ['approvals.payment', 'approvals.payee', 'approvals.expires'];
  return (
    <DataTable
      visit={visit}
      name={visit.t('approvals.title')}
      columns={[
        ...(isChosen ? (['approvals.choose'] as const) : []),
        ...[...columns, 'approvals.requestedBy' as const, 'approvals.why' as const],
        'approvals.given',
      ]}
    >
      {rows.map((waiting) => (
        <WaitingRow visit={visit} waiting={waiting} nameOf={nameOf} isChosen={isChosen} />
      ))}
    </DataTable>
  );
}

function WaitingRow({
  visit,
  waiting,
  nameOf,
  isChosen,
}: WaitingProps & Pick<WaitingTableProps, 'nameOf' | 'isChosen'>) {
  const { t, language } = visit;
  const { id, amountCents, kind, condition, createdAt, requestedBy } = waiting;
  const canChoose = waiting.own === null && !waiting.isExpired;
  return (
    <tr>
      {isChosen && (
        <td>
          {canChoose && (
            <input
              type="checkbox"
              name="operation"
              value={id}
              aria-label={t('approvals.chooseThis', { kind: kindText(visit, kind) })}
            />
          )}
        </td>
      )}
      <td>
        <a href={pathTo(visit, `approvals/${id}`)}>
          {amountCents !== null && <Amount cents={amountCents} />}
        </a>
        <div class="muted">{kindText(visit, kind)}</div>
      </td>
      <td class="wide">
        <PayeeCell visit={visit} waiting={waiting} />
      </td>
      <td>
        <Expiry visit={visit} waiting={waiting} />
      </td>
      <td class="wide">
        {nameOf(requestedBy)}
        <div class="muted">{formatTime(createdAt, language)}</div>
        <Source visit={visit} waiting={waiting} />
      </td>
      <td>{t(`approvals.condition.${condition}`)}</td>
      <td>
        <Given visit={visit} waiting={waiting} />
      </td>
    </tr>
  );
}

/** Where the request came from; a row of a file leads to all rows of it. */
export function Source({ visit, waiting: { source, uploadId, line } }: WaitingProps): JSX.Element {
  const { t } = visit;
  if (uploadId === null) return <div class="muted">{t(`approvals.source.${source}`)}</div>;
  return (
    <a href={pathTo(visit, `approvals/uploads/${uploadId}`)}>
      {t('approvals.uploadLine', { line: line ?? 0 })}
    </a>
  );
}
