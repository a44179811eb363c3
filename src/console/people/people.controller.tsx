// The people of an account: invitations, roles, and who may not sign in any more. For admins.
import { Controller } from '@nestjs/common';
import { z } from 'zod';
import type { Administrator, ListedPerson } from '../../access/people/operators.service.js';
import { Operators } from '../../access/people/operators.service.js';
import { roleNames, type PersonRole } from '../../access/people/roles.js';
import { OperatorSessions } from '../../access/people/sessions.service.js';
import { AppError } from '../../platform/errors.js';
import { Addresses } from '../../platform/http/http.js';
import { Settings } from '../../platform/settings/config.js';
import { orderedListQuery, toList } from '../../platform/http/listing.js';
import {
  ConsoleAction,
  ConsolePage,
  Visiting,
  ShownAgainBy,
} from '../serving/console-page.decorator.js';
import { CodeText } from '../kit/codes-to-pay.js';
import { Message, Button, Hint, Row } from '../kit/elements.js';
import { FormCard, Step, typedBody, Form, type FormFields } from '../kit/form.js';
import { listPage } from '../kit/list-page.js';
import { SessionTable } from './own-session.controller.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { pathId, requireReason, sessionOf, useVisit, type Visit } from '../visit.js';

const needs = 'manage people';

@Controller()
export class PeoplePages {
  constructor(
    private readonly operators: Operators,
    private readonly sessions: OperatorSessions,
    private readonly settings: Settings,
    private readonly addresses: Addresses,
  ) {}

  @ConsolePage('people', needs, { title: 'people.title', section: 'settings', place: 80 })
  list(@Visiting() visit: Visit): PageAnswer {
    return this.page(visit);
  }

  @ConsoleAction('people', needs, 'own')
  @ShownAgainBy('list')
  async invite(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { email = '' } = typedBody(visit, invitationFields(visit));
    const role = readRole(visit.form.get('role'));
    if (role === null) throw new AppError('validation_failed');
    const where = { accountId: whereIn(visit), role };
    const invited = await this.operators.invite(administratorOf(visit), String(email), where);
    return this.page(visit, invited.linkToken);
  }

  @ConsoleAction('people/:id/role', needs, 'own')
  async setRole(@Visiting() visit: Visit): Promise<PageAnswer> {
    await this.operators.setRole(administratorOf(visit), pathId(visit), {
      accountId: whereIn(visit),
      role: readRole(visit.form.get('role')),
    });
    return new Redirect(pathOf(visit));
  }

  @ConsoleAction('people/:id/disable', needs, 'own')
  async disable(@Visiting() visit: Visit): Promise<PageAnswer> {
    await this.operators.disable(administratorOf(visit), pathId(visit), requireReason(visit));
    return new Redirect(pathOf(visit));
  }

  @ConsoleAction('people/:id/reset', needs, 'own')
  async reset(@Visiting() visit: Visit): Promise<PageAnswer> {
    const by = administratorOf(visit);
    const linkToken = await this.operators.reset(by, pathId(visit), requireReason(visit));
    return this.page(visit, linkToken);
  }

  @ConsolePage('people/:id/sessions', needs)
  async listSessions(@Visiting() visit: Visit): Promise<PageAnswer> {
    const id = pathId(visit);
    const { email } = await this.operators.getManaged(administratorOf(visit), id);
    const open = await this.sessions.listOpen(id);
    const body = (
      <>
        <SessionTable
          open={open}
          ownId={sessionOf(visit).id}
          endPath={(session) => `${pathOf(visit)}/${id}/sessions/${session}/end`}
        />
      </>
    );
    return new Shown(visit.t('sessions.of', { email }), body);
  }

  @ConsoleAction('people/:id/sessions/:session/end', needs, 'own')
  async endSession(@Visiting() visit: Visit): Promise<PageAnswer> {
    const id = pathId(visit);
    const session = pathId(visit, 'session');
    await this.operators.getManaged(administratorOf(visit), id);
    if (!(await this.sessions.end(sessionOf(visit), id, session))) throw new AppError('not_found');
    return new Redirect(`${pathOf(visit)}/${id}/sessions`);
  }

  private linkOf(token: string): string {
    return `${this.settings.publicUrl ?? this.addresses.publicUrl}/console/link/${token}`;
  }

