// What the pages of connections have in common: results and problems of forms, states of
// deliveries, and JSON that is shown as text.
import type { ComponentChildren, JSX } from 'preact';
import { parse, stringify } from 'lossless-json';
import { eventTypes } from '../../events/event-types.js';
import type { DeliveryState } from '../../generated/service/enums.js';
import { AppError } from '../../platform/errors.js';
import { Badge, type Tone } from '../kit/elements.js';
import { escapeOf, formatCount } from '../formats.js';
import { Message } from '../kit/frame.js';
import { problemKey } from '../problems.js';
import type { Visit } from '../requests.js';
import { findTextKey, type TextKey, type Translate } from '../texts.js';
import { pathTo } from '../visit.js';

/** The address of a page of the account after a form, with what was done and how often. */
export function doneAt(visit: Visit, page: string, done: string, count?: number): string {
  const query = new URLSearchParams({
    done,
    ...(count === undefined ? {} : { count: `${count}` }),
  });
  return `${pathTo(visit, page)}?${query.toString()}`;
}

/** Says what the form before this page has done. */
export function ConnectionDone({ visit: { t, query } }: { visit: Visit }): JSX.Element | null {
  const key = findTextKey(`connections.done.${query.get('done')}`);
  const count = query.get('count') ?? '';
  if (!key) return null;
  const number = /^\d{1,9}$/.test(count) ? formatCount(BigInt(count)) : '';
  return <Message kind="good">{t(key, { count: number })}</Message>;
}

/** A problem that the person can mend on the page; other errors have a page of their own. */
export async function findProblem(act: () => Promise<unknown>): Promise<AppError | null> {
  try {
    await act();
    return null;
  } catch (error) {
    const isOwn = error instanceof AppError && error.status < 500;
    if (!isOwn || error.code === 'not_found' || error.code === 'forbidden') throw error;
    return error;
  }
}

/** What is wrong, in the person's language; `labels` names the fields of the form. */
export function ProblemMessage({
  visit: { t },
  problem,
  labels = {},
}: {
  visit: Visit;
  problem: AppError | null;
  labels?: Readonly<Record<string, TextKey>>;
}): JSX.Element | null {
  if (!problem) return null;
  const { errors = {} } = problem.details;
  const names = Object.keys(errors).flatMap((path) => {
    const parts = path.replace(/^\$\.?/, '').split('.');
    const label = parts.toReversed().flatMap((part) => labels[part] ?? [])[0];
    return label ? [t(label)] : [];
  });
  return (
    <Message kind="bad">
      {names.length > 0
        ? t('connections.wrongFields', { names: [...new Set(names)].join(', ') })
        : t(problemKey(problem, 'connections.problem'))}
    </Message>
  );
}

export function Reason({ visit: { t } }: { visit: Visit }): JSX.Element {
  return (
    <label>
      {t('app.reason')}
      <input name="reason" maxLength={500} required />
    </label>
  );
}

export function Select({
  label,
  name,
  value = '',
  options,
}: {
  label: string;
  name: string;
  value?: string;
  options: readonly (readonly [value: string, text: string])[];
}): JSX.Element {
  return (
    <label>
      {label}
      <select name={name}>
        {options.map(([option, text]) => (
          <option value={option} selected={option === value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Check({
  label,
  hint,
  name,
  value,
  checked = false,
}: {
  label: ComponentChildren;
  hint?: string;
  name: string;
  value?: string;
  checked?: boolean;
}): JSX.Element {
  return (
    <label>
      <input type="checkbox" name={name} checked={checked} {...(value ? { value } : {})} />
      {label}
      {hint && <span class="hint"> {hint}</span>}
    </label>
  );
}

/** The name of an event type; a type of a later version as it is stored. */
export function nameOfEvent(t: Translate, type: string): string {
  const key = findTextKey(`event.${type}`);
  return key ? t(key) : type;
}

/** All event types, by their names. */
export function eventOptions(t: Translate): (readonly [value: string, text: string])[] {
  return eventTypes.map((type) => [type, t(`event.${type}`)] as const);
}

const deliveryTones: Record<DeliveryState, Tone> = {
  pending: 'warn',
  delivered: 'good',
  dead: 'bad',
};

export function DeliveryBadge({ visit: { t }, state }: { visit: Visit; state: DeliveryState }) {
  return <Badge tone={deliveryTones[state]} text={t(`deliveries.state.${state}`)} />;
}

/** Why an attempt failed, in words; a dash if it did not. */
export function describeFailure(t: Translate, error: string | null): string {
  if (error === null) return t('app.none');
  const status = /^status_(\d+)$/.exec(error)?.[1];
  if (status) return t('deliveries.error.status', { status });
  const key = findTextKey(`deliveries.error.${error}`);
  return key ? t(key) : t('deliveries.error.other', { code: error });
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

export function JsonText({ label, text }: { label: string; text: string }): JSX.Element {
  return (
    <pre dir="ltr" tabIndex={0} aria-label={label} role="region">
      {text}
    </pre>
  );
}

/** The host of an address: the rest of it may hold a secret of the receiver. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
