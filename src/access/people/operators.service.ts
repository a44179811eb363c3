// People: who they are, which role they have where, and the links by which they set a password. An
// admin of one account changes nothing that reaches into an account of others.
import { Injectable } from '@nestjs/common';
import { Database, type SqlTx, type Tx } from '../../platform/postgres/database.service.js';
import type { BankAccount, Operator, OperatorRole } from '../../generated/service/client.js';
import { AppError, conflict, ruleBroken, unlisted } from '../../platform/errors.js';
import { idsAfter, pageById, type Page } from '../../platform/http/listing.js';
import { newId } from '../../platform/ids.js';
import { SecretBox } from '../../platform/secret-box.js';
import { Audit } from './audit.service.js';
import type { AuditedActionName, AuditedSubject } from './audited-actions.js';
import { findPasswordProblem, readEmail, type PasswordProblem } from './email.js';
import { ownerOfEmail, ownerOfTotpSecret } from './encrypted-operators.queries.js';
import * as queries from './operators.queries.js';
import { OperatorPasswords } from './passwords.service.js';
import type { PersonRole } from './roles.js';
import { newToken, OperatorSessions } from './sessions.service.js';
import { endSessions } from './sessions.queries.js';
import { newTotpSecret } from './totp.js';

/** Who changes people: an admin, or with null a command on the server, which may do everything. */
export interface Administrator {
  operatorId: string | null;
  isAdminEverywhere: boolean;
  /** The account in which an admin works who is not one everywhere. */
  accountId: number | null;
}

/** The administrator of `concilia people`. */
export const commandLine: Administrator = {
  operatorId: null,
  isAdminEverywhere: true,
  accountId: null,
};

/** A role in one account, or with null in every account. */
export interface Grant {
  accountId: number | null;
  role: PersonRole;
}

export interface ListedPerson extends Pick<Operator, 'id' | 'email' | 'roleEverywhere'> {
  state: 'active' | 'invited' | 'disabled';
  /** Whether groups at the identity provider decide the roles. */
  isSso: boolean;
  roles: (OperatorRole & { account: Pick<BankAccount, 'slug'> })[];
  /** Whether an admin of the account may disable and reset the person. */
  isOnlyHere: boolean;
}

export interface PendingLink {
  /** Null for the first link, which asks for an e-mail. */
  email: string | null;
}

const invitationMinutes = 3 * 24 * 60;
const firstLinkMinutes = 15;

@Injectable()
export class Operators {
  constructor(
    private readonly database: Database,
    private readonly secretBox: SecretBox,
    private readonly passwords: OperatorPasswords,
    private readonly sessions: OperatorSessions,
    private readonly audit: Audit,
  ) {}

  /**
   * Gives a person a role. A new person gets a link, which is returned once; the link of one who
   * is known is null. Throws `validation_failed` for an e-mail that is none.
   */
  async invite(
    by: Administrator,
    typedEmail: string,
    grant: Grant,
  ): Promise<{ id: string; linkToken: string | null }> {
    assertMayGrant(by, grant.accountId);
    const email = readEmail(typedEmail);
    if (email === null)
      throw new AppError('validation_failed', { errors: { '$.email': ['Must be an e-mail.'] } });
    const emailHash = this.sessions.hashEmail(email);
    const linkToken = newToken();
    return this.database.transaction(async (tx) => {
      const known = await tx.operator.findUnique({ where: { emailHash } });
      if (known?.id === by.operatorId && known) throw ownRole();
      if (known?.ssoHash) throw rolesOfGroups();
      const id = known?.id ?? newId();
      if (!known) {
        const encrypted = this.secretBox.encrypt(email, ownerOfEmail(id));
        await tx.operator.create({ data: { id, email: encrypted, emailHash } });
        await this.insertLink(tx, linkToken, id, invitationMinutes);
        await this.record(tx, by, grant.accountId, 'invite', `person ${id}`);
      }
      await this.writeGrant(tx, by, id, grant);
      return { id, linkToken: known ? null : linkToken };
    });
  }

