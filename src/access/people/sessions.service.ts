// Sessions of the console: password, then the code of an authenticator, then pages. The token of a
// session changes with each step that gives it more rights, so a token that somebody planted or
// copied earlier is worth nothing.
import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { OperatorSession } from '../../generated/service/client.js';
import { Database, type Db, type Tx } from '../../platform/postgres/database.service.js';
import { invariant } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { deleteInBatches } from '../../platform/postgres/retention.js';
import { SecretBox } from '../../platform/secret-box.js';
import { Every } from '../../platform/queue/timers.js';
import { Audit } from './audit.service.js';
import type { AuditedActionName, AuditedSubject } from './audited-actions.js';
import { findPasswordProblem, readEmail, type PasswordProblem } from './email.js';
import { ownerOfEmail, ownerOfTotpSecret } from './encrypted-operators.queries.js';
import * as people from './operators.queries.js';
import { OperatorPasswords } from './passwords.service.js';
import { higherRole, type PersonRole } from './roles.js';
import * as queries from './sessions.queries.js';
import { SignInLimits } from './sign-in-limits.service.js';
import { findStep } from './totp.js';

export interface Session {
  id: string;
  operatorId: string;
  /** The cookie's value. */
  token: string;
  email: string;
  /** Whether password and code were accepted. */
  isComplete: boolean;
  hasAuthenticator: boolean;
  /** Whether the identity provider names its person, who has no password here. */
  isSso: boolean;
  /** Whether it began with a password although people sign in at an identity provider. */
  isBreakGlass: boolean;
  /** Whether a code was given within the last five minutes. */
  isSteppedUp: boolean;
  /** Whether its last stored use is more than a minute ago. */
  isUseDue: boolean;
  roleEverywhere: PersonRole | null;
  /** The account that the request names; null where the person has no role in it. */
  account: { id: number; slug: string; name: string; role: PersonRole } | null;
}

export interface Client {
  address: string;
  userAgent: string;
}

export type SignIn =
  { outcome: 'throttled'; waitSeconds: number } | { outcome: 'refused' } | Accepted;
export type Accepted = { outcome: 'accepted'; token: string };
export interface WrongSecret {
  outcome: 'wrong';
}

/** Codes and passwords that an open session may get wrong. Nobody else uses them up. */
const maxWrongSecrets = 5;
const recoveryCodes = 10;
const ownerOfHeldForm = (sessionId: string) => ['held form', sessionId];

@Injectable()
export class OperatorSessions {
  constructor(
    private readonly database: Database,
    private readonly secretBox: SecretBox,
    private readonly passwords: OperatorPasswords,
    private readonly limits: SignInLimits,
    private readonly audit: Audit,
  ) {}

  /** The first step. The answer to a wrong e-mail and to a wrong password is the same. */
  async signIn(typedEmail: string, password: string, client: Client): Promise<SignIn> {
    const email = readEmail(typedEmail) ?? '';
    const signing = await this.limits.clientOf(email, client.address);
    const { address, isKnown } = signing;
    const source = { source: isKnown ? `${email} ${address}` : address, isKnown };
    this.passwords.assertPlace(source);
    const waitSeconds = await this.limits.take(signing);
    if (waitSeconds > 0) return { outcome: 'throttled', waitSeconds };
    const where = { emailHash: this.hashEmail(email), disabledAt: null };
    const operator = await this.database.prisma.operator.findUnique({ where });
    const hash = operator?.passwordHash ?? null;
    const isRight = await this.passwords.verify(password, hash, source);
    if (!isRight || !operator) return { outcome: 'refused' };
    return this.beginByPassword(operator.id, client.userAgent);
  }

