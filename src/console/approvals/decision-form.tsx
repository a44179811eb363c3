// The form by which a person approves or declines what the page shows, and why it is missing where
// the person cannot decide.
import type { JSX } from 'preact';
import { Amount, Card } from '../kit/elements.js';
import { Form, Message, StepUpNotice } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { findTextKey } from '../texts.js';
import { isAllowedTo, pathTo } from '../visit.js';
import type { RefusedDecision, SeenOperation } from './person-decisions.service.js';

export interface DecisionFormProps {
  visit: Visit;
  operations: readonly SeenOperation[];
  /** Of all operations. */
  totalCents: bigint;
  /** The upload whose rows are decided; null for others. */
  uploadId?: string | null;
}

/** A field carries each operation with the hash of the request that the page shows. */
export function DecisionForm(props: DecisionFormProps): JSX.Element {
  const { visit, operations, totalCents, uploadId = null } = props;
  const { t } = visit;
  if (!isAllowedTo(visit, 'approve payments'))
    return <Message kind="warn">{t('approvals.needsRole')}</Message>;
  const [first] = operations;
  const isOne = operations.length === 1;
  return (
    <Card title={t('approvals.decide')}>
      <StepUpNotice visit={visit} />
      {!isOne && (
        <p>
          {t('approvals.total', { count: operations.length })} <Amount cents={totalCents} />
        </p>
      )}
      <Form
        visit={visit}
        action={pathTo(visit, 'approvals/decide')}
        {...(first && isOne ? { shown: first.requestHash } : {})}
      >
        {operations.map(({ id, requestHash }) => (
          <input type="hidden" name="operation" value={`${id} ${requestHash}`} />
        ))}
        {uploadId !== null && <input type="hidden" name="upload" value={uploadId} />}
        <label>
          {t('app.reason')}
          <span class="hint"> {t('approvals.reasonHint')}</span>
          <input name="reason" maxLength={500} required autocomplete="off" />
        </label>
        <div class="row">
          <button name="decision" value="approve">
            {t(isOne ? 'approvals.approve' : 'approvals.approveAll')}
          </button>
          <button name="decision" value="decline" class="plain">
            {t(isOne ? 'approvals.decline' : 'approvals.declineAll')}
          </button>
        </div>
      </Form>
    </Card>
  );
}

/** What could not be decided, and why. */
export function Refusals({
  visit,
  refused,
}: {
  visit: Visit;
  refused: readonly RefusedDecision[];
}): JSX.Element | null {
  const { t } = visit;
  if (refused.length === 0) return null;
  const counts = new Map<string, number>();
  for (const { code } of refused) counts.set(code, (counts.get(code) ?? 0) + 1);
  return (
    <Message kind="bad">
      {t('approvals.refused', { count: refused.length })}
      <ul>
        {[...counts].map(([code, count]) => (
          <li>
            {count > 1 && `${count} × `}
            {refusalText(visit, code)}
          </li>
        ))}
      </ul>
    </Message>
  );
}

function refusalText({ t }: Visit, code: string): string {
  const key = findTextKey(`approvals.refusal.${code}`);
  return key ? t(key) : t('approvals.refusal.other', { code });
}
