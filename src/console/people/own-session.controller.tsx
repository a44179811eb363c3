// What a person does about their own access: another code, another password, open sessions.
import { Controller } from '@nestjs/common';
import { Settings } from '../../platform/settings/config.js';
import { OperatorSessions } from '../../access/people/sessions.service.js';
import type { ListedSession } from '../../access/people/sessions.queries.js';
import { AppError } from '../../platform/errors.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Step } from '../kit/form.js';
import { ButtonLink, Card, Message } from '../kit/elements.js';
import { ListCard } from '../kit/list-page.js';
import { ListTable } from '../kit/table.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { cookieNames, readNext, writeCookie } from '../requests.js';
import { pathId, sessionOf, useVisit, type Visit } from '../visit.js';
import { codeFields } from '../kit/step-up.js';
import { formPage, nextIn, newPassword } from './form-page.js';

@Controller()
export class OwnSessionPages {
  constructor(
    private readonly sessions: OperatorSessions,
    private readonly settings: Settings,
  ) {}

  @ConsolePage('/console/step-up', 'session')
  stepUp(@Visiting() visit: Visit): PageAnswer {
    return visit.confirmsAtProvider ? confirmationPage(visit) : stepUpPage(visit);
  }

  @ConsoleAction('/console/step-up', 'session', 'own')
  async giveCode(@Visiting() visit: Visit): Promise<PageAnswer> {
    const typed = visit.form.get('code') ?? '';
    const result = await this.sessions.giveCode(sessionOf(visit), typed, visit.address);
    if (result.outcome !== 'accepted') return stepUpPage(visit, visit.t('code.wrong'));
    const { session, isSecure } = cookieNames(this.settings.publicUrl);
    const cookie = writeCookie(session, result.token, { isSecure, maxAgeSeconds: null });
    return new Redirect(readNext(visit.form.get('next')), [cookie]);
  }

  @ConsolePage('/console/password', 'session')
  password(@Visiting() visit: Visit): PageAnswer {
    return passwordPage(visit);
  }

  @ConsoleAction('/console/password', 'session', 'own')
  async changePassword(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { form, t } = visit;
    const given = { current: form.get('current') ?? '', next: form.get('new') ?? '' };
    const result = await this.sessions.changePassword(sessionOf(visit), given);
    if (result.outcome === 'changed') return new Redirect('/console/sessions?changed=password');
    return passwordPage(visit, t(`password.${result.outcome}`));
  }

  @ConsolePage('/console/sessions', 'session')
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t } = visit;
    const session = sessionOf(visit);
    const open = await this.sessions.listOpen(session.operatorId);
    const body = (
      <>
        {visit.query.get('changed') === 'password' && (
          <Message kind="good">{t('password.changed')}</Message>
        )}
        {!session.isSso && (
          <p>
            <a href="/console/password">{t('password.title')}</a>
          </p>
        )}
        <SessionTable
          open={open}
          ownId={session.id}
          endPath={(id) => `/console/sessions/${id}/end`}
        />
      </>
    );
    return new Shown(t('sessions.title'), body);
  }

  @ConsoleAction('/console/sessions/:id/end', 'session', 'own')
  async end(@Visiting() visit: Visit): Promise<PageAnswer> {
    const session = sessionOf(visit);
    if (!(await this.sessions.end(session, session.operatorId, pathId(visit))))
      throw new AppError('not_found');
    return new Redirect('/console/sessions');
  }
}

/** Open sessions, each with a button that ends it. */
export function SessionTable({
  open,
  ownId,
  endPath,
}: {
  open: readonly ListedSession[];
  ownId: string;
  endPath: (id: string) => string;
}) {
  const { t } = useVisit();
  return (
    <ListCard>
      <ListTable
        {...{ rows: open, name: 'people.sessions', empty: 'sessions.empty' }}
        columns={{
          'sessions.browser': { wide: ({ userAgent }) => userAgent || null },
          'word.since': { at: ({ createdAt }) => createdAt },
          'sessions.lastUsed': { at: ({ lastUsedAt }) => lastUsedAt },
          'word.actions': ({ id }) =>
            id === ownId ? (
              t('sessions.this')
            ) : (
              <Step {...{ action: endPath(id), button: 'sessions.end' }} />
            ),
        }}
      />
    </ListCard>
  );
}

function stepUpPage(visit: Visit, problem: string | null = null): Shown {
  return formPage({
    ...{ visit, title: 'stepUp.title', button: 'app.confirm', problem, hidden: nextIn(visit) },
    fields: codeFields('code.labelOnly'),
    above: <p>{visit.t('stepUp.why')}</p>,
  });
}

/** The person signs in at the provider once more, and comes back to where they were. */
function confirmationPage(visit: Visit): Shown {
  const { t } = visit;
  const query = `confirm&next=${encodeURIComponent(nextIn(visit).next)}`;
  const body = (
    <Card>
      <p>{t('sso.confirmWhy')}</p>
      <ButtonLink href={`/console/sso?${query}`}>{t('sso.confirm')}</ButtonLink>
    </Card>
  );
  return new Shown(t('sso.confirmTitle'), body, { isNarrow: true });
}

function passwordPage(visit: Visit, problem: string | null = null): Shown {
  return formPage({
    ...{ visit, title: 'password.title', button: 'password.title', problem },
    fields: {
      current: {
        ...{ label: 'password.current', is: 'secret', autocomplete: 'current-password' },
        required: true,
      },
      new: { label: 'password.next', ...newPassword },
    },
  });
}
