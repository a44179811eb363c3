// The people of an account: invitations, roles, and who may not sign in any more. For admins.
import { Controller } from '@nestjs/common';
import type { Administrator, ListedPerson } from '../../access/people/operators.service.js';
import { Operators } from '../../access/people/operators.service.js';
import { roleNames, type PersonRole } from '../../access/people/roles.js';
import { OperatorSessions } from '../../access/people/sessions.service.js';
import { AppError } from '../../platform/errors.js';
import { Addresses } from '../../platform/http/http.js';
import { Settings } from '../../platform/settings/config.js';
import { isUuid, readPage, toList } from '../../platform/http/listing.js';
import {
  ConsoleAction,
  ConsolePage,
  Visiting,
  ShownAgainBy,
} from '../serving/console-page.decorator.js';
import { CodeText } from '../kit/codes-to-pay.js';
import { Pager, Message, Button, Hint, Row } from '../kit/elements.js';
import { FormCard, Step, typedBody, Form, type FormFields } from '../kit/form.js';
import { ListCard } from '../kit/list-page.js';
import { ListTable } from '../kit/table.js';
import { SessionTable } from './own-session.controller.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { pathId, requireReason, sessionOf, useVisit, ForVisit, type Visit } from '../visit.js';

const needs = 'manage people';
const pageSize = 50;

@Controller()
export class PeoplePages {
  constructor(
    private readonly operators: Operators,
    private readonly sessions: OperatorSessions,
    private readonly settings: Settings,
    private readonly addresses: Addresses,
  ) {}

  @ConsolePage('people', needs, { title: 'people.title', section: 'settings', place: 80 })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
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
  private async page(visit: Visit, linkToken?: string | null): Promise<Shown> {
    const { t, query } = visit;
    const page = readPage({ limit: pageSize, cursor: query.get('cursor') ?? undefined }, isUuid);
    const found = await this.operators.list(visit.accountId, page);
    const { data: rows, next } = toList(found, page, ({ id }) => id);
    const isOwn = ({ id }: ListedPerson) => id === sessionOf(visit).operatorId;
    const body = (
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
        <ListCard>
          <ListTable
            {...{ rows, name: 'people.title' }}
            columns={{
              'word.email': {
                wide: (person) => `${person.email} ${isOwn(person) ? t('people.you') : ''}`,
              },
              'word.status': ({ state }) => t(`people.state.${state}`),
              'people.roleHere': (person) => <Roles {...{ person, isOwn: isOwn(person) }} />,
              'word.actions': (person) => !isOwn(person) && <PersonActions person={person} />,
            }}
          />
          <ForVisit visit={{ ...visit, path: pathOf(visit) }}>
            <Pager next={next} />
          </ForVisit>
        </ListCard>
      </>
    );
    return new Shown(t('people.title'), body);
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

interface PersonProps {
  person: ListedPerson;
}

function Roles({ person, isOwn }: PersonProps & { isOwn: boolean }) {
  const visit = useVisit();
  const { t } = visit;
  const { id, roleEverywhere, roles, isSso } = person;
  const hereId = visit.accountId;
  const here = roles.find(({ accountId }) => accountId === hereId)?.role ?? null;
  return (
    <>
      {roleEverywhere && (
        <div>
          {t(`role.${roleEverywhere}`)} · {t('people.everywhere')}
        </div>
      )}
      {isOwn || isSso ? here && t(`role.${here}`) : <RoleForm id={id} here={here} />}
      {isSso && <Hint isBlock>{t('people.sso')}</Hint>}
    </>
  );
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

function PersonActions({ person: { id, state, isOnlyHere } }: PersonProps) {
  const visit = useVisit();
  const path = `${pathOf(visit)}/${id}`;
  if (!isOnlyHere && !administratorOf(visit).isAdminEverywhere)
    return <Hint>{visit.t('people.elsewhere')}</Hint>;
  return (
    <>
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
