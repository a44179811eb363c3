// Signing in: password, then code, or for a new person the authenticator. Also links, the first one
// among them, and signing out.
import { Controller } from '@nestjs/common';
import QRCode from 'qrcode';
import { Settings } from '../../platform/settings/config.js';
import { Operators } from '../../access/people/operators.service.js';
import { OperatorSessions, type Session } from '../../access/people/sessions.service.js';
import { SsoProvider } from '../../access/people/sso-provider.service.js';
import { authenticatorUrl } from '../../access/people/totp.js';
import { AppError, invariant } from '../../platform/errors.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { secondStep } from '../console.guard.js';
import { CodeList, QrCode } from '../kit/codes.js';
import { Card, ButtonLink } from '../kit/elements.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { cookieNames, readNext, writeCookie } from '../requests.js';
import type { Visit } from '../visit.js';
import { codeFields } from '../kit/step-up.js';
import { emailFields, formPage, nextIn, newPassword, signInPage } from './form-page.js';

@Controller()
export class SignInPages {
  constructor(
    private readonly sessions: OperatorSessions,
    private readonly operators: Operators,
    private readonly provider: SsoProvider,
    private readonly settings: Settings,
  ) {}

  @ConsolePage('/console/sign-in', 'nobody')
  signIn(@Visiting() visit: Visit): PageAnswer {
    if (visit.session?.isComplete) return new Redirect(readNext(visit.query.get('next')));
    return signInPage(visit);
  }

  @ConsoleAction('/console/sign-in', 'nobody', 'own')
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

  @ConsolePage('/console/code', 'password')
  code(@Visiting() visit: Visit): PageAnswer {
    if (visit.session?.isComplete) return new Redirect('/console');
    return codePage(visit);
  }

  @ConsoleAction('/console/code', 'password', 'own')
  async giveCode(@Visiting() visit: Visit): Promise<PageAnswer> {
    const session = incomplete(visit);
    const typed = visit.form.get('code') ?? '';
    const result = await this.sessions.giveCode(session, typed, visit.address);
    if (result.outcome === 'accepted')
      return new Redirect(readNext(visit.form.get('next')), [this.cookie(result.token)]);
    return codePage(visit, visit.t('code.wrong'));
  }

  @ConsolePage('/console/authenticator', 'password')
  async authenticator(@Visiting() visit: Visit): Promise<PageAnswer> {
    if (visit.session?.hasAuthenticator) return new Redirect('/console');
    return this.authenticatorPage(visit);
  }

  @ConsoleAction('/console/authenticator', 'password', 'own')
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
      <Card>
        <p>{t('recovery.why')}</p>
        <CodeList codes={result.recoveryCodes} />
        <ButtonLink href="/console">{t('app.continue')}</ButtonLink>
      </Card>
    );
    const cookies = [this.cookie(result.token)];
    return new Shown(t('recovery.title'), body, { isNarrow: true, cookies });
  }

  @ConsolePage('/console/link/:token', 'nobody')
  async link(@Visiting() visit: Visit): Promise<PageAnswer> {
    return linkPage(visit, await this.findLink(visit));
  }

  @ConsoleAction('/console/link/:token', 'nobody', 'own')
  async useLink(@Visiting() visit: Visit): Promise<PageAnswer> {
    const link = await this.findLink(visit);
    const { form, t } = visit;
    const given = { email: form.get('email') ?? '', password: form.get('password') ?? '' };
    const result = await this.operators.useLink(visit.params.token ?? '', given);
    if (result.outcome === 'no_email') return linkPage(visit, link, t('link.noEmail'));
    if (result.outcome !== 'set') return linkPage(visit, link, t(`password.${result.outcome}`));
    const begun = await this.sessions.beginByPassword(result.operatorId, visit.userAgent);
    if (begun.outcome === 'refused') return signInPage(visit, t('sso.noPassword'), { status: 403 });
    return this.goOn(begun.token, null);
  }

  @ConsoleAction('/console/sign-out', 'password', 'own')
  async signOut(@Visiting() { session, cookies }: Visit): Promise<PageAnswer> {
    invariant(session, 'a session is needed');
    await this.sessions.end(session, session.operatorId, session.id);
    const { ssoHint, isSecure } = cookieNames(this.settings.publicUrl);
    const ended = [this.cookie('', 0), writeCookie(ssoHint, '', { isSecure, maxAgeSeconds: 0 })];
    const isAtProvider = session.isSso && this.settings.sso;
    const to = isAtProvider ? await this.provider.findSignOut(cookies.get(ssoHint)) : null;
    return new Redirect(to ?? '/console/sign-in', ended);
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

  private async authenticatorPage(visit: Visit, problem: string | null = null): Promise<Shown> {
    const session = incomplete(visit);
    const { t } = visit;
    const secret = await this.sessions.getNewSecret(session);
    const url = authenticatorUrl(secret, session.email);
    const svg = await QRCode.toString(url, { type: 'svg', margin: 2 });
    return formPage({
      ...{ visit, title: 'authenticator.title', button: 'app.confirm', problem },
      fields: codeFields('code.labelOnly'),
      above: (
        <>
          <p>{t('authenticator.why')}</p>
          <QrCode svg={svg} label={t('authenticator.qr')} />
          <p>
            {t('authenticator.secret')} <code>{secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
          </p>
        </>
      ),
    });
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

function codePage(visit: Visit, problem: string | null = null): Shown {
  return formPage({
    ...{ visit, title: 'code.title', button: 'app.confirm', problem, hidden: nextIn(visit) },
    fields: codeFields('code.label', true),
  });
}

function linkPage(
  visit: Visit,
  { email }: { email: string | null },
  problem: string | null = null,
): Shown {
  return formPage({
    ...{ visit, button: 'link.submit', problem },
    title: email === null ? 'link.firstTitle' : 'link.title',
    fields: {
      ...(email === null && emailFields),
      password: { label: 'signIn.password', ...newPassword },
    },
    above: (
      <>
        <p>{email === null ? visit.t('link.firstWhy') : visit.t('link.for', { email })}</p>
        {email !== null && (
          <input type="hidden" name="username" autocomplete="username" value={email} />
        )}
      </>
    ),
  });
}