  /**
   * A session after the password, in which only a code can be given or set up. With single sign-on,
   * only admins of every account have one: for when the provider does not answer.
   */
  async beginByPassword(
    operatorId: string,
    userAgent: string,
  ): Promise<Accepted | { outcome: 'refused' }> {
    const { prisma } = this.database;
    const { isBreakGlass } = this.passwords;
    const where = { id: operatorId, roleEverywhere: 'admin' } as const;
    if (isBreakGlass && !(await prisma.operator.findUnique({ where })))
      return { outcome: 'refused' };
    const session = { id: newId(), operatorId, userAgent, isBreakGlass };
    return { outcome: 'accepted', token: await this.begin(prisma, session) };
  }

  async begin(
    db: Db,
    {
      userAgent,
      ...session
    }: Pick<OperatorSession, 'id' | 'operatorId' | 'userAgent'> &
      Partial<Pick<OperatorSession, 'isComplete' | 'isBreakGlass' | 'endsAt'>>,
  ): Promise<string> {
    const token = newToken();
    const data = { ...session, tokenHash: this.hashToken(token) };
    await db.operatorSession.create({ data: { ...data, userAgent: userAgent.slice(0, 200) } });
    return token;
  }

  /** Null for a token of no open session. `slug` is the account that the request names, or ''. */
  async find(token: string, slug: string): Promise<Session | null> {
    const found = await queries.findSession(this.database.sql, this.hashToken(token), slug);
    if (!found) return null;
    const { accountId, accountName, accountRole, email, ...session } = found;
    const role = higherRole(accountRole, found.roleEverywhere);
    return {
      ...session,
      token,
      email: this.secretBox.decrypt(email, ownerOfEmail(found.operatorId)),
      account:
        accountId === null || role === null
          ? null
          : { id: accountId, slug, name: accountName ?? slug, role },
    };
  }

  /**
   * The roles of these sessions' persons in an account, by token, as they are now. Tokens of ended
   * sessions are left out, and persons without a role.
   */
  async rolesOf(tokens: readonly string[], accountId: number): Promise<Map<string, PersonRole>> {
    const tokenByHash = new Map(tokens.map((token) => [this.hashToken(token), token]));
    const { sql } = this.database;
    const found = await queries.listRolesOfSessions(sql, [...tokenByHash.keys()], accountId);
    const roles = new Map<string, PersonRole>();
    for (const { tokenHash, roleEverywhere, accountRole } of found) {
      const role = higherRole(accountRole, roleEverywhere);
      const token = tokenByHash.get(tokenHash);
      if (role !== null && token !== undefined) roles.set(token, role);
    }
    return roles;
  }

  /** Stores a use of the session, once a minute: other pages cost no statement for it. */
  async touch({ id, isUseDue }: Session): Promise<void> {
    if (isUseDue) await queries.touchSession(this.database.sql, id);
  }

  /**
   * A code of the authenticator, for the second step of a sign-in and to step up. The session gets
   * a new token. It ends with the fifth wrong code or password.
   */
  async giveCode(
    session: Session,
    typed: string,
    address: string,
  ): Promise<Accepted | WrongSecret> {
    const code = typed.replace(/[\s-]/g, '');
    const isRecovery = code.length > 6 && session.hasAuthenticator && !session.isComplete;
    const signIn = isRecovery ? 'sign in by recovery' : signInOf(session);
    const given = { code, isRecovery, address };
    return this.acceptGiven(session, given, (tx) =>
      this.auditOf(tx, session, session.isComplete ? 'step up' : signIn),
    );
  }

  /** The first code of a new authenticator completes the sign-in, and shows the recovery codes. */
  async confirmAuthenticator(
    session: Session,
    typed: string,
    address: string,
  ): Promise<(Accepted & { recoveryCodes: string[] }) | WrongSecret> {
    invariant(!session.hasAuthenticator, 'an authenticator is set up once');
    const codes = Array.from({ length: recoveryCodes }, newRecoveryCode);
    const { operatorId } = session;
    const hashes = codes.map((code) => this.hashRecoveryCode(operatorId, code.replaceAll('-', '')));
    const given = { code: typed.replace(/[\s-]/g, ''), isRecovery: false, address };
    const result = await this.acceptGiven(session, given, async (tx) => {
      await tx.operator.update({ where: { id: operatorId }, data: { recoveryHashes: hashes } });
      await this.auditOf(tx, session, signInOf(session));
      await this.auditOf(tx, session, 'set up authenticator');
    });
    return result.outcome === 'accepted' ? { ...result, recoveryCodes: codes } : result;
  }

