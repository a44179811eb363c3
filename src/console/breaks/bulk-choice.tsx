// Below the list of breaks: which action, and for which of them.
import type { BulkAction } from '../../reconciliation/breaks/breaks.schema.js';
import { formatCount } from '../formats.js';
import { Hidden, Form } from '../kit/form.js';
import { ActionBar, Button, Hint, Row } from '../kit/elements.js';
import { useVisit, type Visit } from '../visit.js';
import type { BreakList } from './break-list.js';

/** So many breaks are previewed at once: each is tried. */
export const maxPreviewed = 100;

export type BulkActionName = BulkAction['action'];

/** The bulk actions that the person may choose for breaks of this state. */
export function bulkActionsFor(visit: Visit, state: string | undefined): BulkActionName[] {
  const refund = visit.may('request payments') ? (['refund'] as const) : [];
  if (state === 'open') return ['accept', ...refund, 'note'];
  if (state === 'resolved') return ['reopen', 'note'];
  return ['accept', ...refund, 'reopen', 'note'];
}

/** Those on all breaks of a filter: they send no money. Resolved breaks are not put off. */
function batchActionsFor(visit: Visit, state: string | undefined) {
  const own = bulkActionsFor(visit, state).filter((action) => action !== 'refund');
  return [...own, 'assign' as const, ...(state === 'resolved' ? [] : (['snooze'] as const))];
}

export function BulkChoice({ list }: { list: BreakList }) {
  const visit = useVisit();
  const { t } = visit;
  return (
    <>
      <Hidden values={Object.fromEntries(list.address)} />
      <ActionBar name="breaks.bulk">
        <label>
          {t('word.action')}
          <select name="action">
            {bulkActionsFor(visit, list.filters.state).map((action) => (
              <option value={action}>{t(`breaks.action.${action}`)}</option>
            ))}
          </select>
        </label>
        <button name="of" value="ticked">
          {t('breaks.bulk.ticked')}
        </button>
      </ActionBar>
      <Row is="top">
        <Button is="plain" formaction={visit.to('breaks/plan')}>
          {t('breaks.plan.ticked')}
        </Button>
        <Button is="plain" name="of" value="filter">
          {t('breaks.bulk.all', { count: maxPreviewed })}
        </Button>
        <Hint>{t('breaks.bulk.hint')}</Hint>
      </Row>
    </>
  );
}

/** All breaks of the filter, however many, with one action that sends no money. */
export function BatchChoice({
  list,
  count,
}: {
  list: BreakList;
  /** Absent where they are not counted. */
  count: bigint | undefined;
}) {
  const visit = useVisit();
  const { t } = visit;
  return (
    <Form action={`${visit.to('breaks/batches')}?${list.address.toString()}`}>
      <Row>
        <label>
          {t('breaks.batch.choice')}
          <select name="action">
            {batchActionsFor(visit, list.filters.state).map((action) => (
              <option value={action}>{t(`breaks.action.${action}`)}</option>
            ))}
          </select>
        </label>
        <Button is="plain">
          {count === undefined
            ? t('breaks.batch.all')
            : t('breaks.batch.allOf', { count: formatCount(count) })}
        </Button>
        <a href={`${visit.to('breaks/decisions')}?${list.address.toString()}`}>
          {t('breaks.file')}
        </a>
      </Row>
    </Form>
  );
}
