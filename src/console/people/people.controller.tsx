// The people of an account: invitations, roles, and who may not sign in any more. For admins.
import { Controller } from '@nestjs/common';
import type { Administrator, ListedPerson } from '../../access/people/operators.service.js';
import { Operators } from '../../access/people/operators.service.js';
import { roleNames, type PersonRole } from '../../access/people/roles.js';
import { OperatorSessions } from '../../access/people/sessions.service.js';
import { AppError } from '../../platform/errors.js';
import { readUuid } from '../../platform/http/listing.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Field, Form, Message, StepUpNotice, DataTable } from '../kit/frame.js';
import { SessionTable } from './own-session.controller.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import { accountOf, pathId, pathTo, requireReason, sessionOf } from '../visit.js';

const people = '/console/accounts/:account/people';
const needs = 'manage people';
const pageSize = 50;

@Controller()
export class PeoplePages {
  constructor(
    private readonly operators: Operators,
    private readonly sessions: OperatorSessions,
  ) {}

  @ConsolePage({
    path: people,
    needs,
    menu: { title: 'people.title', section: 'settings', place: 80 },
  })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.page(visit);
  }

  @ConsoleAction({ path: people, needs, audit: 'own' })
  async invite(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { form } = visit;
    const by = administratorOf(visit);
    const role = readRole(form.get('role'));
    if (role === null) throw new AppError('validation_failed');
    const accountId = form.get('where') === 'everywhere' ? null : accountOf(visit).id;
    const email = form.get('email') ?? '';
    const { linkToken } = await this.operators.invite(by, email, { accountId, role });
    return this.page(visit, linkToken);
  }

  @ConsoleAction({ path: `${people}/:id/role`, needs, audit: 'own' })
  async setRole(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { form } = visit;
    const everywhere = form.get('where') === 'everywhere';
    await this.operators.setRole(administratorOf(visit), pathId(visit), {
      accountId: everywhere ? null : accountOf(visit).id,
      role: readRole(form.get('role')),
    });
    return new Redirect(pathOf(visit));
  }

  @ConsoleAction({ path: `${people}/:id/disable`, needs, audit: 'own' })
  async disable(@Visiting() visit: Visit): Promise<PageAnswer> {
    await this.operators.disable(administratorOf(visit), pathId(visit), requireReason(visit));
    return new Redirect(pathOf(visit));
  }

  @ConsoleAction({ path: `${people}/:id/reset`, needs, audit: 'own' })
  async reset(@Visiting() visit: Visit): Promise<PageAnswer> {
    const by = administratorOf(visit);
    return this.page(visit, await this.operators.reset(by, pathId(visit), requireReason(visit)));
  }

  @ConsolePage({ path: `${people}/:id/sessions`, needs })
  async listSessions(@Visiting() visit: Visit): Promise<PageAnswer> {
    const id = pathId(visit);
    const { email } = await this.operators.getManaged(administratorOf(visit), id);
    const open = await this.sessions.listOpen(id);
    const body = (
      <>
        <StepUpNotice visit={visit} />
        <SessionTable
          visit={visit}
          open={open}
          ownId={sessionOf(visit).id}
          endPath={(session) => `${pathOf(visit)}/${id}/sessions/${session}/end`}
        />
      </>
    );
    return new Shown(visit.t('sessions.of', { email }), body);
  }

  @ConsoleAction({ path: `${people}/:id/sessions/:session/end`, needs, audit: 'own' })
  async endSession(@Visiting() visit: Visit): Promise<PageAnswer> {
    const id = pathId(visit);
    const session = pathId(visit, 'session');
    await this.operators.getManaged(administratorOf(visit), id);
    if (!(await this.sessions.end(sessionOf(visit), id, session))) throw new AppError('not_found');
    return new Redirect(`${pathOf(visit)}/${id}/sessions`);
  }

  /** `linkToken`: of a link that is shown once; null where no link was needed. */
  private async page(visit: Visit, linkToken?: string | null): Promise<Shown> {
    const { t, query } = visit;
    const after = query.get('after');
    if (after !== null) readUuid(after);
    const accountId = accountOf(visit).id;
    const found = await this.operators.list(accountId, { limit: pageSize, after });
    const shown = found.slice(0, pageSize);
    const body = (
      <>
        <StepUpNotice visit={visit} />
        {linkToken && (
          <Message kind="good">
            {t('people.invited')} <code>{`/console/link/${linkToken}`}</code>
          </Message>
        )}
        {linkToken === null && <Message kind="good">{t('people.granted')}</Message>}
        <Invitation visit={visit} />
        <div class="card">
          <DataTable
            visit={visit}
            name={t('people.title')}
            columns={['people.email', 'people.state', 'people.roleHere', 'people.actions']}
          >
            {shown.map((person) => (
              <PersonRow visit={visit} person={person} />
            ))}
          </DataTable>
          {found.length > pageSize && (
            <a href={`${pathOf(visit)}?after=${shown.at(-1)?.id}`}>{t('app.next')}</a>
          )}
        </div>
      </>
    );
    return new Shown(t('people.title'), body);
  }
}