  /** `record` is part of the transaction that accepts the code. */
  private async acceptGiven(
    session: Session,
    { code, isRecovery, address }: { code: string; isRecovery: boolean; address: string },
    record: (tx: Tx) => Promise<unknown>,
  ): Promise<Accepted | WrongSecret> {
    if (!(await this.takeSecret(session))) return { outcome: 'wrong' };
    const token = newToken();
    const rotation = {
      ...{ id: session.id, isStepUp: !isRecovery },
      ...{ from: this.hashToken(session.token), to: this.hashToken(token) },
    };
    // Read before the transaction, which holds a connection.
    const now = await this.database.now();
    const isAccepted = await this.database.transaction(async (tx) => {
      const isRight = isRecovery
        ? await this.useRecoveryCode(tx, session.operatorId, code)
        : await this.acceptCode(tx, session.operatorId, code, now);
      if (!isRight || !(await queries.rotateSession(tx, rotation))) return false;
      await this.limits.remember(tx, session, address);
      await record(tx);
      return true;
    });
    if (isAccepted) return { outcome: 'accepted', token };
    return this.refuseSecret(session);
  }

  /** The person has signed in anew elsewhere. Null where the session has another token by now. */
  async confirm(tx: Tx, session: Session): Promise<string | null> {
    const token = newToken();
    const rotation = {
      ...{ id: session.id, isStepUp: true },
      ...{ from: this.hashToken(session.token), to: this.hashToken(token) },
    };
    if (!(await queries.rotateSession(tx, rotation))) return null;
    await this.auditOf(tx, session, 'step up');
    return token;
  }

  /** The secret that an authenticator is set up with. Only before its first code. */
  async getNewSecret({ operatorId }: Session): Promise<string> {
    const operator = await findActive(this.database.prisma, operatorId);
    invariant(operator?.totpSecret && !operator.totpConfirmedAt, 'the authenticator is set up');
    return this.secretBox.decrypt(operator.totpSecret, ownerOfTotpSecret(operatorId));
  }

  /** Ends all other sessions of the person. */
  async changePassword(
    session: Session,
    { current, next }: { current: string; next: string },
  ): Promise<WrongSecret | { outcome: 'changed' } | { outcome: PasswordProblem }> {
    const { prisma } = this.database;
    const source = { source: session.operatorId, isKnown: true };
    this.passwords.assertPlace(source);
    if (!(await this.takeSecret(session))) return { outcome: 'wrong' };
    const operator = await findActive(prisma, session.operatorId);
    const hash = operator?.passwordHash ?? null;
    if (!(await this.passwords.verify(current, hash, source))) return this.refuseSecret(session);
    // The last one was right.
    await prisma.operatorSession.update({ where: { id: session.id }, data: { wrongCodes: 0 } });
    const problem = findPasswordProblem(next, session.email);
    if (problem) return { outcome: problem };
    const passwordHash = await this.passwords.hash(next, source);
    await this.database.transaction(async (tx) => {
      const where = { id: session.operatorId };
      await tx.operator.update({ where, data: { passwordHash } });
      await queries.endSessions(tx, session.operatorId, session.id);
      await people.endLinks(tx, session.operatorId);
      await this.auditOf(tx, session, 'change password');
    });
    return { outcome: 'changed' };
  }

  async listOpen(operatorId: string): Promise<queries.ListedSession[]> {
    return queries.listOpenSessions(this.database.sql, operatorId);
  }

