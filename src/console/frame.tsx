// What all pages have in common: head, bar, menu, and the elements of which pages are made. Every
// value is escaped by the renderer.
import type { ComponentChildren, JSX } from 'preact';
import { isAllowed } from '../access/people/roles.js';
import type { Assets } from './assets.service.js';
import { sections, type MenuEntry } from './page.js';
import { openAddress, pageField, type Visit } from './requests.js';
import type { TextKey } from './texts.js';
import type { Language } from './texts/languages.js';

const htmxSettings = JSON.stringify({
  allowEval: false,
  allowScriptTags: false,
  includeIndicatorStyles: false,
  selfRequestsOnly: true,
  // Pages with personal data are not stored by the browser.
  historyCacheSize: 0,
});

const languageNames: Record<Language, string> = { pt: 'Português', en: 'English' };
const tags: Record<Language, string> = { pt: 'pt-BR', en: 'en' };

export interface FrameProps {
  visit: Visit;
  title: string;
  assets: Assets;
  menu: readonly MenuEntry[];
  isNarrow: boolean;
  children: ComponentChildren;
}

export function Frame({ visit, title, assets, menu, isNarrow, children }: FrameProps): JSX.Element {
  return (
    <html lang={tags[visit.language]}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="htmx-config" content={htmxSettings} />
        <title>{`${title} · Concilia`}</title>
        <link rel="icon" href={assets.icon.url} />
        <link
          rel="stylesheet"
          href={assets.stylesheet.url}
          integrity={assets.stylesheet.integrity}
        />
        {[assets.htmx, assets.sse, assets.keyboard].map(({ url, integrity }) => (
          <script src={url} integrity={integrity} nonce={visit.nonce} defer></script>
        ))}
      </head>
      <body>
        <a class="skip" href="#content">
          {visit.t('app.skip')}
        </a>
        <Bar visit={visit} menu={menu} />
        <main id="content" class={isNarrow ? 'narrow' : undefined}>
          <h1>{title}</h1>
          {children}
        </main>
      </body>
    </html>
  );
}

function Bar({ visit, menu }: Pick<FrameProps, 'visit' | 'menu'>): JSX.Element {
  const { session, t } = visit;
  const isSignedIn = session?.isComplete === true;
  return (
    <header>
      <div class="bar">
        <a class="brand" href="/console">
          Concilia
        </a>
        {session?.account && (
          <a href="/console/accounts" title={t('app.changeAccount')}>
            {session.account.name}
          </a>
        )}
        {isSignedIn && session.account && <SearchBox visit={visit} slug={session.account.slug} />}
        <div class="end">
          {isSignedIn && (
            <a href="/console/sessions" title={t('app.you')}>
              {session.email}
            </a>
          )}
          <LanguageSwitch visit={visit} />
          {session && (
            <Form visit={visit} action="/console/sign-out">
              <button class="plain">{t('app.signOut')}</button>
            </Form>
          )}
        </div>
        {isSignedIn && session.account && <Menu visit={visit} menu={menu} />}
      </div>
    </header>
  );
}

/** Finds any record of the account. It is no address: people type documents and names into it. */
function SearchBox({ visit, slug }: { visit: Visit; slug: string }): JSX.Element {
  const { t } = visit;
  return (
    <div class="search" role="search" aria-label={t('search.title')}>
      <Form visit={visit} action={`/console/accounts/${slug}/search`}>
        <input
          {...{ type: 'search', name: 'q', maxLength: 255, autocomplete: 'off', required: true }}
          aria-label={t('search.label')}
          placeholder={t('search.label')}
        />
        <button class="plain">{t('search.submit')}</button>
      </Form>
    </div>
  );
}