  /** Gives a person another role; null takes it away. Nobody changes their own. */
  async setRole(
    by: Administrator,
    operatorId: string,
    { accountId, role }: { accountId: number | null; role: PersonRole | null },
  ): Promise<void> {
    assertMayGrant(by, accountId);
    if (operatorId === by.operatorId) throw ownRole();
    await this.database.transaction(async (tx) => {
      await this.lock(tx, operatorId);
      const isSso = { id: operatorId, ssoHash: { not: null } };
      if ((await tx.operator.count({ where: isSso })) > 0) throw rolesOfGroups();
      if (role !== null) return this.writeGrant(tx, by, operatorId, { accountId, role });
      if (accountId === null)
        await tx.operator.update({ where: { id: operatorId }, data: { roleEverywhere: null } });
      else await tx.operatorRole.deleteMany({ where: { accountId, operatorId } });
      await this.record(tx, by, accountId, 'take role', `person ${operatorId}`);
    });
  }

  /** The person cannot sign in any more, and all sessions and links end. */
  async disable(by: Administrator, operatorId: string, reason: string | null): Promise<void> {
    if (operatorId === by.operatorId) throw ruleBroken('own_person', 'Nobody disables themselves.');
    const disabledAt = await this.database.now();
    await this.database.transaction(async (tx) => {
      await this.assertMayManage(tx, by, operatorId);
      await tx.operator.update({ where: { id: operatorId }, data: { disabledAt } });
      await endSessions(tx, operatorId, '');
      await queries.endLinks(tx, operatorId);
      await this.record(tx, by, by.accountId, 'disable', `person ${operatorId}`, reason);
    });
  }

  /**
   * Takes password, authenticator and identity at a provider away, and returns the token of a link
   * by which the person sets new ones. Whoever was disabled may come back by it.
   */
  async reset(by: Administrator, operatorId: string, reason: string | null): Promise<string> {
    if (operatorId === by.operatorId)
      throw ruleBroken('own_person', 'Nobody resets themselves: change the password instead.');
    const linkToken = newToken();
    await this.database.transaction(async (tx) => {
      await this.assertMayManage(tx, by, operatorId);
      const data = { ...withoutFactors, passwordHash: null, ssoHash: null, disabledAt: null };
      await tx.operator.update({ where: { id: operatorId }, data });
      await endSessions(tx, operatorId, '');
      await queries.endLinks(tx, operatorId);
      await this.insertLink(tx, linkToken, operatorId, invitationMinutes);
      await this.record(tx, by, by.accountId, 'reset', `person ${operatorId}`, reason);
    });
    return linkToken;
  }

  /** The token of the first link; null where somebody is known already. Earlier ones end. */
  async createFirstLink(): Promise<string | null> {
    const { sql } = this.database;
    if (await queries.hasOperators(sql)) return null;
    const token = newToken();
    await queries.endLinks(sql, null);
    await this.insertLink(sql, token, null, firstLinkMinutes);
    return token;
  }

  /** Null for a link that is unknown, used or too old. */
  async findLink(token: string): Promise<(PendingLink & { isFirst: boolean }) | null> {
    const link = await queries.findOpenLink(this.database.sql, this.hashLink(token));
    if (!link) return null;
    const { operatorId, email } = link;
    const isFirst = operatorId === null;
    if (operatorId === null || email === null) return { email: null, isFirst };
    return { email: this.secretBox.decrypt(email, ownerOfEmail(operatorId)), isFirst };
  }