  /** Ends a session of `operatorId`. False where there is none. */
  async end(by: Session, operatorId: string, id: string): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const isEnded = await queries.endSession(tx, operatorId, id);
      const action = by.id === id ? 'sign out' : 'end session';
      if (isEnded) await this.auditOf(tx, by, action, `session ${id}`);
      return isEnded;
    });
  }

  /** What forms must send: derived from the token, so that it changes with it. */
  csrfTokenOf({ token }: Pick<Session, 'token'>): string {
    return this.secretBox.hash('console-csrf', token);
  }

  /** A form that waits for a code, as only this session can send it; its secrets are on no page. */
  holdForm({ id }: Session, form: string): string {
    return this.secretBox.encrypt(form, ownerOfHeldForm(id));
  }

  /** Null for what this session does not hold. */
  findHeldForm({ id }: Session, held: string): string | null {
    try {
      return this.secretBox.decrypt(held, ownerOfHeldForm(id));
    } catch {
      // It was changed, or is of another session: nothing of it is sent.
      return null;
    }
  }

  hashEmail(email: string): string {
    return this.secretBox.hash('operator-email', email);
  }

  @Every('operator-sessions', 60)
  async deleteOld(): Promise<void> {
    const { sql } = this.database;
    await deleteInBatches(1, (_days, limit) => queries.deleteOldSessions(sql, limit));
  }

  /**
   * Counts a code or a password before it is compared, so that many at the same time are no more
   * than the session may give. False where it may give none.
   */
  private async takeSecret({ id }: Session): Promise<boolean> {
    const { count } = await this.database.prisma.operatorSession.updateMany({
      where: { id, endedAt: null, wrongCodes: { lt: maxWrongSecrets } },
      data: { wrongCodes: { increment: 1 } },
    });
    return count === 1;
  }

  /** The session ends with the last wrong one that it may have. */
  private async refuseSecret({ id }: Session): Promise<WrongSecret> {
    await queries.endIfExhausted(this.database.sql, id, maxWrongSecrets);
    return { outcome: 'wrong' };
  }

  private useRecoveryCode(tx: Tx, operatorId: string, code: string): Promise<boolean> {
    return people.useRecoveryHash(tx, operatorId, this.hashRecoveryCode(operatorId, code));
  }

  private async acceptCode(tx: Tx, operatorId: string, code: string, now: Date): Promise<boolean> {
    const operator = await findActive(tx, operatorId);
    if (!operator?.totpSecret) return false;
    const secret = this.secretBox.decrypt(operator.totpSecret, ownerOfTotpSecret(operatorId));
    const step = findStep(secret, code, now, operator.totpLastStep);
    return step !== null && people.acceptStep(tx, operatorId, step);
  }

  private auditOf(
    tx: Tx,
    { operatorId, id }: Session,
    action: AuditedActionName,
    subject: AuditedSubject = `session ${id}`,
  ): Promise<string> {
    return this.audit.record(tx, { operatorId, accountId: null, action, subject });
  }

  private hashToken(token: string): string {
    return this.secretBox.hash('operator-session', token);
  }

  private hashRecoveryCode(operatorId: string, code: string): string {
    return this.secretBox.hash('operator-recovery', `${operatorId} ${code.toLowerCase()}`);
  }
}

const signInOf = ({ isSso, isBreakGlass }: Session) =>
  isSso ? 'sign in by sso' : isBreakGlass ? 'sign in without sso' : 'sign in';

/** Null for a person who is disabled. */
const findActive = (db: Db, id: string) =>
  db.operator.findUnique({ where: { id, disabledAt: null } });

/** 256 random bits. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Twelve letters and digits without those that look alike: 60 bits. */
function newRecoveryCode(): string {
  const letters = 'abcdefghjkmnpqrstuvwxyz23456789x';
  const drawn = [...randomBytes(12)].map((byte) => letters[byte & 31]);
  return drawn.join('').replace(/(.{4})(?=.)/g, '$1-');
}
