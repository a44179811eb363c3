// Signing in: password, then code, or for a new person the authenticator. Also links, the first one
// among them, and signing out.
import { Controller } from '@nestjs/common';
import QRCode from 'qrcode';
import { Settings } from '../../platform/settings/config.js';
import { Operators } from '../../access/people/operators.service.js';
import { OperatorSessions, type Session } from '../../access/people/sessions.service.js';
import { authenticatorUrl } from '../../access/people/totp.js';
import { AppError, invariant } from '../../platform/errors.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { secondStep } from '../console.guard.js';
import { Field, Form, Message } from '../kit/frame.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { cookieNames, readNext, writeCookie, type Visit } from '../requests.js';

const narrow = { isNarrow: true };

@Controller()
export class SignInPages {
  constructor(
    private readonly sessions: OperatorSessions,
    private readonly operators: Operators,
    private readonly settings: Settings,
  ) {}

  @ConsolePage({ path: '/console/sign-in', needs: 'nobody' })
  signIn(@Visiting() visit: Visit): PageAnswer {
    if (visit.session?.isComplete) return new Redirect(readNext(visit.query.get('next')));
    return signInPage(visit);
  }

  @ConsoleAction({ path: '/console/sign-in', needs: 'nobody', audit: 'own' })
  async givePassword(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { form, t } = visit;
    const [email, password] = [form.get('email') ?? '', form.get('password') ?? ''];
    const result = await this.sessions.signIn(email, password, visit);
    if (result.outcome === 'throttled') {
      const seconds = result.waitSeconds;
      const headers = { 'Retry-After': String(seconds) };
      return signInPage(visit, t('signIn.throttled', { seconds }), { status: 429, headers });
    }
    if (result.outcome === 'refused')
      return signInPage(visit, t('signIn.refused'), { status: 401 });
    return this.goOn(result.token, form.get('next'));
  }

  @ConsolePage({ path: '/console/code', needs: 'password' })
  code(@Visiting() visit: Visit): PageAnswer {
    if (visit.session?.isComplete) return new Redirect('/console');
    return codePage(visit);
  }

  @ConsoleAction({ path: '/console/code', needs: 'password', audit: 'own' })
  async giveCode(@Visiting() visit: Visit): Promise<PageAnswer> {
    const session = incomplete(visit);
    const typed = visit.form.get('code') ?? '';
    const result = await this.sessions.giveCode(session, typed, visit.address);
    if (result.outcome === 'accepted')
      return new Redirect(readNext(visit.form.get('next')), [this.cookie(result.token)]);
    return codePage(visit, visit.t('code.wrong'));
  }

  @ConsolePage({ path: '/console/authenticator', needs: 'password' })
  async authenticator(@Visiting() visit: Visit): Promise<PageAnswer> {
    if (visit.session?.hasAuthenticator) return new Redirect('/console');
    return this.authenticatorPage(visit);
  }

  @ConsoleAction({ path: '/console/authenticator', needs: 'password', audit: 'own' })
  async confirmAuthenticator(@Visiting() visit: Visit): Promise<PageAnswer> {
    const session = incomplete(visit);
    if (session.hasAuthenticator) return new Redirect('/console');
    const typed = visit.form.get('code') ?? '';
    const result = await this.sessions.confirmAuthenticator(session, typed, visit.address);
    if (result.outcome !== 'accepted') return this.authenticatorPage(visit, visit.t('code.wrong'));
    // The forms of this response carry the token of the session as it is now.
    visit.session = await this.sessions.find(result.token, '');
    visit.csrfToken = this.sessions.csrfTokenOf(result);
    const { t } = visit;
    const body = (
      <div class="card">
        <p>{t('recovery.why')}</p>
        <ul class="codes">
          {result.recoveryCodes.map((code) => (
            <li>{code}</li>
          ))}
        </ul>
        <a class="button" href="/console">
          {t('app.continue')}
        </a>
      </div>
    );
    const cookies = [this.cookie(result.token)];
    return new Shown(t('recovery.title'), body, { ...narrow, cookies });
  }

  @ConsolePage({ path: '/console/link/:token', needs: 'nobody' })
  async link(@Visiting() visit: Visit): Promise<PageAnswer> {
    return linkPage(visit, await this.findLink(visit));
  }

  @ConsoleAction({ path: '/console/link/:token', needs: 'nobody', audit: 'own' })
  async useLink(@Visiting() visit: Visit): Promise<PageAnswer> {
    const link = await this.findLink(visit);
    const { form, t } = visit;
    const given = { email: form.get('email') ?? '', password: form.get('password') ?? '' };
    const result = await this.operators.useLink(visit.params.token ?? '', given);
    if (result.outcome === 'no_email') return linkPage(visit, link, t('link.noEmail'));
    if (result.outcome !== 'set') return linkPage(visit, link, t(`password.${result.outcome}`));
    return this.goOn(await this.sessions.begin(result.operatorId, visit.userAgent), null);
  }

  @ConsoleAction({ path: '/console/sign-out', needs: 'password', audit: 'own' })
  async signOut(@Visiting() { session }: Visit): Promise<PageAnswer> {
    invariant(session, 'a session is needed');
    await this.sessions.end(session, session.operatorId, session.id);
    return new Redirect('/console/sign-in', [this.cookie('', 0)]);
  }

