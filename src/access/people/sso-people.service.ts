// The people whom the identity provider names. Issuer and subject identify a person, never an
// e-mail. With each sign-in the person gets the roles of the groups and no other: whoever is in no
// group of the settings loses them and is refused.
import { Injectable } from '@nestjs/common';
import type { Operator } from '../../generated/service/client.js';
import { invariant } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { Database, type Tx } from '../../platform/postgres/database.service.js';
import { SecretBox } from '../../platform/secret-box.js';
import { Settings } from '../../platform/settings/config.js';
import { Audit } from './audit.service.js';
import type { AuditedActionName, AuditedSubject } from './audited-actions.js';
import { ownerOfEmail, ownerOfTotpSecret } from './encrypted-operators.queries.js';
import * as queries from './operators.queries.js';
import type { PersonRole } from './roles.js';
import { endSessions } from './sessions.queries.js';
import { OperatorSessions, type Accepted, type Session } from './sessions.service.js';
import { rolesOf, type SsoIdentity } from './sso-claims.js';
import { newTotpSecret } from './totp.js';

/** Why somebody whom the provider has authenticated does not get in. */
export type PersonProblem =
  'no_group' | 'disabled' | 'email_unverified' | 'email_taken' | 'other_person' | 'expired';
export interface RefusedPerson {
  outcome: 'refused';
  reason: PersonProblem;
}

/** Roles by account; null is every account. */
type Roles = Map<number | null, PersonRole>;

@Injectable()
export class SsoPeople {
  constructor(
    private readonly database: Database,
    private readonly secretBox: SecretBox,
    private readonly sessions: OperatorSessions,
    private readonly audit: Audit,
    private readonly settings: Settings,
  ) {}

  /** `session.id` is that of the flow, so that no flow is of use twice. */
  async signIn(
    identity: SsoIdentity,
    session: { id: string; userAgent: string },
  ): Promise<Accepted | RefusedPerson> {
    const now = await this.database.now();
    const { stepUp, sessionMinutes } = this.sso;
    return this.database.transaction(async (tx) => {
      const isUsed = await tx.operatorSession.findUnique({ where: { id: session.id } });
      if (isUsed) return { outcome: 'refused', reason: 'expired' };
      const found = await this.admit(tx, identity);
      if (typeof found === 'string') return { outcome: 'refused', reason: found };
      const endsAt = new Date(now.getTime() + sessionMinutes * 60_000);
      const isComplete = stepUp === 'provider';
      const begun = { ...session, operatorId: found.id, isComplete, endsAt };
      const token = await this.sessions.begin(tx, begun);
      if (isComplete) await this.record(tx, found.id, 'sign in by sso', `session ${session.id}`);
      return { outcome: 'accepted', token };
    });
  }

  /** The person of the session has signed in anew at the provider. */
  async stepUp(session: Session, identity: SsoIdentity): Promise<Accepted | RefusedPerson> {
    return this.database.transaction(async (tx) => {
      const known = await this.find(tx, identity);
      if (known?.id !== session.operatorId) return { outcome: 'refused', reason: 'other_person' };
      const found = await this.admit(tx, identity);
      if (typeof found === 'string') return { outcome: 'refused', reason: found };
      const token = await this.sessions.confirm(tx, session);
      return token === null
        ? { outcome: 'refused', reason: 'expired' }
        : { outcome: 'accepted', token };
    });
  }

  /** The person with the roles that the groups give now, or why there is none. */
  private async admit(tx: Tx, identity: SsoIdentity): Promise<Operator | PersonProblem> {
    const roles = await this.rolesNow(tx, identity.groups);
    let person = await this.find(tx, identity);
    if (!person) {
      // Two first sign-ins at once create one person.
      await queries.lockOperators(tx);
      person = await this.find(tx, identity);
    }
    const local = person || !identity.email ? null : await this.findLocal(tx, identity.email);
    const known = person ?? local;
    const problem = problemOf(identity, person, local) ?? (roles.size === 0 ? 'no_group' : null);
    if (problem) {
      if (person && problem === 'no_group') await this.applyRoles(tx, person.id, roles);
      const subject = `sso ${this.hashOf(identity).slice(0, 12)}` as const;
      await this.record(tx, known?.id ?? null, 'refuse sign in by sso', subject, problem);
      return problem;
    }
    const admitted = person ?? (await this.join(tx, identity, local));
    await queries.lockPerson(tx, admitted.id);
    await this.renewEmail(tx, admitted, identity);
    await this.applyRoles(tx, admitted.id, roles);
    return admitted;
  }

