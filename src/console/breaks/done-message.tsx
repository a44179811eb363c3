// What the person has just done about a break, shown on the page to which it led.
import { isUuid } from '../../platform/http/listing.js';
import { Message } from '../kit/elements.js';
import { findTextKey } from '../texts.js';
import { useVisit } from '../visit.js';

export function DoneMessage({ address }: { address: URLSearchParams }) {
  const { t, query, to } = useVisit();
  const done = findTextKey(`breaks.did.${query.get('did') ?? ''}`);
  if (!done) return null;
  const from = query.get('from') ?? '';
  return (
    <Message kind="good">
      {t(done)} {query.has('last') && t('breaks.did.last')}{' '}
      {isUuid(from) && (
        <a href={`${to(`breaks/${from}`)}?${address.toString()}`}>{t('breaks.did.previous')}</a>
      )}
    </Message>
  );
}
