// What a bulk action would do to each break, and the form that confirms it.
import type { ActionPreview } from '../../reconciliation/breaks/break-actions.service.js';
import type { VersionedView } from '../../reconciliation/breaks/break-reading.service.js';
import { Badge, Card, Empty, Message, Muted } from '../kit/elements.js';
import { formatAmount } from '../formats.js';
import { Marked } from '../kit/break-parts.js';
import { Fields, Form } from '../kit/form.js';
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
  const cents = previewed.reduce((sum, { would }) => sum + (would.amountCents ?? 0n), 0n);
  const counts = {
    total: previewed.length,
    done: countOf(previewed, 'done'),
    unchanged: countOf(previewed, 'unchanged'),
    refused: countOf(previewed, 'refused'),
  };
  return (
    <>
      <p>{t('breaks.bulk.counts', counts)}</p>
      {cents > 0n && (
        <p>
          <strong>{t('breaks.bulk.total', { amount: formatAmount(cents) })}</strong>
        </p>
      )}
    </>
  );
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

function Confirmation({ action, previewed, shown, formKey, address, reasonCodes }: Props) {
  const visit = useVisit();
  const { t, to } = visit;
  const possible = countOf(previewed, 'done');
  if (possible === 0) return <Message kind="warn">{t('breaks.bulk.noneCan')}</Message>;
  return (
    <Card title={t('app.confirm')}>
      <Muted>{t(`breaks.effect.${action}`)}</Muted>
      <Form action={`${to(`breaks/bulk/${action}`)}?${address.toString()}`} shown={shown}>
        <input type="hidden" name="key" value={formKey} />
        {previewed.map(({ row: { id, version } }) => (
          <>
            <input type="hidden" name="break" value={id} />
            <input type="hidden" name="version" value={version} />
          </>
        ))}
        <Fields fields={{ ...reasonOf('bulk'), ...reasonCodeOf(visit, reasonCodes) }} />
        <button>{t('breaks.bulk.confirm', { count: possible })}</button>
      </Form>
    </Card>
  );
}
