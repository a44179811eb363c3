// What the pages of connections have in common: results of forms, states and lists of deliveries,
// secrets that are shown once, and JSON that is shown as text.
import { parse, stringify } from 'lossless-json';
import type { DeliveryRow } from '../../events/deliveries.queries.js';
import type { TestResult } from '../../events/delivery.service.js';
import { badgeOf, Code, Message, ButtonLink } from '../kit/elements.js';
import type { ListColumns } from '../kit/table.js';
import { escapeOf, formatCount, formatDuration } from '../formats.js';
import { useVisit, type Visit } from '../visit.js';
import { findTextKey, type Translate, wordOf } from '../texts.js';

/** The address of a page of the account after a form, with what was done and how often. */
export function doneAt(visit: Visit, page: string, done: string, count?: number): string {
  const query = new URLSearchParams({
    done,
    ...(count === undefined ? {} : { count: `${count}` }),
  });
  return `${visit.to(page)}?${query.toString()}`;
}

/** Says what the form before this page has done. */
export function ConnectionDone() {
  const { t, query } = useVisit();
  const key = findTextKey(`connections.done.${query.get('done')}`);
  const count = query.get('count') ?? '';
  if (!key) return null;
  const number = /^\d{1,9}$/.test(count) ? formatCount(BigInt(count)) : '';
  return <Message kind="good">{t(key, { count: number })}</Message>;
}

export const AlertSeverityBadge = badgeOf('severity', {
  ...{ low: 'plain', medium: 'warn', high: 'bad', critical: 'bad' },
});
export const DeliveryBadge = badgeOf('deliveries.state', {
  ...{ pending: 'warn', delivered: 'good', dead: 'bad' },
});

/** Why an attempt failed, in words; a dash if it did not. */
export function describeFailure(t: Translate, error: string | null): string {
  if (error === null) return t('app.none');
  const status = /^status_(\d+)$/.exec(error)?.[1];
  if (status) return t('deliveries.error.status', { status });
  const key = findTextKey(`deliveries.error.${error}`);
  return key ? t(key) : t('deliveries.error.other', { code: error });
}

/** What the receiver responded, or why it did not. */
export const outcomeOf =
  ({ t }: Visit) =>
  ({ lastError, lastStatus }: Pick<DeliveryRow, 'lastError' | 'lastStatus'>) =>
    lastError === null ? lastStatus : describeFailure(t, lastError);

/** An endpoint that is not among `endpoints` was removed: it has no page. */
export function deliveryColumns(
  visit: Visit,
  endpoints: readonly { id: string; url: string }[],
): ListColumns<DeliveryRow> {
  const hosts = new Map(endpoints.map(({ id, url }) => [id, hostOf(url)]));
  return {
    'word.createdAt': {
      at: ({ createdAt }) => createdAt,
      href: ({ id }) => visit.to(`deliveries/${id}`),
      isOrder: true,
    },
    'word.status': ({ state }) => <DeliveryBadge state={state} />,
    'deliveries.type': ({ type }) => wordOf(visit.t, 'event', type),
    'deliveries.endpoint': {
      wide: ({ endpointId: id }) =>
        hosts.has(id) ? (
          <a href={visit.to(`endpoints/${id}`)}>{hosts.get(id)}</a>
        ) : (
          visit.t('endpoints.removed')
        ),
    },
    'deliveries.attempts': { count: ({ attempts }) => attempts },
    'deliveries.result': outcomeOf(visit),
  };
}

/** A secret that is shown this once. */
export function SecretOnce({ secret, back }: { secret: string; back: string }) {
  const { t } = useVisit();
  return (
    <>
      <Message kind="good">{t('connections.secret.hint')}</Message>
      <Code text={secret} />
      <p>
        <ButtonLink href={back}>{t('app.continue')}</ButtonLink>
      </p>
    </>
  );
}

export function TestResultMessage({
  result,
}: {
  result: Pick<TestResult, 'status' | 'error' | 'durationMs'>;
}) {
  const { t } = useVisit();
  const duration = formatDuration(result.durationMs);
  if (result.error === null)
    return <Message kind="good">{t('connections.test.good', { duration })}</Message>;
  return (
    <Message kind="bad">
      {t('connections.test.bad', { duration, error: describeFailure(t, result.error) })}
    </Message>
  );
}

const maxShown = 20_000;

/** JSON with line breaks and exact numbers. Characters that change how others look are named. */
export function prettyJson(json: string): string {
  const text = stringify(parse(json), undefined, 2) ?? json;
  return plainText(text);
}

export function plainText(text: string): string {
  const cut = text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
  return cut.replace(/(?!\n)[\p{Cc}\p{Cf}]/gu, escapeOf);
}

/** The host of an address: the rest of it may hold a secret of the receiver. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
