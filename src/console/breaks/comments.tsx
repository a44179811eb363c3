// The comments on a break, and the form for another one.
import { maxCommentLength } from '../../reconciliation/breaks/break-comments.schema.js';
import { Card, Empty, Hint } from '../kit/elements.js';
import { CommentItems } from '../kit/break-parts.js';
import { Form } from '../kit/form.js';
import { useVisit } from '../visit.js';
import type { BreakViewProps } from './break-facts.js';
import { keyOfAction } from './open-actions.js';
import { Key } from './shortcuts.js';

export function Comments({
  facts: { found, comments, hasOlder, nameOf },
  address,
  canAct,
}: BreakViewProps & { canAct: boolean }) {
  const { t, time, to, form } = useVisit();
  return (
    <Card title={t('breaks.comments')}>
      {comments.length === 0 && <Empty>{t('breaks.commentEmpty')}</Empty>}
      {hasOlder && <Empty>{t('breaks.commentOlder', { count: comments.length })}</Empty>}
      {comments.length > 0 && (
        <CommentItems
          comments={[...comments].reverse().map(({ author, text, at }) => ({
            head: (
              <>
                {nameOf(author)} · <time dateTime={at.toISOString()}>{time(at)}</time>
              </>
            ),
            text,
          }))}
          hidden={t('breaks.commentHidden')}
        />
      )}
      {canAct && (
        <Form
          action={`${to(`breaks/${found.id}/comment`)}?${address.toString()}`}
          shown={found.version}
        >
          <label for="comment-text">
            {t('breaks.comment')} <Hint>{t('breaks.commentHint')}</Hint>
          </label>
          <textarea
            id="comment-text"
            name="text"
            required
            maxLength={maxCommentLength}
            data-key={keyOfAction.comment}
            value={form.get('text') ?? ''}
          />
          <button>
            {t('breaks.action.comment')} <Key of={keyOfAction.comment} />
          </button>
        </Form>
      )}
    </Card>
  );
}