  /** The first link is for whoever sits at this machine, and for nobody behind a proxy. */
  private async findLink({ params, address, isForwarded }: Visit) {
    const link = await this.operators.findLink(params.token ?? '');
    const isLocal = /^(127\.|::1$|::ffff:127\.)/.test(address) && !isForwarded;
    if (!link || (link.isFirst && !isLocal)) throw new AppError('not_found');
    return link;
  }

  private async goOn(token: string, next: string | null): Promise<Redirect> {
    const session = await this.sessions.find(token, '');
    const page = session ? secondStep(session) : '/console/sign-in';
    const query = next ? `?next=${encodeURIComponent(readNext(next))}` : '';
    return new Redirect(`${page}${query}`, [this.cookie(token)]);
  }

  private async authenticatorPage(visit: Visit, problem?: string): Promise<Shown> {
    const session = incomplete(visit);
    const { t } = visit;
    const secret = await this.sessions.getNewSecret(session);
    const url = authenticatorUrl(secret, session.email);
    const svg = await QRCode.toString(url, { type: 'svg', margin: 2 });
    const body = (
      <div class="card">
        {problem && <Message kind="bad">{problem}</Message>}
        <p>{t('authenticator.why')}</p>
        <div
          class="qr"
          role="img"
          aria-label={t('authenticator.qr')}
          dangerouslySetInnerHTML={{ __html: svg }}
        />
        <p>
          {t('authenticator.secret')} <code>{secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
        </p>
        <Form visit={visit} action="/console/authenticator">
          <CodeField label={t('code.labelOnly')} />
          <button>{t('code.submit')}</button>
        </Form>
      </div>
    );
    return new Shown(t('authenticator.title'), body, { ...narrow, status: problem ? 422 : 200 });
  }

  /** A session's cookie ends with the browser. */
  private cookie(token: string, maxAgeSeconds: number | null = null): string {
    const { session, isSecure } = cookieNames(this.settings.publicUrl);
    return writeCookie(session, token, { isSecure, maxAgeSeconds });
  }
}

function incomplete({ session }: Visit): Session {
  if (!session || session.isComplete) throw new AppError('conflict');
  return session;
}

function signInPage(visit: Visit, problem?: string, options: Shown['options'] = {}): Shown {
  const { t, query, form } = visit;
  const body = (
    <div class="card">
      {problem && <Message kind="bad">{problem}</Message>}
      <Form visit={visit} action="/console/sign-in">
        <input type="hidden" name="next" value={readNext(query.get('next') ?? form.get('next'))} />
        <EmailField visit={visit} />
        <Field
          label={t('signIn.password')}
          name="password"
          type="password"
          autocomplete="current-password"
          required
        />
        <button>{t('signIn.submit')}</button>
      </Form>
      <p class="hint">{t('signIn.first')}</p>
    </div>
  );
  return new Shown(t('signIn.title'), body, { ...narrow, ...options });
}

function codePage(visit: Visit, problem?: string): Shown {
  const { t, query, form } = visit;
  const body = (
    <div class="card">
      {problem && <Message kind="bad">{problem}</Message>}
      <Form visit={visit} action="/console/code">
        <input type="hidden" name="next" value={readNext(query.get('next') ?? form.get('next'))} />
        <CodeField label={t('code.label')} hasLetters />
        <button>{t('code.submit')}</button>
      </Form>
    </div>
  );
  return new Shown(t('code.title'), body, { ...narrow, status: problem ? 422 : 200 });
}

export function CodeField({ label, hasLetters = false }: { label: string; hasLetters?: boolean }) {
  return (
    <Field
      label={label}
      name="code"
      inputmode={hasLetters ? 'text' : 'numeric'}
      autocapitalize="none"
      autocomplete="one-time-code"
      maxlength={20}
      required
      autofocus
    />
  );
}

function EmailField({ visit: { t, form } }: { visit: Visit }) {
  return (
    <Field
      label={t('signIn.email')}
      name="email"
      type="email"
      autocomplete="username"
      required
      autofocus
      value={form.get('email') ?? ''}
    />
  );
}

function linkPage(visit: Visit, link: { email: string | null }, problem?: string): Shown {
  const { t } = visit;
  const body = (
    <div class="card">
      {problem && <Message kind="bad">{problem}</Message>}
      <p>{link.email === null ? t('link.firstWhy') : t('link.for', { email: link.email })}</p>
      <Form visit={visit} action={visit.path}>
        {link.email === null ? (
          <EmailField visit={visit} />
        ) : (
          <input type="hidden" name="username" autocomplete="username" value={link.email} />
        )}
        <Field
          label={t('signIn.password')}
          hint={t('password.hint')}
          name="password"
          type="password"
          autocomplete="new-password"
          minlength={12}
          required
        />
        <button>{t('link.submit')}</button>
      </Form>
    </div>
  );
  const title = link.email === null ? t('link.firstTitle') : t('link.title');
  return new Shown(title, body, { ...narrow, status: problem ? 422 : 200 });
}
