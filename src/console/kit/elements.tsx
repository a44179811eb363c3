// The elements of which pages are made: how their parts stand, and how words, states, facts,
// amounts, filters and stories look. They are the classes of the stylesheet, by what they are for.
import type { ComponentChildren, JSX } from 'preact';
import type { Cents } from '../../brazil/cents.js';
import { formatAmount } from '../formats.js';
import { useVisit, type Visit } from '../visit.js';
import type { TextKey } from '../texts.js';

export type Tone = 'good' | 'bad' | 'warn' | 'plain';

/** A state in a word. Its tone is never the only sign. */
export function Badge({ tone, text }: { tone: Tone; text: string }) {
  return <span class={`badge ${tone}`}>{text}</span>;
}

/** The badge of states whose words have `texts` at their beginning. Each state has a tone. */
export const badgeOf =
  <Texts extends string, State extends string>(
    texts: `${Texts}.${State}` extends TextKey ? Texts : never,
    tones: Readonly<Record<State, Tone>>,
  ) =>
  ({ state }: { state: State }) => (
    <Badge tone={tones[state]} text={useVisit().t(`${texts}.${state}` as TextKey)} />
  );

/** `isSigned`: what came in or went out, by sign and colour. A word beside it says it, too. */
export function Amount({
  cents,
  isSigned = false,
}: {
  cents: Cents;
  isSigned?: boolean | undefined;
}) {
  if (!isSigned || cents === 0n) return <span class="amount">{formatAmount(cents)}</span>;
  const isCredit = cents > 0n;
  return (
    <span class={isCredit ? 'amount credit' : 'amount debit'}>
      {isCredit ? `+${formatAmount(cents)}` : formatAmount(cents)}
    </span>
  );
}

/** What moved, with its direction in a word. */
export function Movement({
  of: { isCredit, amountCents },
}: {
  of: { isCredit: boolean; amountCents: Cents };
}) {
  const { t } = useVisit();
  return (
    <>
      <Amount cents={isCredit ? amountCents : -amountCents} isSigned />
      <Hint isBlock>{t(isCredit ? 'line.credit' : 'line.debit')}</Hint>
    </>
  );
}

/** How far some work is. It reads itself again each second; without a script, by its link. */
export function WorkProgress({
  id,
  href,
  name,
  said,
  of,
}: {
  id: string;
  href: string;
  name: TextKey;
  said: string;
  /** Absent while it is not known how much there is. */
  of?: { value: number; max: number } | undefined;
}) {
  const { t } = useVisit();
  return (
    <div id={id} hx-get={href} hx-trigger="every 1s" hx-swap="outerHTML">
      <Card>
        <p role="status">{said}</p>
        <progress aria-label={t(name)} {...of} />
        <p>
          <a href={href}>{t('app.refresh')}</a>
        </p>
      </Card>
    </div>
  );
}

/** Names and values, in a card. */
export function FactList({
  title,
  facts,
}: {
  title: TextKey;
  facts: readonly (readonly [TextKey, ComponentChildren])[];
}) {
  const { t } = useVisit();
  return (
    <Card title={t(title)}>
      <NamedValues facts={facts.map(([key, value]) => [t(key), value])} />
    </Card>
  );
}

/** Names and values, where a card has more than these. */
export function NamedValues({
  facts,
}: {
  facts: readonly (readonly [ComponentChildren, ComponentChildren])[];
}) {
  return (
    <dl>
      {facts.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  );
}

export interface KeyFigure {
  name: string;
  value: ComponentChildren;
  /** Of when it is, or what it is compared with. */
  hint?: ComponentChildren;
  isWide?: boolean;
}

/** The few figures that matter, in large: two beside each other on a telephone. */
export function KeyFigures({ figures }: { figures: readonly KeyFigure[] }) {
  return (
    <dl class="figures">
      {figures.map(({ name, value, hint, isWide }) => (
        <div class={isWide ? 'wide' : undefined}>
          <dt>{name}</dt>
          <dd>{value}</dd>
          {hint && <dd class="hint">{hint}</dd>}
        </div>
      ))}
    </dl>
  );
}

/** A part of a page. */
export function Card({
  title,
  id,
  children,
}: {
  /** None where the page's own is enough. */
  title?: ComponentChildren;
  id?: string;
  children: ComponentChildren;
}) {
  return (
    <section class="card" id={id}>
      {title && <h2>{title}</h2>}
      {children}
    </section>
  );
}

/** In place of an empty table: how it fills. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="muted">{children}</p>;
}

/** Text for machines, as it is. `wraps`: all of it is seen at once. */
export function Code({
  text,
  label,
  wraps = false,
}: {
  text: string;
  label?: string;
  wraps?: boolean;
}) {
  return (
    <pre
      class={wraps ? 'wraps' : undefined}
      {...{ dir: 'ltr', tabindex: 0, ...(label ? { 'aria-label': label, role: 'region' } : {}) }}
    >
      {text}
    </pre>
  );
}

export interface TimelineEntry {
  /** Null for what has no time of its own. */
  at: Date | null;
  tone: Tone;
  title: string;
  detail?: ComponentChildren;
}

/** What happened, in order. */
export function Timeline({ entries }: { entries: readonly TimelineEntry[] }) {
  const { time } = useVisit();
  return (
    <ol class="timeline">
      {entries.map(({ at, tone, title, detail }) => (
        <li class={tone}>
          {at && <time dateTime={at.toISOString()}>{time(at)}</time>}
          <strong>{title}</strong>
          {detail && <div>{detail}</div>}
        </li>
      ))}
    </ol>
  );
}

/** The address of the page, with some of its query changed; null takes a part away. */
export function addressWith(
  { path, query }: Visit,
  changes: Record<string, string | null>,
): string {
  const changed = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes))
    if (value === null) changed.delete(name);
    else changed.set(name, value);
  return changed.size > 0 ? `${path}?${changed.toString()}` : path;
}