  /** Sets the password, once, and returns the person. Throws `not_found` for a link that ended. */
  async useLink(
    token: string,
    { email: typedEmail, password }: { email: string; password: string },
  ): Promise<{ outcome: PasswordProblem | 'no_email' } | { outcome: 'set'; operatorId: string }> {
    const tokenHash = this.hashLink(token);
    const link = await queries.findOpenLink(this.database.sql, tokenHash);
    if (!link) throw new AppError('not_found');
    const isFirst = link.operatorId === null;
    const operatorId = link.operatorId ?? newId();
    const email =
      link.email === null
        ? readEmail(typedEmail)
        : this.secretBox.decrypt(link.email, ownerOfEmail(operatorId));
    if (email === null) return { outcome: 'no_email' };
    const problem = findPasswordProblem(password, email);
    if (problem) return { outcome: problem };
    const source = { source: operatorId, isKnown: true };
    const secrets = {
      passwordHash: await this.passwords.hash(password, source),
      ...withoutFactors,
      totpSecret: this.secretBox.encrypt(newTotpSecret(), ownerOfTotpSecret(operatorId)),
    };
    await this.database.transaction(async (tx) => {
      if (!(await queries.useLink(tx, tokenHash))) throw new AppError('not_found');
      const by = { operatorId, isAdminEverywhere: false, accountId: null };
      if (isFirst) await this.createFirst(tx, operatorId, email, secrets);
      else await tx.operator.update({ where: { id: operatorId }, data: secrets });
      await endSessions(tx, operatorId, '');
      const action = isFirst ? 'create first person' : 'accept invitation';
      await this.record(tx, by, null, action, `person ${operatorId}`);
    });
    return { outcome: 'set', operatorId };
  }

  /** Newest first; one person more than the page holds. With null, the people of all accounts. */
  async list(accountId: number | null, page: Page, role?: PersonRole): Promise<ListedPerson[]> {
    const isOfAccount = accountId !== null && {
      OR: [
        { roleEverywhere: role ?? { not: null } },
        { roles: { some: { accountId, ...(role && { role }) } } },
      ],
    };
    const people = await this.database.prisma.operator.findMany({
      where: { ...isOfAccount, id: idsAfter(page) },
      include: {
        roles: {
          include: { account: { select: { slug: true } } },
          orderBy: { account: { slug: 'asc' } },
        },
      },
      ...pageById(page),
    });
    return people.map(({ id, email, roleEverywhere, roles, ...person }) => ({
      ...{ id, roleEverywhere, state: stateOf(person), isSso: person.ssoHash !== null },
      email: this.secretBox.decrypt(email, ownerOfEmail(id)),
      // An admin of one account does not see which other accounts a person has.
      roles: roles.filter((role) => accountId === null || role.accountId === accountId),
      isOnlyHere: hasRolesOnlyIn(accountId, roleEverywhere, roles),
    }));
  }

  /** The e-mails of these people by id, also of those who are disabled. */
  async findEmails(ids: readonly string[]): Promise<Map<string, string>> {
    if (ids.length === 0) return new Map();
    const where = { id: { in: [...new Set(ids)] } };
    const select = { id: true, email: true };
    const rows = await this.database.prisma.operator.findMany({ where, select });
    return new Map(
      rows.map(({ id, email }) => [id, this.secretBox.decrypt(email, ownerOfEmail(id))]),
    );
  }

  /** A person whom the administrator may manage. Throws `forbidden` or `not_found`. */
  async getManaged(by: Administrator, operatorId: string): Promise<{ email: string }> {
    const email = await this.database.transaction(async (tx) => {
      await this.assertMayManage(tx, by, operatorId);
      return tx.operator.findUniqueOrThrow({ where: { id: operatorId }, select: { email: true } });
    });
    return { email: this.secretBox.decrypt(email.email, ownerOfEmail(operatorId)) };
  }

  async findIdByEmail(typedEmail: string): Promise<string | null> {
    const emailHash = this.sessions.hashEmail(readEmail(typedEmail) ?? '');
    const select = { id: true };
    const found = await this.database.prisma.operator.findUnique({ where: { emailHash }, select });
    return found?.id ?? null;
  }

  async findAccountId(slug: string): Promise<number | null> {
    const account = await this.database.prisma.bankAccount.findUnique({ where: { slug } });
    return account?.id ?? null;
  }

  async listVisibleAccounts(operatorId: string): Promise<queries.VisibleAccount[]> {
    return queries.listVisibleAccounts(this.database.sql, operatorId);
  }

  /** The first person is admin everywhere. Two first links at once create one person. */
  private async createFirst(
    tx: Tx,
    id: string,
    email: string,
    secrets: { passwordHash: string; totpSecret: string | null },
  ): Promise<void> {
    await queries.lockOperators(tx);
    if (await queries.hasOperators(tx)) throw conflict('not_first', 'Somebody is known already.');
    const encrypted = this.secretBox.encrypt(email, ownerOfEmail(id));
    const emailHash = this.sessions.hashEmail(email);
    const data = { id, email: encrypted, emailHash, roleEverywhere: 'admin', ...secrets } as const;
    await tx.operator.create({ data });
  }

