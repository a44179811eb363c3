// What the pages of charges, transfers, bills, refunds and operations have in common.
import { stringify } from 'lossless-json';
import type { ComponentChildren, JSX } from 'preact';
import { AppError } from '../../platform/errors.js';
import { parseJson, stringifyJson } from '../../platform/json/exact-json.js';
import type { Counterparty } from '../../access/counterparties/resolution.js';
import { writeTaxId } from '../formats.js';
import { Badge, Card, Code, FactList, Message, Folded, Row, type Tone } from '../kit/elements.js';
import { useVisit, type Visit } from '../visit.js';
import { findTextKey, type TextKey } from '../texts.js';
import { toneOfState, wordFor } from './story.js';
import { shownValue } from './story-timeline.js';

const maxIdLength = 100;

/** The id of the path as a business system knows it. Throws `not_found` for what cannot be one. */
export function recordId({ params }: Visit): string {
  const { id = '' } = params;
  if (id === '' || id.length > maxIdLength || /\p{Cc}/u.test(id)) throw new AppError('not_found');
  return id;
}

export function pathOfRecord(visit: Visit, list: string, id: string): string {
  return visit.to(`${list}/${encodeURIComponent(id)}`);
}

export function Identifier({ text }: { text: string | null }): JSX.Element | string {
  return text === null ? '—' : <code>{text}</code>;
}

/** A state that the database stores, in words. */
export function RecordStateBadge({
  list,
  state,
  tone = toneOfState(state),
}: {
  /** The beginning of the keys of its texts. */
  list: string;
  state: string;
  tone?: Tone;
}) {
  const visit = useVisit();
  return <Badge tone={tone} text={shownValue(visit, wordFor(list, state))} />;
}

/** What the statement shows of a payment. */
export function SettlementBadge({ of, settlement }: { of: 'charge' | 'sent'; settlement: string }) {
  const isCalm = ['open', 'withdrawn', 'cancelled'].includes(settlement);
  const tone = settlement === 'settled' ? 'good' : isCalm ? 'plain' : 'warn';
  return <RecordStateBadge list={`list.${of}.settlement`} state={settlement} tone={tone} />;
}

/** Who pays or is paid, as the person may see it. */
export function CounterpartyCard({
  title,
  counterparty,
}: {
  title: TextKey;
  counterparty: Counterparty;
}) {
  const { name, taxId, ispb, branch, account, message } = counterparty;
  const facts = [
    ['word.name', name],
    ['word.taxId', writeTaxId(taxId)],
    ['word.institution', ispb],
    ['word.branch', branch],
    ['word.account', account],
    ['word.message', message],
  ] as const;
  const known = facts.flatMap(([key, text]) => (text === null ? [] : [[key, text] as const]));
  if (known.length === 0) return null;
  return <FactList title={title} facts={known} />;
}

export interface RelatedLink {
  label: TextKey;
  list: string;
  id: string;
  text?: string;
}

/** The records that belong to this one. */
export function RelatedRecords({ links }: { links: readonly RelatedLink[] }) {
  const visit = useVisit();
  if (links.length === 0) return null;
  return (
    <FactList
      title="payment.related"
      facts={links.map(({ label, list, id, text }) => [
        label,
        <a href={pathOfRecord(visit, list, id)}>{text ?? <code>{id}</code>}</a>,
      ])}
    />
  );
}

/** What a person must know before anything else: what is not known is not what has failed. */
export function OutcomeNotice({
  operation: { operationState, operationId },
}: {
  operation: { operationState: string; operationId: string };
}) {
  const { t, to } = useVisit();
  const text = findTextKey(`payment.notice.${operationState}`);
  if (text === null) return null;
  return (
    <Message kind="warn">
      {t(text)}{' '}
      {operationState === 'awaiting_approval' && (
        <a href={to(`approvals/${operationId}`)}>{t('payment.see.approval')}</a>
      )}
    </Message>
  );
}

/** What a person can do from here. */
export function Steps({ children }: { children: ComponentChildren }) {
  const { t } = useVisit();
  return (
    <Card title={t('payment.steps')}>
      <Row>{children}</Row>
    </Card>
  );
}

/** A request or a response as the bank has it, folded. */
export function Exchanged({ title, value }: { title: TextKey; value: unknown }) {
  const { t } = useVisit();
  if (value === null || value === undefined) return null;
  return (
    <Folded title={t(title)}>
      <Code text={indented(value)} />
    </Folded>
  );
}

/** JSON with its numbers as they were written. */
function indented(value: unknown): string {
  return stringify(parseJson(stringifyJson(value)), undefined, 2) ?? '';
}
