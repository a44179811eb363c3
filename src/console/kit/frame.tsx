// What all pages have in common: head, menu and bar. Every value is escaped by the renderer.
import { build } from '../../platform/build.js';
import type { ComponentChildren } from 'preact';
import { isAllowed } from '../../access/people/roles.js';
import type { Assets } from '../assets.service.js';
import { sections, type MenuEntry, type Section } from '../page.js';
import { Icon, type IconName } from './icon.js';
import type { Language } from '../texts/languages.js';
import { openAddress, useVisit } from '../visit.js';
import { Form } from './form.js';

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
  title: string;
  assets: Assets;
  menu: readonly MenuEntry[];
  /** No real money moves: each page says so. */
  isSandbox: boolean;
  isNarrow: boolean;
  children: ComponentChildren;
}

export function Frame(props: FrameProps) {
  const visit = useVisit();
  const { title, assets, isNarrow, children } = props;
  const hasMenu = visit.session?.isComplete === true && visit.session.account !== null;
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
        <div class={hasMenu ? 'shell' : undefined}>
          {hasMenu && <Sidebar {...props} />}
          <div>
            {props.isSandbox && (
              <div class="sandbox">
                <Icon name="flask-conical" /> {visit.t('app.sandbox')}
              </div>
            )}
            <Bar hasMenu={hasMenu} />
            <main id="content" class={isNarrow ? 'narrow' : undefined}>
              <h1>{title}</h1>
              {children}
            </main>
          </div>
        </div>
      </body>
    </html>
  );
}

/** Beside the page; on a narrow screen above it, behind a button that works without a script. */
function Sidebar({ menu }: Pick<FrameProps, 'menu'>) {
  const { t, session } = useVisit();
  return (
    <div class="sidebar">
      <input type="checkbox" id="menu" class="menu-toggle" aria-label={t('app.menu')} />
      <div class="sidebar-head">
        <Brand />
        <label for="menu" class="menu-button">
          <Icon name="menu" /> {t('app.menu')}
        </label>
      </div>
      <div class="menu-body">
        <a class="account" href="/console/accounts" title={t('app.changeAccount')}>
          <span>{session?.account?.name ?? session?.account?.slug}</span>
          <Icon name="chevrons-up-down" />
        </a>
        <Menu menu={menu} />
        <Person />
        <small title={build.commit ?? undefined}>Concilia {build.version}</small>
      </div>
    </div>
  );
}

function Brand() {
  return (
    <a class="brand" href="/console">
      <Icon name="check-check" /> Concilia
    </a>
  );
}

function Bar({ hasMenu }: { hasMenu: boolean }) {
  const { session } = useVisit();
  const slug = session?.account?.slug ?? '';
  return (
    <header class="topbar">
      {hasMenu ? (
        <SearchBox slug={slug} />
      ) : (
        <>
          <Brand />
          <Person />
        </>
      )}
    </header>
  );
}

/** Who is signed in, the language, and the way out. */
function Person() {
  const { session, t } = useVisit();
  return (
    <div class="person">
      {session?.isComplete === true && (
        <a href="/console/sessions" title={t('app.you')}>
          <Icon name="circle-user" /> {session.email}
        </a>
      )}
      <LanguageSwitch />
      {session && (
        <Form action="/console/sign-out">
          <button class="plain">
            <Icon name="log-out" /> {t('app.signOut')}
          </button>
        </Form>
      )}
    </div>
  );
}

/** Finds any record of the account. It is no address: people type documents and names into it. */
function SearchBox({ slug }: { slug: string }) {
  const { t } = useVisit();
  return (
    <div class="search" role="search" aria-label={t('search.title')}>
      <Form action={`/console/accounts/${slug}/search`}>
        <input
          {...{ type: 'search', name: 'q', maxLength: 255, autocomplete: 'off', required: true }}
          data-key="/"
          aria-label={t('search.label')}
          placeholder={t('search.label')}
        />
        <button class="plain">
          <Icon name="search" /> {t('search.submit')}
        </button>
      </Form>
    </div>
  );
}

const sectionIcons: Record<Section, IconName> = {
  today: 'house',
  breaks: 'triangle-alert',
  payments: 'banknote',
  statement: 'scroll-text',
  files: 'files',
  approvals: 'stamp',
  connections: 'plug',
  settings: 'settings',
};

/** The sections of the menu, and below the one that is open its pages. */
function Menu({ menu }: Pick<FrameProps, 'menu'>) {
  const { t, path, session } = useVisit();
  const { account } = session ?? {};
  const entries = menu
    .filter(({ needs }) => isAllowed(account?.role ?? null, needs))
    .map((entry) => ({ ...entry, href: entry.path.replace(':account', account?.slug ?? '') }));
  const open = openEntry(entries, path);
  return (
    <nav aria-label={t('app.menu')}>
      <ul>
        {sections.map((section) => {
          const pages = entries.filter((entry) => entry.section === section);
          const [first] = pages;
          if (!first) return null;
          const isOpen = section === open?.section;
          const current = pages.length === 1 ? 'page' : 'true';
          return (
            <li>
              <a href={first.href} aria-current={isOpen ? current : undefined}>
                <Icon name={sectionIcons[section]} /> {t(`section.${section}`)}
              </a>
              {isOpen && pages.length > 1 && (
                <ul class="subpages">
                  {pages.map(({ href, title }) => (
                    <li>
                      <a href={href} aria-current={href === open.href ? 'page' : undefined}>
                        {t(title)}
                      </a>
                    </li>
                  ))}
                </ul>
              )}
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

/** The entry of a page, or of the list to which the page belongs. */
function openEntry<Entry extends { href: string }>(entries: readonly Entry[], path: string) {
  const containing = entries.filter(({ href }) => `${path}/`.startsWith(`${href}/`));
  return containing.sort((one, other) => other.href.length - one.href.length)[0];
}

function LanguageSwitch() {
  const visit = useVisit();
  const other: Language = visit.language === 'pt' ? 'en' : 'pt';
  return (
    <Form action="/console/language">
      <input type="hidden" name="language" value={other} />
      <input type="hidden" name="next" value={openAddress(visit)} />
      <button class="plain" lang={tags[other]} title={visit.t('app.language')}>
        <Icon name="languages" /> {languageNames[other]}
      </button>
    </Form>
  );
}
