// How the parts of a page stand, and how its words look: the classes of the stylesheet, by what
// they are for.
import type { ComponentChildren, JSX } from 'preact';

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

/** A button that is not the main one of its form; `danger`: it destroys. */
export function Button({ is, children, ...button }: ButtonAttributes & { is: 'plain' | 'danger' }) {
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
