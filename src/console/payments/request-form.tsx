// The elements of the pages that confirm a request: exactly what is sent, and why it was refused.
import { z } from 'zod';
import type { JSX } from 'preact';
import type { Route, RouteInput } from '../../bank-contract/route.js';
import { stringifyJson } from '../../platform/json/exact-json.js';
import { Field, Message } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { pathTo } from '../visit.js';
import type { RequestProblem } from './payment-requests.js';

/** The request as the bank gets it: method, path, query and body. */
export function requestText<R extends Route>(
  route: R,
  { params, query, body }: Pick<RouteInput<R>, 'params' | 'query' | 'body'>,
): string {
  const values = z.encode(route.params, params as never) as Record<string, string>;
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(values[name] ?? ''),
  );
  const search = new URLSearchParams(
    z.encode(route.query, query as never) as Record<string, string>,
  ).toString();
  const sent =
    body === undefined ? '' : `\n\n${stringifyJson(z.encode(route.body, body as never))}`;
  return `${route.method} ${path}${search === '' ? '' : `?${search}`}${sent}`;
}

export function SentToBank({ visit: { t }, text }: { visit: Visit; text: string }): JSX.Element {
  return (
    <>
      <h3>{t('payment.sent')}</h3>
      <pre class="request">{text}</pre>
    </>
  );
}

export function ProblemNotice({
  visit,
  problem,
}: {
  visit: Visit;
  problem: RequestProblem;
}): JSX.Element {
  const { t } = visit;
  const { text, code, duplicatePage } = problem;
  return (
    <Message kind="bad">
      {t(text)}
      {code !== null && (
        <>
          {' '}
          <code>{code}</code>
        </>
      )}
      {duplicatePage !== null && (
        <>
          {' '}
          <a href={pathTo(visit, duplicatePage)}>{t('payment.see.duplicate')}</a>
        </>
      )}
    </Message>
  );
}

/** The fields that each request of a person has: its key, its reason and its consent. */
export function RequestFields({
  visit: { t, form },
  requestKey,
  asksForDuplicate = false,
}: {
  visit: Visit;
  requestKey: string;
  asksForDuplicate?: boolean;
}): JSX.Element {
  return (
    <>
      <input type="hidden" name="key" value={requestKey} />
      <Field
        label={t('app.reason')}
        hint={t('payment.reasonHint')}
        name="reason"
        value={form.get('reason') ?? ''}
        maxLength={500}
        required
      />
      {asksForDuplicate && (
        <label>
          <input type="checkbox" name="duplicate" value="yes" />
          {t('payment.sendAnyway')}
        </label>
      )}
    </>
  );
}