  private async writeGrant(
    tx: Tx,
    by: Administrator,
    operatorId: string,
    { accountId, role }: Grant,
  ): Promise<void> {
    await this.assertMayJoin(tx, by, operatorId);
    if (accountId === null)
      await tx.operator.update({ where: { id: operatorId }, data: { roleEverywhere: role } });
    else await queries.putRole(tx, { accountId, operatorId, role });
    await this.record(tx, by, accountId, `give role ${role}`, `person ${operatorId}`);
  }

  /**
   * Throws where the person has roles elsewhere and none here: with one here too, the admins there
   * could not help the person any more. Only an admin everywhere lets a person work in several
   * accounts.
   */
  private async assertMayJoin(tx: Tx, by: Administrator, operatorId: string): Promise<void> {
    if (by.isAdminEverywhere) return;
    const roleEverywhere = await this.lock(tx, operatorId);
    const roles = await tx.operatorRole.findMany({ where: { operatorId } });
    const isHere = roles.some(({ accountId }) => accountId === by.accountId);
    if (!isHere && (roleEverywhere !== null || roles.length > 0))
      throw ruleBroken(
        'person_elsewhere',
        'The person has a role elsewhere: only an admin of every account gives another one.',
      );
  }

  /** Throws unless the person has roles only where the administrator is admin. */
  private async assertMayManage(tx: Tx, by: Administrator, operatorId: string): Promise<void> {
    const roleEverywhere = await this.lock(tx, operatorId);
    if (by.isAdminEverywhere) return;
    const roles = await tx.operatorRole.findMany({ where: { operatorId } });
    if (!hasRolesOnlyIn(by.accountId, roleEverywhere, roles)) throw new AppError('forbidden');
  }

  private async lock(tx: Tx, operatorId: string): Promise<PersonRole | null> {
    const found = await queries.lockPerson(tx, operatorId);
    if (!found) throw new AppError('not_found');
    return found.roleEverywhere;
  }

  private insertLink(tx: SqlTx, token: string, operatorId: string | null, minutes: number) {
    return queries.insertLink(tx, this.hashLink(token), operatorId, minutes);
  }

  private record(
    tx: Tx,
    { operatorId }: Pick<Administrator, 'operatorId'>,
    accountId: number | null,
    action: AuditedActionName,
    subject: AuditedSubject,
    reason: string | null = null,
  ): Promise<string> {
    return this.audit.record(tx, { operatorId, accountId, action, subject, reason });
  }

  private hashLink(token: string): string {
    return this.secretBox.hash('operator-link', token);
  }
}

/** No authenticator, and no recovery codes. */
const withoutFactors = {
  totpSecret: null as string | null,
  totpConfirmedAt: null,
  totpLastStep: null,
  recoveryHashes: [] as string[],
};

function assertMayGrant({ isAdminEverywhere, accountId }: Administrator, granted: number | null) {
  if (isAdminEverywhere) return;
  if (granted === null || granted !== accountId) throw new AppError('forbidden');
}

function stateOf({
  disabledAt,
  totpConfirmedAt,
  ssoHash,
}: Pick<Operator, 'disabledAt' | 'totpConfirmedAt' | 'ssoHash'>): ListedPerson['state'] {
  if (disabledAt) return 'disabled';
  return totpConfirmedAt || ssoHash ? 'active' : 'invited';
}

function hasRolesOnlyIn(
  accountId: number | null,
  roleEverywhere: PersonRole | null,
  roles: readonly OperatorRole[],
): boolean {
  const isOfAccount = roles.length > 0 && roles.every((role) => role.accountId === accountId);
  return roleEverywhere === null && isOfAccount;
}

const rolesOfGroups = () =>
  ruleBroken(
    unlisted('roles_of_groups'),
    'Groups at the identity provider decide the roles of this person.',
  );
const ownRole = () => ruleBroken('own_role', 'Nobody changes their own role.');