  /** A new person, or the local one with this e-mail, whose password and sessions end. */
  private async join(tx: Tx, identity: SsoIdentity, local: Operator | null): Promise<Operator> {
    const id = local?.id ?? newId();
    const { isEmailVerified, email, name } = identity;
    const ssoHash = this.hashOf(identity);
    const totpSecret = this.secretBox.encrypt(newTotpSecret(), ownerOfTotpSecret(id));
    const factors = { passwordHash: null, totpConfirmedAt: null, totpLastStep: null, totpSecret };
    const own = { ...factors, recoveryHashes: [], ssoHash };
    if (local) {
      await endSessions(tx, id, '');
      await queries.endLinks(tx, id);
      await this.record(tx, id, queries.linkToSso, `person ${id}`);
      return tx.operator.update({ where: { id }, data: own });
    }
    // An e-mail that nobody has verified is shown, and found by nobody.
    const isFound = email !== null && isEmailVerified;
    const emailHash = this.sessions.hashEmail(isFound ? email : `sso ${ssoHash}`);
    const encrypted = this.secretBox.encrypt(email ?? name, ownerOfEmail(id));
    const person = await tx.operator.create({ data: { id, email: encrypted, emailHash, ...own } });
    await this.record(tx, id, 'create person by sso', `person ${id}`);
    return person;
  }

  /** The e-mail that the provider has verified, unless another person has it here. */
  private async renewEmail(tx: Tx, person: Operator, identity: SsoIdentity): Promise<void> {
    const { email, isEmailVerified } = identity;
    if (!email || !isEmailVerified) return;
    const emailHash = this.sessions.hashEmail(email);
    if (emailHash === person.emailHash || (await this.findLocal(tx, email))) return;
    const encrypted = this.secretBox.encrypt(email, ownerOfEmail(person.id));
    await tx.operator.update({ where: { id: person.id }, data: { email: encrypted, emailHash } });
  }

  /** By account as it is now: groups may name accounts that do not exist. */
  private async rolesNow(tx: Tx, groups: readonly string[]): Promise<Roles> {
    const bySlug = rolesOf(groups, this.sso.groupRoles);
    const slugs = [...bySlug.keys()].filter((slug) => slug !== null);
    const where = { slug: { in: slugs } };
    const accounts = await tx.bankAccount.findMany({ where, select: { id: true, slug: true } });
    const idBySlug = new Map<string | null, number | null>([[null, null]]);
    for (const { id, slug } of accounts) idBySlug.set(slug, id);
    const roles: Roles = new Map();
    for (const [slug, role] of bySlug) {
      const id = idBySlug.get(slug);
      if (id !== undefined) roles.set(id, role);
    }
    return roles;
  }

  private async applyRoles(tx: Tx, operatorId: string, wanted: Roles): Promise<void> {
    const where = { id: operatorId };
    const person = await tx.operator.findUniqueOrThrow({ where, include: { roles: true } });
    const present: Roles = new Map(person.roles.map(({ accountId, role }) => [accountId, role]));
    if (person.roleEverywhere) present.set(null, person.roleEverywhere);
    for (const accountId of new Set([...present.keys(), ...wanted.keys()])) {
      const role = wanted.get(accountId) ?? null;
      if (role === (present.get(accountId) ?? null)) continue;
      if (accountId === null) await tx.operator.update({ where, data: { roleEverywhere: role } });
      else if (role) await queries.putRole(tx, { accountId, operatorId, role });
      else await tx.operatorRole.deleteMany({ where: { accountId, operatorId } });
      const action = role ? (`give role ${role}` as const) : 'take role';
      const subject = `person ${operatorId}` as const;
      await this.audit.record(tx, { operatorId, accountId, action, subject, reason: 'sso' });
    }
    if (wanted.size === 0) await endSessions(tx, operatorId, '');
  }

  private find(tx: Tx, identity: SsoIdentity): Promise<Operator | null> {
    return tx.operator.findUnique({ where: { ssoHash: this.hashOf(identity) } });
  }

  private findLocal(tx: Tx, email: string): Promise<Operator | null> {
    return tx.operator.findUnique({ where: { emailHash: this.sessions.hashEmail(email) } });
  }

  private hashOf({ issuer, subject }: SsoIdentity): string {
    return this.secretBox.hash('operator-sso', JSON.stringify([issuer, subject]));
  }

  private record(
    tx: Tx,
    operatorId: string | null,
    action: AuditedActionName,
    subject: AuditedSubject,
    reason: string | null = null,
  ): Promise<string> {
    return this.audit.record(tx, { operatorId, accountId: null, action, subject, reason });
  }

  private get sso() {
    invariant(this.settings.sso, 'single sign-on is set up');
    return this.settings.sso;
  }
}

/** `local`: who has the e-mail of somebody who is not known by issuer and subject. */
function problemOf(
  { isEmailVerified }: SsoIdentity,
  person: Operator | null,
  local: Operator | null,
): PersonProblem | null {
  if (local && !isEmailVerified) return 'email_unverified';
  if (local && local.ssoHash !== null) return 'email_taken';
  return (person ?? local)?.disabledAt ? 'disabled' : null;
}