/** Leads to the next page of a list, with the same filters. */
export function Pager({
  next,
}: {
  /** The cursor of the next page; null on the last one. */
  next: string | null;
}) {
  const visit = useVisit();
  const { t, query } = visit;
  if (next === null && !query.has('cursor')) return null;
  return (
    <PageLinks label={t('app.next')}>
      {query.has('cursor') && (
        <a href={addressWith(visit, { cursor: null })}>{t('app.firstPage')}</a>
      )}
      {next !== null && <a href={addressWith(visit, { cursor: next })}>{t('app.next')}</a>}
    </PageLinks>
  );
}

/** Links to the pages before and after. */
export function PageLinks({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <nav class="pager" aria-label={label}>
      {children}
    </nav>
  );
}

/** A message about what was just done or is wrong; readers of the screen hear it at once. */
export function Message({
  kind,
  is,
  children,
  ...attributes
}: Omit<JSX.IntrinsicElements['div'], 'class'> & {
  kind: 'good' | 'bad' | 'warn' | 'plain';
  /** The state of all: in large words. It is no alarm, however bad. */
  is?: 'state';
}) {
  const role = kind === 'bad' && !is ? 'alert' : 'status';
  return (
    <div {...attributes} class={['notice', is, kind].filter(Boolean).join(' ')} role={role}>
      {children}
    </div>
  );
}

interface Part {
  children: ComponentChildren;
  id?: string | undefined;
}

/** Cards beside each other where they fit. `facts`: with long values. `four`: small ones. */
export function Cards({ children, id, is }: Part & { is?: 'four' | 'facts' }) {
  return (
    <div class={is ? `cards ${is}` : 'cards'} id={id}>
      {children}
    </div>
  );
}

/** Two columns on a wide screen. */
export function Beside({ children, id }: Part) {
  return (
    <div class="beside" id={id}>
      {children}
    </div>
  );
}

/** Controls beside each other. `ways`: links at both ends. `condition`: one of several rows. */
export function Row({ children, id, is }: Part & { is?: 'top' | 'ways' | 'condition' }) {
  return (
    <div class={is ? `row ${is}` : 'row'} id={id}>
      {children}
    </div>
  );
}

/** What is done with the rows that are ticked: it stays in sight once one is. */
export function ActionBar({ name, children }: Part & { name: TextKey }) {
  return (
    <div class="row action-bar" role="group" aria-label={useVisit().t(name)}>
      {children}
    </div>
  );
}

interface FoldedProps {
  title: string;
  open?: boolean;
  /** See src/console/keyboard.ts. */
  'data-key'?: string;
  children: ComponentChildren;
}

/** A card that shows its title until it is opened. */
export function Folded({ title, children, ...details }: FoldedProps) {
  return (
    <details class="card" {...details}>
      <summary>{title}</summary>
      {children}
    </details>
  );
}

/** A quiet sentence. */
export function Muted({ children, id }: Part) {
  return (
    <p class="muted" id={id}>
      {children}
    </p>
  );
}

/** A quiet word beside something; below it with `isBlock`. */
export function Hint({ children, id, isBlock }: Part & { isBlock?: boolean }) {
  return (
    <span class={isBlock ? 'hint block' : 'hint'} id={id}>
      {children}
    </span>
  );
}

interface LinkProps extends Part {
  href: string;
  is?: 'plain';
  /** See src/console/keyboard.ts. */
  'data-key'?: string;
  /** Another tab. */
  target?: '_blank';
}

/** A link that looks like a button. */
export function ButtonLink({ is, children, ...link }: LinkProps) {
  return (
    <a class={is ? `button ${is}` : 'button'} {...link}>
      {children}
    </a>
  );
}

type ButtonAttributes = Omit<JSX.IntrinsicElements['button'], 'class'>;

/** `plain`: not the main one of its form; `danger`: it destroys. */
export function Button({
  is,
  children,
  ...button
}: ButtonAttributes & { is?: 'plain' | 'danger' }) {
  return (
    <button class={is} {...button}>
      {children}
    </button>
  );
}

/** An id, on a line of its own. */
export function Id({ children, id }: Part) {
  return (
    <code class="id" id={id}>
      {children}
    </code>
  );
}

/** What readers of the screen have, and nobody sees. */
export function Unseen({ children, id }: Part) {
  return (
    <div class="unseen" id={id}>
      {children}
    </div>
  );
}

/** Fields that stand there for one choice of their form alone. The stylesheet hides them. */
export function ForChoice({
  of,
  children,
}: Part & { of: 'classify' | 'match' | 'plan' | 'net-settlement' | 'tolerant' }) {
  return <div class={`if-${of}`}>{children}</div>;
}

/** What Enter in a field sends: browsers take the first button of a form. */
export function FirstButton({ children }: Part) {
  return (
    <button class="first-submit" tabindex={-1} aria-hidden="true">
      {children}
    </button>
  );
}
