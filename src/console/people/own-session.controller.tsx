// What a person does about their own access: another code, another password, open sessions.
import { Controller } from '@nestjs/common';
import { Settings } from '../../platform/settings/config.js';
import { OperatorSessions } from '../../access/people/sessions.service.js';
import type { ListedSession } from '../../access/people/sessions.queries.js';
import { AppError } from '../../platform/errors.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { formatTime } from '../formats.js';
import { Field, Form, Message, DataTable } from '../kit/frame.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { cookieNames, readNext, writeCookie, type Visit } from '../requests.js';
import { pathId, sessionOf } from '../visit.js';
import { CodeField } from './sign-in.controller.js';

@Controller()
export class OwnSessionPages {
  constructor(
    private readonly sessions: OperatorSessions,
    private readonly settings: Settings,
  ) {}

  @ConsolePage({ path: '/console/step-up', needs: 'session' })
  stepUp(@Visiting() visit: Visit): PageAnswer {
    return stepUpPage(visit);
  }

  @ConsoleAction({ path: '/console/step-up', needs: 'session', audit: 'own' })
  async giveCode(@Visiting() visit: Visit): Promise<PageAnswer> {
    const typed = visit.form.get('code') ?? '';
    const result = await this.sessions.giveCode(sessionOf(visit), typed, visit.address);
    if (result.outcome !== 'accepted') return stepUpPage(visit, visit.t('code.wrong'));
    const { session, isSecure } = cookieNames(this.settings.publicUrl);
    const cookie = writeCookie(session, result.token, { isSecure, maxAgeSeconds: null });
    return new Redirect(readNext(visit.form.get('next')), [cookie]);
  }

  @ConsolePage({ path: '/console/password', needs: 'session' })
  password(@Visiting() visit: Visit): PageAnswer {
    return passwordPage(visit);
  }

  @ConsoleAction({ path: '/console/password', needs: 'session', audit: 'own' })
  async changePassword(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { form, t } = visit;
    const given = { current: form.get('current') ?? '', next: form.get('new') ?? '' };
    const result = await this.sessions.changePassword(sessionOf(visit), given);
    if (result.outcome === 'changed') return new Redirect('/console/sessions?changed=password');
    return passwordPage(visit, t(`password.${result.outcome}`));
  }

  @ConsolePage({ path: '/console/sessions', needs: 'session' })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t } = visit;
    const session = sessionOf(visit);
    const open = await this.sessions.listOpen(session.operatorId);
    const body = (
      <>
        {visit.query.get('changed') === 'password' && (
          <Message kind="good">{t('password.changed')}</Message>
        )}
        <p>
          <a href="/console/password">{t('password.title')}</a>
        </p>
        <SessionTable
          visit={visit}
          open={open}
          ownId={session.id}
          endPath={(id) => `/console/sessions/${id}/end`}
        />
      </>
    );
    return new Shown(t('sessions.title'), body);
  }

  @ConsoleAction({ path: '/console/sessions/:id/end', needs: 'session', audit: 'own' })
  async end(@Visiting() visit: Visit): Promise<PageAnswer> {
    const session = sessionOf(visit);
    if (!(await this.sessions.end(session, session.operatorId, pathId(visit))))
      throw new AppError('not_found');
    return new Redirect('/console/sessions');
  }
}

/** Open sessions, each with a button that ends it. */
export function SessionTable({
  visit,
  open,
  ownId,
  endPath,
}: {
  visit: Visit;
  open: readonly ListedSession[];
  ownId: string;
  endPath: (id: string) => string;
}) {
  const { t, language } = visit;
  if (open.length === 0) return <p class="muted">{t('sessions.empty')}</p>;
  return (
    <div class="card">
      <DataTable
        visit={visit}
        name={t('people.sessions')}
        columns={['sessions.browser', 'sessions.since', 'sessions.lastUsed', 'people.actions']}
      >
        {open.map(({ id, userAgent, createdAt, lastUsedAt }) => (
          <tr>
            <td class="wide">{userAgent || t('app.none')}</td>
            <td>{formatTime(createdAt, language)}</td>
            <td>{formatTime(lastUsedAt, language)}</td>
            <td>
              {id === ownId ? (
                t('sessions.this')
              ) : (
                <Form visit={visit} action={endPath(id)}>
                  <button class="plain">{t('sessions.end')}</button>
                </Form>
              )}
            </td>
          </tr>
        ))}
      </DataTable>
    </div>
  );
}

function stepUpPage(visit: Visit, problem?: string): Shown {
  const { t, query, form } = visit;
  const body = (
    <div class="card">
      {problem && <Message kind="bad">{problem}</Message>}
      <p>{t('stepUp.why')}</p>
      <Form visit={visit} action="/console/step-up">
        <input type="hidden" name="next" value={readNext(query.get('next') ?? form.get('next'))} />
        <CodeField label={t('code.labelOnly')} />
        <button>{t('code.submit')}</button>
      </Form>
    </div>
  );
  return new Shown(t('stepUp.title'), body, { isNarrow: true, status: problem ? 422 : 200 });
}

function passwordPage(visit: Visit, problem?: string): Shown {
  const { t } = visit;
  const body = (
    <div class="card">
      {problem && <Message kind="bad">{problem}</Message>}
      <Form visit={visit} action="/console/password">
        <Field
          label={t('password.current')}
          name="current"
          type="password"
          autocomplete="current-password"
          required
        />
        <Field
          label={t('password.next')}
          hint={t('password.hint')}
          name="new"
          type="password"
          autocomplete="new-password"
          minlength={12}
          required
        />
        <button>{t('password.submit')}</button>
      </Form>
    </div>
  );
  return new Shown(t('password.title'), body, { isNarrow: true, status: problem ? 422 : 200 });
}
