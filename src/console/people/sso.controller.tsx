// Signing in at the identity provider, and confirming there what needs it: the way to the provider
// and the way back. Each way has a cookie of its own, so that two tabs do not disturb each other.
import { Controller } from '@nestjs/common';
import { OperatorSessions } from '../../access/people/sessions.service.js';
import { SsoPeople, type PersonProblem } from '../../access/people/sso-people.service.js';
import {
  flowSeconds,
  SsoProvider,
  type ProviderProblem,
} from '../../access/people/sso-provider.service.js';
import { AppError } from '../../platform/errors.js';
import { Settings } from '../../platform/settings/config.js';
import { secondStep } from '../console.guard.js';
import { ButtonLink, Card, Message } from '../kit/elements.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { cookieNames, readNext, writeCookie } from '../requests.js';
import { ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import type { Visit } from '../visit.js';
import { signInPage } from './form-page.js';

@Controller()
export class SsoPages {
  constructor(
    private readonly provider: SsoProvider,
    private readonly people: SsoPeople,
    private readonly sessions: OperatorSessions,
    private readonly settings: Settings,
  ) {}

  @ConsolePage('/console/sso', 'nobody')
  async start(@Visiting() visit: Visit): Promise<PageAnswer> {
    if (!this.settings.sso) throw new AppError('not_found');
    const { query, session, csrfToken } = visit;
    const next = readNext(query.get('next'));
    const confirms = query.has('confirm') && session?.isComplete ? csrfToken : null;
    if (session?.isComplete && confirms === null) return new Redirect(next);
    const flow = await this.provider.start(next, confirms);
    if (!flow) return refusal(visit, 'unavailable');
    const cookie = this.cookie(this.names.ssoFlow(flow.state), flow.sealed, flowSeconds);
    // Ways that nobody finished must not fill the header of each request.
    const others = [...visit.cookies.keys()].filter((one) =>
      one.startsWith(this.names.ssoFlow('')),
    );
    const forgotten = others.length < maxFlows ? [] : others.map((one) => this.cookie(one, '', 0));
    return new Redirect(flow.url, [...forgotten, cookie]);
  }

  @ConsolePage('/console/sso/callback', 'nobody')
  async finish(@Visiting() visit: Visit): Promise<PageAnswer> {
    if (!this.settings.sso) throw new AppError('not_found');
    const { query, session, csrfToken, userAgent } = visit;
    const name = this.names.ssoFlow(query.get('state') ?? '');
    const cookies = [this.cookie(name, '', 0)];
    const returned = await this.provider.finish(query, visit.cookies.get(name));
    if (returned.outcome === 'refused') return refusal(visit, returned.reason, cookies);
    const { flow, identity, idToken } = returned;
    const { id, confirms, next } = flow;
    if (confirms !== null && (!session?.isComplete || confirms !== csrfToken))
      return refusal(visit, 'expired', cookies);
    const result =
      confirms !== null && session
        ? await this.people.stepUp(session, identity)
        : await this.people.signIn(identity, { id, userAgent });
    if (result.outcome === 'refused') return refusal(visit, result.reason, cookies);
    const { names } = this;
    cookies.push(this.cookie(names.session, result.token, null));
    const hint = this.provider.sealHint(idToken);
    if (hint !== null) cookies.push(this.cookie(names.ssoHint, hint, null));
    const signedIn = await this.sessions.find(result.token, '');
    if (!signedIn || signedIn.isComplete) return new Redirect(readNext(next), cookies);
    return new Redirect(`${secondStep(signedIn)}?next=${encodeURIComponent(next)}`, cookies);
  }

  private get names() {
    return cookieNames(this.settings.publicUrl);
  }

  private cookie(name: string, value: string, maxAgeSeconds: number | null): string {
    return writeCookie(name, value, { isSecure: this.names.isSecure, maxAgeSeconds });
  }
}

const maxFlows = 5;

/** Those of the provider; for the others the person must see somebody. */
const statuses: Partial<Record<ProviderProblem | PersonProblem, number>> = {
  ...{ unavailable: 503, denied: 400, invalid: 400, expired: 400 },
};

/** Why nobody was signed in, or nothing confirmed, and the way to try again. */
function refusal(
  visit: Visit,
  reason: ProviderProblem | PersonProblem,
  cookies: string[] = [],
): Shown {
  const { t, session } = visit;
  const options = { status: statuses[reason] ?? 403, cookies, isNarrow: true };
  if (!session?.isComplete) return signInPage(visit, t(`sso.${reason}`), options);
  const body = (
    <Card>
      <Message kind="bad">{t(`sso.${reason}`)}</Message>
      <ButtonLink href="/console/step-up">{t('sso.confirmTitle')}</ButtonLink>
    </Card>
  );
  return new Shown(t('sso.confirmTitle'), body, options);
}