function Invitation({ visit }: { visit: Visit }) {
  const { t } = visit;
  return (
    <div class="card">
      <h2>{t('people.invite')}</h2>
      <Form visit={visit} action={pathOf(visit)}>
        <div class="row">
          <Field label={t('people.email')} name="email" type="email" autocomplete="off" required />
          <label>
            {t('people.role')}
            <RoleSelect visit={visit} chosen="viewer" />
          </label>
          {visit.session?.roleEverywhere === 'admin' && (
            <label>
              {t('people.where')}
              <select name="where">
                <option value="here">{t('people.here')}</option>
                <option value="everywhere">{t('people.everywhere')}</option>
              </select>
            </label>
          )}
          <button>{t('people.invite')}</button>
        </div>
      </Form>
    </div>
  );
}

function PersonRow({ visit, person }: { visit: Visit; person: ListedPerson }) {
  const { t } = visit;
  const { id, email, state, roleEverywhere, roles } = person;
  const isOwn = id === sessionOf(visit).operatorId;
  const hereId = accountOf(visit).id;
  const here = roles.find(({ accountId }) => accountId === hereId)?.role ?? null;
  return (
    <tr>
      <td class="wide">
        {email} {isOwn && t('people.you')}
      </td>
      <td>{t(`people.state.${state}`)}</td>
      <td>
        {roleEverywhere && (
          <div>
            {t(`role.${roleEverywhere}`)} · {t('people.everywhere')}
          </div>
        )}
        {isOwn ? here && t(`role.${here}`) : <RoleForm visit={visit} id={id} here={here} />}
      </td>
      <td>{!isOwn && <PersonActions visit={visit} person={person} />}</td>
    </tr>
  );
}

function RoleForm({ visit, id, here }: { visit: Visit; id: string; here: PersonRole | null }) {
  const { t } = visit;
  return (
    <Form visit={visit} action={`${pathOf(visit)}/${id}/role`}>
      <div class="row">
        <RoleSelect visit={visit} chosen={here} withNone />
        <button class="plain">{t('app.save')}</button>
      </div>
    </Form>
  );
}

function PersonActions({ visit, person }: { visit: Visit; person: ListedPerson }) {
  const { t } = visit;
  const { id, state, isOnlyHere } = person;
  if (!isOnlyHere && !administratorOf(visit).isAdminEverywhere)
    return <span class="muted">{t('people.elsewhere')}</span>;
  const action = (name: 'disable' | 'reset') => (
    <Form visit={visit} action={`${pathOf(visit)}/${id}/${name}`}>
      <div class="row">
        <input name="reason" placeholder={t('app.reason')} aria-label={t('app.reason')} required />
        <button class="plain">{t(`people.${name}`)}</button>
      </div>
    </Form>
  );
  return (
    <>
      <a href={`${pathOf(visit)}/${id}/sessions`}>{t('people.sessions')}</a>
      {state !== 'disabled' && action('disable')}
      {action('reset')}
    </>
  );
}

function RoleSelect({
  visit: { t },
  chosen,
  withNone = false,
}: {
  visit: Visit;
  chosen: PersonRole | null;
  withNone?: boolean;
}) {
  return (
    <select name="role" aria-label={t('people.role')}>
      {withNone && (
        <option value="" selected={chosen === null}>
          {t('people.noRole')}
        </option>
      )}
      {roleNames.map((role) => (
        <option value={role} selected={role === chosen}>
          {t(`role.${role}`)}
        </option>
      ))}
    </select>
  );
}

function administratorOf(visit: Visit): Administrator {
  const { operatorId, roleEverywhere } = sessionOf(visit);
  const isAdminEverywhere = roleEverywhere === 'admin';
  return { operatorId, isAdminEverywhere, accountId: accountOf(visit).id };
}

function pathOf(visit: Visit): string {
  return pathTo(visit, 'people');
}

/** Null for no role. */
function readRole(text: string | null): PersonRole | null {
  if (text === null || text === '') return null;
  const role = roleNames.find((name) => name === text);
  if (!role) throw new AppError('validation_failed');
  return role;
}
