// What a bulk action would do to each break, and the form that confirms it.
import type { ActionPreview } from '../../reconciliation/breaks/break-actions.service.js';
import type { VersionedView } from '../../reconciliation/breaks/break-reading.service.js';
import { unknownParty } from '../../access/counterparties/party.js';
import { Badge, Card, Empty, Message, Muted } from '../kit/elements.js';
import { formatAmount } from '../formats.js';
import { Marked } from '../kit/break-parts.js';
import { ConfirmMoney, type Money } from '../kit/confirm-money.js';
import { Fields, Form, Hidden } from '../kit/form.js';
import type { Balances } from '../balances.queries.js';
import type { Asked } from '../money-facts.service.js';
import { ListTable } from '../kit/table.js';
import { useVisit } from '../visit.js';
import { reasonCodeOf, reasonOf } from './action-forms-view.js';
import type { GivenCode } from './break-facts.js';
import { BackToBreaks, refusalOfCode, breakColumns } from './break-words.js';
import type { BulkActionName } from './bulk-choice.js';

export interface PreviewedBreak {
  row: VersionedView;
  would: ActionPreview;
}

interface Props {
  action: BulkActionName;
  previewed: readonly PreviewedBreak[];
  /** The version of what is shown. */
  shown: string;
  /** A repeat of the form has the same key. */
  formKey: string;
  address: URLSearchParams;
  problem: string | null;
  /** Those that the action may have. */
  reasonCodes: readonly GivenCode[];
  /** Of an action that moves money. */
  paying: { asked: Asked; balances: Balances } | null;
}

export function BulkPreview(props: Props) {
  const { previewed, address, problem } = props;
  const { t } = useVisit();
  return (
    <>
      <p>
        <BackToBreaks address={address} />
      </p>
      {problem !== null && <Message kind="bad">{problem}</Message>}
      <Card title={t('breaks.bulk.what')}>
        {previewed.length === 0 ? (
          <Empty>{t('breaks.bulk.nothing')}</Empty>
        ) : (
          <>
            <Counts {...props} />
            <PreviewTable {...props} />
          </>
        )}
      </Card>
      {previewed.length > 0 && <Confirmation {...props} />}
    </>
  );
}

const countOf = (previewed: Props['previewed'], outcome: ActionPreview['outcome']) =>
  previewed.filter(({ would }) => would.outcome === outcome).length;

function Counts({ previewed }: Props) {
  const { t } = useVisit();
  const counts = {
    total: previewed.length,
    done: countOf(previewed, 'done'),
    unchanged: countOf(previewed, 'unchanged'),
    refused: countOf(previewed, 'refused'),
  };
  return <p>{t('breaks.bulk.counts', counts)}</p>;
}

function PreviewTable({ action, previewed, address }: Props) {
  const visit = useVisit();
  return (
    <ListTable
      {...{ name: 'breaks.bulk.what', rows: previewed, hasKeys: true }}
      columns={{
        ...breakColumns(visit, address, ({ row }: PreviewedBreak) => row),
        'breaks.bulk.what': { wide: ({ would }) => <Effect action={action} would={would} /> },
      }}
    />
  );
}

function Effect({ action, would }: { action: BulkActionName; would: ActionPreview }) {
  const { t } = useVisit();
  if (would.outcome === 'unchanged')
    return <Badge tone="plain" text={t('breaks.bulk.unchanged')} />;
  if (would.outcome === 'refused')
    return (
      <Marked mark="differs">
        {t('breaks.bulk.refused', { why: refusalOfCode(t, would.code ?? '') })}
      </Marked>
    );
  const staysOpen = action === 'accept' && would.state === 'open';
  const amount = would.amountCents === null ? '' : formatAmount(would.amountCents);
  return (
    <Marked mark="same">
      {t(staysOpen ? 'breaks.bulk.would.stayOpen' : `breaks.bulk.would.${action}`, { amount })}
    </Marked>
  );
}

/** The refunds that are possible, of a payer each. */
export function moneyOfRefunds(previewed: Props['previewed'], asked: Asked): Money {
  const payees = previewed
    .filter(({ would }) => would.outcome === 'done')
    .map(({ row: { counterparty }, would }) => ({
      ...{ asked, amountCents: would.amountCents ?? 0n },
      party: counterparty ?? unknownParty,
    }));
  return { payees, totalCents: payees.reduce((sum, { amountCents }) => sum + amountCents, 0n) };
}

function Confirmation({ action, previewed, shown, formKey, address, reasonCodes, paying }: Props) {
  const visit = useVisit();
  const { t, to } = visit;
  const possible = countOf(previewed, 'done');
  if (possible === 0) return <Message kind="warn">{t('breaks.bulk.noneCan')}</Message>;
  const form = { action: `${to(`breaks/bulk/${action}`)}?${address.toString()}`, shown };
  const hidden = {
    key: formKey,
    break: previewed.map(({ row }) => row.id),
    version: previewed.map(({ row }) => row.version),
  };
  const fields = { ...reasonOf('bulk'), ...reasonCodeOf(visit, reasonCodes) };
  if (paying)
    return (
      <ConfirmMoney
        {...{ ...form, hidden, fields, balances: paying.balances }}
        money={moneyOfRefunds(previewed, paying.asked)}
        button={{ one: 'money.refund', many: 'money.refundAll' }}
        warning="breaks.effect.refund"
        back={{ href: `${to('breaks')}?${address.toString()}`, text: 'app.back' }}
      />
    );
  return (
    <Card title={t('app.confirm')}>
      <Muted>{t(`breaks.effect.${action}`)}</Muted>
      <Form {...form}>
        <Hidden values={hidden} />
        <Fields fields={fields} />
        <button>{t('breaks.bulk.confirm', { count: possible })}</button>
      </Form>
    </Card>
  );
}
