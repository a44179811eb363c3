// What the pages of breaks alone have: candidates, comments, the two sides of a comparison, keys.
import { askedHeader } from '../requests.js';
import type { ComponentChildren } from 'preact';
import type { TextKey } from '../texts.js';
import { Folded } from './elements.js';
import { useVisit } from '../visit.js';
import { Form } from './form.js';

interface Part {
  children: ComponentChildren;
}

/** A name that somebody else wrote, in three lines at most. */
export function Clipped({ children }: Part) {
  return <bdi class="clip">{children}</bdi>;
}

/**
 * A dense list and, beside it, what is chosen in it. Where the screen is narrow, what is chosen
 * stands alone.
 */
export function SplitView({ list, panel }: { list: ComponentChildren; panel: ComponentChildren }) {
  return (
    <div class="split">
      <div class="queue">{list}</div>
      {panel}
    </div>
  );
}

export const panelId = 'panel';

/** Beside a list: a link of the list writes it anew, and the rest of the page stays as it is. */
export function SplitPanel({
  label,
  isChosen,
  children,
}: Part & { label: string; isChosen: boolean }) {
  return (
    <section
      class={isChosen ? 'panel chosen' : 'panel'}
      id={panelId}
      aria-label={label}
      tabindex={0}
    >
      {children}
    </section>
  );
}

const asked = JSON.stringify({ [askedHeader]: 'true' });

/** A link to a row of a split view. With a script, it opens as soon as it has the focus. */
export function PanelLink({
  href,
  isCurrent,
  children,
}: Part & { href: string; isCurrent: boolean }) {
  return (
    <a
      href={href}
      aria-current={isCurrent ? 'true' : undefined}
      {...{ 'hx-get': href, 'hx-target': `#${panelId}`, 'hx-swap': 'outerHTML' }}
      {...{ 'hx-trigger': 'click, focus delay:200ms', 'hx-replace-url': 'true' }}
      {...{ 'hx-sync': 'closest tbody:queue last', 'hx-headers': asked }}
    >
      {children}
    </a>
  );
}

/** What a filter selects, in parts that are filters themselves. */
export function SumLinks({
  label,
  sums,
}: {
  label: string;
  sums: readonly { href: string; name: string; amount: string; isCurrent: boolean }[];
}) {
  return (
    <nav class="sums" aria-label={label}>
      {sums.map(({ href, name, amount, isCurrent }) => (
        <a href={href} aria-current={isCurrent ? 'true' : undefined}>
          {name} <span class="amount">{amount}</span>
        </a>
      ))}
    </nav>
  );
}

/** A form that goes on with what was begun. With a script, it is sent as soon as it is shown. */
export function ContinuedForm({
  action,
  part,
  button,
}: {
  action: string;
  /** The element that the answer replaces. */
  part: string;
  button: TextKey;
}) {
  const { t } = useVisit();
  const sending = { 'hx-post': action, 'hx-trigger': 'load', 'hx-swap': 'outerHTML' };
  return (
    <Form action={action} {...sending} hx-target={`#${part}`}>
      <button>{t(button)}</button>
    </Form>
  );
}

/** Actions below each other, each behind its name. */
export function ActionCard({ title, children }: Part & { title: string }) {
  return (
    <section class="card actions">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** With keys, J and K move through its items. */
export function CandidateItems({ hasKeys, children }: Part & { hasKeys: boolean }) {
  return (
    <ol class="candidates" data-rows={hasKeys || undefined}>
      {children}
    </ol>
  );
}

export function CandidateChoice({ children }: Part) {
  return <label class="choice">{children}</label>;
}

/** A text that is null is hidden from this person. */
export function CommentItems({
  comments,
  hidden,
}: {
  comments: readonly { head: ComponentChildren; text: string | null }[];
  hidden: string;
}) {
  return (
    <ul class="comments">
      {comments.map(({ head, text }) => (
        <li>
          <p class="hint">{head}</p>
          {text === null ? (
            <p class="muted">{hidden}</p>
          ) : (
            <p class="written" dir="auto">
              {text}
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}

/** What each key does. */
export function KeysCard({
  title,
  keys,
}: {
  title: string;
  keys: readonly (readonly [key: ComponentChildren, does: string])[];
}) {
  return (
    <Folded title={title} data-key="?">
      <dl class="keys">
        {keys.map(([key, does]) => (
          <>
            <dt>{key}</dt>
            <dd>{does}</dd>
          </>
        ))}
      </dl>
    </Folded>
  );
}

const signs = { same: '✓', near: '≈', differs: '✗', unknown: '?' } as const;
type Sign = keyof typeof signs;

/** Whether two sides agree: a sign and a word, and not a colour alone. */
export function Marked({
  mark,
  more = null,
  children,
}: Part & { mark: Sign; more?: string | null }) {
  return (
    <span class={`mark ${mark}`}>
      <span aria-hidden="true">{signs[mark]}</span> {children}
      {more !== null && <span class="difference">{more}</span>}
    </span>
  );
}

/** Two sides, field by field. Where the screen is narrow, they stand below the field. */
export function ComparedSides({
  name,
  columns,
  rows,
}: {
  /** What a reader of the screen hears. */
  name: string;
  columns: readonly [field: TextKey, left: TextKey, right: TextKey, mark: TextKey];
  rows: readonly {
    field: string;
    values: readonly ComponentChildren[];
    mark: Sign;
    said: ComponentChildren;
  }[];
}) {
  const { t } = useVisit();
  return (
    <div class="compare">
      <div class="scroll" role="region" aria-label={name} tabindex={0}>
        <table>
          <thead>
            <tr>
              {columns.map((key) => (
                <th scope="col">{t(key)}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ field, values, mark, said }) => (
              <tr class={`compared ${mark}`}>
                <th scope="row">{field}</th>
                {values.map((value, index) => (
                  <td class="side" data-label={t(columns[index === 0 ? 1 : 2])}>
                    {value}
                  </td>
                ))}
                <td>{said}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