  /** `linkToken`: of a link that is shown once; null where no link was needed. */
  private page(visit: Visit, linkToken?: string | null): PageAnswer {
    const { t, accountId } = visit;
    const isOwn = ({ id }: ListedPerson) => id === sessionOf(visit).operatorId;
    return listPage({
      ...{ visit, page: 'people', title: 'people.title', empty: 'list.noMatch' },
      query: orderedListQuery({ role: z.enum(roleNames).optional() }),
      filters: { role: { label: 'word.role', options: roleNames, of: 'role' } },
      read: async (page, { role }) =>
        toList(await this.operators.list(accountId, page, role), page, ({ id }) => id),
      before: (
        <>
          {linkToken && (
            <Message kind="good">
              <CodeText label={t('people.invited')} text={this.linkOf(linkToken)} />
            </Message>
          )}
          {linkToken === null && <Message kind="good">{t('people.granted')}</Message>}
          <FormCard
            {...{ action: pathOf(visit), fields: invitationFields(visit) }}
            title="people.invite"
            button="people.invite"
          />
        </>
      ),
      columns: () => ({
        'word.email': {
          wide: (person) => `${person.email} ${isOwn(person) ? t('people.you') : ''}`,
        },
        'word.status': ({ state }) => t(`people.state.${state}`),
        'people.roleHere': {
          cell: (person) => rolesOf(visit, person).join(' · '),
          below: { label: 'people.where', cell: ({ isSso }) => isSso && t('people.sso') },
        },
        'word.actions': {
          cell: (person) => !isOwn(person) && <PersonActions person={person} />,
          isOnly: 'page',
        },
      }),
    });
  }
}

function invitationFields({ t, session }: Visit): FormFields {
  return {
    email: { label: 'word.email', is: 'email', required: true },
    role: {
      label: 'word.role',
      is: 'choice',
      options: roleNames.map((role) => [role, t(`role.${role}`)]),
    },
    ...(session?.roleEverywhere === 'admin' && {
      where: {
        label: 'people.where',
        is: 'choice',
        options: [
          ['here', t('people.here')],
          ['everywhere', t('people.everywhere')],
        ],
      },
    }),
  };
}

const roleHere = (visit: Visit, { roles }: ListedPerson) =>
  roles.find(({ accountId }) => accountId === visit.accountId)?.role ?? null;

function rolesOf(visit: Visit, person: ListedPerson): string[] {
  const { t } = visit;
  const [here, everywhere] = [roleHere(visit, person), person.roleEverywhere];
  return [
    ...(everywhere ? [t(`role.${everywhere}`), t('people.everywhere')] : []),
    ...(here ? [t(`role.${here}`)] : []),
  ];
}

function RoleForm({ id, here }: { id: string; here: PersonRole | null }) {
  const visit = useVisit();
  const { t } = visit;
  return (
    <Form action={`${pathOf(visit)}/${id}/role`}>
      <Row>
        <select name="role" aria-label={t('word.role')}>
          <option value="" selected={here === null}>
            {t('people.noRole')}
          </option>
          {roleNames.map((role) => (
            <option value={role} selected={role === here}>
              {t(`role.${role}`)}
            </option>
          ))}
        </select>
        <Button is="plain">{t('app.save')}</Button>
      </Row>
    </Form>
  );
}

function PersonActions({ person }: { person: ListedPerson }) {
  const visit = useVisit();
  const { id, state, isOnlyHere, isSso } = person;
  const path = `${pathOf(visit)}/${id}`;
  const role = !isSso && <RoleForm id={id} here={roleHere(visit, person)} />;
  if (!isOnlyHere && !administratorOf(visit).isAdminEverywhere)
    return (
      <>
        {role}
        <Hint>{visit.t('people.elsewhere')}</Hint>
      </>
    );
  return (
    <>
      {role}
      <a href={`${path}/sessions`}>{visit.t('people.sessions')}</a>
      {state !== 'disabled' && (
        <Step {...{ action: `${path}/disable`, button: 'people.disable' }} asksReason />
      )}
      <Step {...{ action: `${path}/reset`, button: 'people.reset' }} asksReason />
    </>
  );
}

/** The account in which a role is given; null for every account. */
function whereIn(visit: Visit): number | null {
  return visit.form.get('where') === 'everywhere' ? null : visit.accountId;
}

function administratorOf(visit: Visit): Administrator {
  const { operatorId, roleEverywhere } = sessionOf(visit);
  const isAdminEverywhere = roleEverywhere === 'admin';
  return { operatorId, isAdminEverywhere, accountId: visit.accountId };
}

function pathOf(visit: Visit): string {
  return visit.to('people');
}

/** Null for no role. */
function readRole(text: string | null): PersonRole | null {
  if (text === null || text === '') return null;
  const role = roleNames.find((name) => name === text);
  if (!role) throw new AppError('validation_failed');
  return role;
}
