// The forms by which people request payments: exactly what is sent, and why it was refused.
import { z } from 'zod';
import type { ComponentChildren } from 'preact';
import type { Route, RouteInput } from '../../bank-contract/route.js';
import { operationHeader, type RequestPreferences } from '../../outbound/operations/operation.js';
import { AppError, invariant } from '../../platform/errors.js';
import type { Reply } from '../../platform/http/contract-route.js';
import { readUuid } from '../../platform/http/listing.js';
import { stringifyJson } from '../../platform/json/exact-json.js';
import { Button, Card, Message, Row } from '../kit/elements.js';
import { Fields, Hidden, Form, type FormFields, reasonField } from '../kit/form.js';
import { callerOf, useVisit, type Visit } from '../visit.js';
import { reasonKey } from '../problems.js';
import type { TextKey } from '../texts.js';

/**
 * The idempotency key of a form, made when the form was shown: a form that is sent twice requests
 * once. Throws `not_found` for a form without one.
 */
export function keyOf({ form }: Visit): string {
  return readUuid(form.get('key') ?? '');
}

/** A person waits for the answer, and says it where the request may be a duplicate. */
export function preferencesOf(visit: Visit): RequestPreferences {
  return {
    respondAsync: false,
    allowDuplicate: visit.form.get('duplicate') === 'yes',
    requestedBy: { source: 'console', actor: callerOf(visit).actor },
  };
}

/** Of the operation that the reply is about. */
export function operationIdOf({ headers }: Reply): string {
  const id = headers[operationHeader];
  invariant(id, 'the reply to a request names its operation');
  return id;
}

/** Why a request was refused. Rethrows what is no refusal. */
export function problemOf(error: unknown): AppError {
  if (!(error instanceof AppError) || error.code === 'not_found') throw error;
  return error;
}

/** The page of what the API has at this address. */
function pageAt(location = ''): string | null {
  const [, operationId] = /^\/v1\/operations\/([0-9a-f-]{36})$/.exec(location) ?? [];
  const [, nsu] = /^\/v1\/transactions\?nsu=(\d+)$/.exec(location) ?? [];
  if (operationId) return `operations/${operationId}`;
  return nsu ? `statement/${nsu}` : null;
}

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

export function ProblemNotice({ problem: { code, details } }: { problem: AppError }) {
  const { t, to } = useVisit();
  const reason = details.reason ?? code;
  const text = reasonKey(reason, 'payment.problem');
  const duplicatePage = pageAt(details.headers?.Location);
  return (
    <Message kind="bad">
      {t(text ?? 'payment.problem.other')} {text === null && <code>{reason}</code>}{' '}
      {duplicatePage !== null && <a href={to(duplicatePage)}>{t('payment.see.duplicate')}</a>}
    </Message>
  );
}

const requestFields: FormFields = {
  reason: { ...reasonField.reason, hint: 'payment.reasonHint' },
};

/** Another operation may be the same request: the person may send this one anyway. */
export function duplicateFieldsOf(problem: AppError | null): FormFields {
  if (problem?.code !== 'possible_duplicate') return {};
  return { duplicate: { label: 'payment.sendAnyway', is: 'check' } };
}

interface ConfirmationProps {
  /** What the audit records that the person has seen. */
  shown: string;
  requestKey: string;
  problem: AppError | null;
  /** What it destroys. */
  button: string;
  /** The way back. */
  back: { href: string; text: TextKey };
  /** What is asked for, in words. */
  children: ComponentChildren;
}

/** Asks once more for what cannot be undone. */
export function Confirmation(props: ConfirmationProps) {
  const visit = useVisit();
  const { shown, requestKey, problem, button, back, children } = props;
  const { t } = visit;
  const fields = { ...requestFields, ...duplicateFieldsOf(problem) };
  return (
    <Card title={t('word.confirm')}>
      {children}
      <Form action={visit.path} shown={shown}>
        <Hidden values={{ key: requestKey }} />
        <Fields fields={fields} />
        <Row>
          <Button is="danger">{button}</Button>
          <a href={back.href}>{t(back.text)}</a>
        </Row>
      </Form>
    </Card>
  );
}
