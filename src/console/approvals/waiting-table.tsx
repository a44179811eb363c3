// What awaits approval as a table: whom each payment pays, and why it waits.
import type { NameOfActor } from '../../access/people/names-of-actors.service.js';
import { writeTaxId } from '../formats.js';
import type { MoneyPayee } from '../kit/confirm-money.js';
import { Badge, Hint } from '../kit/elements.js';
import type { ListColumns } from '../kit/table.js';
import { useVisit, type Visit } from '../visit.js';
import { findTextKey } from '../texts.js';
import type { Waiting } from './waiting-approvals.service.js';

export interface WaitingProps {
  waiting: Waiting;
}

/** Who receives the money, as exactly as it is known. */
export function PayeeCell({ waiting }: WaitingProps) {
  const visit = useVisit();
  const { t } = visit;
  const { party, digitableLine, pixKey, refundedNsu } = waiting.payment;
  const { name, taxId, ispb, branch, account } = party;
  const parts = [
    writeTaxId(taxId),
    ispb && t('approvals.bank', { ispb }),
    branch && t('approvals.branch', { branch }),
    account && t('approvals.account', { account }),
    pixKey && t('approvals.pixKey', { key: pixKey }),
    digitableLine && t('approvals.digitableLine', { line: digitableLine }),
  ].filter((part) => part !== null && part !== '');
  return (
    <>
      <strong>{name ?? textOf(visit, 'unnamed', waiting.kind)}</strong>
      {parts.length > 0 && <Hint isBlock>{parts.join(' · ')}</Hint>}
      {refundedNsu !== null && (
        <div>
          <a href={visit.to(`statement/${refundedNsu}`)}>
            {t('approvals.refundedPix', { nsu: refundedNsu.toString() })}
          </a>
        </div>
      )}
    </>
  );
}

/** What the payment pays, for its confirmation. */
export function moneyPayeeOf(visit: Visit, waiting: Waiting, nameOf: NameOfActor): MoneyPayee {
  const { id, kind, amountCents, requestedBy, createdAt, payment } = waiting;
  const { party, digitableLine, pixKey } = payment;
  const isCoded = (party.account ?? pixKey ?? digitableLine) !== null;
  return {
    // Without a name, the account says more than that there is none.
    party: { ...party, name: party.name ?? (isCoded ? null : textOf(visit, 'unnamed', kind)) },
    key: pixKey ?? digitableLine,
    amountCents: amountCents ?? 0n,
    asked: { by: nameOf(requestedBy), at: createdAt },
    href: visit.to(`approvals/${id}`),
  };
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

function Given({ waiting }: WaitingProps) {
  const { t } = useVisit();
  const { given, needed, own } = waiting;
  return (
    <>
      {t('approvals.givenOf', { given, needed })}
      {own !== null && <Hint isBlock>{t(`approvals.own.${own}`)}</Hint>}
    </>
  );
}

function Expiry({ waiting }: WaitingProps) {
  const { t, time } = useVisit();
  const { expiresAt, isExpired, expiresSoon } = waiting;
  return (
    <>
      {time(expiresAt)}
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

export const waitingColumns = (
  visit: Visit,
  nameOf: NameOfActor,
  /** Whether rows can be chosen to be decided together. */
  isChosen: boolean,
): ListColumns<Waiting> => ({
  'approvals.choose': isChosen && {
    cell: (waiting) => <Choice waiting={waiting} />,
    isOnly: 'page',
  },
  'word.payment': {
    cents: ({ amountCents }) => amountCents,
    href: ({ id }) => visit.to(`approvals/${id}`),
    below: { label: 'word.kind', cell: ({ kind }) => kindText(visit, kind) },
  },
  'approvals.payee': { wide: (waiting) => <PayeeCell waiting={waiting} /> },
  'approvals.expires': (waiting) => <Expiry waiting={waiting} />,
  'word.requestedBy': {
    wide: (waiting) => (
      <>
        {nameOf(waiting.requestedBy)}
        <Hint isBlock>{visit.time(waiting.createdAt)}</Hint>
        <Source waiting={waiting} />
      </>
    ),
  },
  'approvals.why': ({ condition }) => visit.t(`approvals.condition.${condition}`),
  'section.approvals': (waiting) => <Given waiting={waiting} />,
});

function Choice({ waiting: { id, kind, own, isExpired } }: WaitingProps) {
  const visit = useVisit();
  if (own !== null || isExpired) return null;
  const label = visit.t('approvals.chooseThis', { kind: kindText(visit, kind) });
  return <input {...{ type: 'checkbox', name: 'operation', value: id }} aria-label={label} />;
}

/** Where the request came from; a row of a file leads to all rows of it. */
export function Source({ waiting: { source, uploadId, line } }: WaitingProps) {
  const { t, to } = useVisit();
  if (uploadId === null) return <Hint isBlock>{t(`approvals.source.${source}`)}</Hint>;
  return (
    <a href={to(`approvals/uploads/${uploadId}`)}>
      {t('approvals.uploadLine', { line: line ?? 0 })}
    </a>
  );
}