/** The sections of the menu, and below them the pages of the section that is open. */
function Menu({ visit, menu }: Pick<FrameProps, 'visit' | 'menu'>): JSX.Element {
  const { account } = visit.session ?? {};
  const entries = menu
    .filter(({ needs }) => isAllowed(account?.role ?? null, needs))
    .map((entry) => ({ ...entry, href: entry.path.replace(':account', account?.slug ?? '') }));
  const open = openEntry(entries, visit.path);
  const pages = entries.filter(({ section }) => section === open?.section);
  const firsts = sections.flatMap((one) => entries.find(({ section }) => section === one) ?? []);
  return (
    <>
      <nav aria-label={visit.t('app.menu')}>
        <ul>
          {firsts.map(({ section, href }) => (
            <li>
              <a href={href} aria-current={section === open?.section ? 'true' : undefined}>
                {visit.t(`section.${section}`)}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {pages.length > 1 && (
        <nav class="subpages" aria-label={visit.t('app.subpages')}>
          <ul>
            {pages.map(({ href, title }) => (
              <li>
                <a href={href} aria-current={href === open?.href ? 'page' : undefined}>
                  {visit.t(title)}
                </a>
              </li>
            ))}
          </ul>
        </nav>
      )}
    </>
  );
}

/** The entry of a page, or of the list to which the page belongs. */
function openEntry<Entry extends { href: string }>(entries: readonly Entry[], path: string) {
  const containing = entries.filter(({ href }) => `${path}/`.startsWith(`${href}/`));
  return containing.sort((one, other) => other.href.length - one.href.length)[0];
}

function LanguageSwitch({ visit }: { visit: Visit }): JSX.Element {
  const other: Language = visit.language === 'pt' ? 'en' : 'pt';
  return (
    <Form visit={visit} action="/console/language">
      <input type="hidden" name="language" value={other} />
      <input type="hidden" name="next" value={openAddress(visit)} />
      <button class="plain" lang={tags[other]} title={visit.t('app.language')}>
        {languageNames[other]}
      </button>
    </Form>
  );
}

/** A form that changes something: it carries the token of the session. */
export function Form({
  visit,
  action,
  shown,
  hasFile = false,
  children,
}: {
  visit: Visit;
  action: string;
  /** A version or a hash of what the person sees. The audit records it. */
  shown?: string;
  /** Its file stands after all other fields, which are checked before it is received. */
  hasFile?: boolean;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <form method="post" action={action} encType={hasFile ? 'multipart/form-data' : undefined}>
      {visit.csrfToken !== '' && <input type="hidden" name="csrf" value={visit.csrfToken} />}
      {visit.isForm && <input type="hidden" name={pageField} value={visit.cameFrom} />}
      {shown !== undefined && <input type="hidden" name="shown" value={shown} />}
      {children}
    </form>
  );
}

/** A field with its label. */
export function Field({
  label,
  hint,
  ...input
}: { label: string; hint?: string } & JSX.IntrinsicElements['input']): JSX.Element {
  return (
    <label>
      {label}
      {hint && <span class="hint"> {hint}</span>}
      <input {...input} />
    </label>
  );
}

/** A message about what was just done or is wrong; readers of the screen hear it at once. */
export function Message({
  kind,
  children,
}: {
  kind: 'good' | 'bad' | 'warn';
  children: ComponentChildren;
}): JSX.Element {
  return (
    <div class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  );
}

/** A table that scrolls by itself where the screen is narrow. */
export function DataTable({
  visit,
  name,
  columns,
  numbers = [],
  empty,
  children,
  hasKeys = false,
}: {
  visit: Visit;
  /** What a reader of the screen hears. */
  name: string;
  columns: readonly TextKey[];
  /** The columns of numbers: their headings stand right, as their cells (`td.number`). */
  numbers?: readonly TextKey[];
  /** What stands in its place where a list of rows is empty. */
  empty?: string;
  children: ComponentChildren;
  /** Whether keys move through the rows: see src/console/keyboard.ts. */
  hasKeys?: boolean;
}): JSX.Element {
  if (empty !== undefined && Array.isArray(children) && children.length === 0)
    return <p class="muted">{empty}</p>;
  return (
    <div class="scroll" role="region" aria-label={name} tabindex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((key) => (
              <th scope="col" class={numbers.includes(key) ? 'number' : undefined}>
                {visit.t(key)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody data-rows={hasKeys || undefined}>{children}</tbody>
      </table>
    </div>
  );
}

/** Where a change needs a recent code, the way to give it. */
export function StepUpNotice({ visit }: { visit: Visit }): JSX.Element | null {
  if (visit.session?.isSteppedUp) return null;
  return (
    <Message kind="warn">
      {visit.t('stepUp.needed')}{' '}
      <a href={`/console/step-up?next=${encodeURIComponent(openAddress(visit))}`}>
        {visit.t('stepUp.title')}
      </a>
    </Message>
  );
}
