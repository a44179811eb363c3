// What people decide about months: the limits of the account, acceptances, sign-offs and
// reopenings. A close reads the month again, signs and stores its report in one transaction, while
// no line comes and no outcome changes. It blocks no fact: what comes later is an amendment.
import { Injectable } from '@nestjs/common';
import { operatorIdOf } from '../../access/accounts/actor.js';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import { getHolder, lockKeys } from '../../access/accounts/holders.queries.js';
import { missingScope, type Scope } from '../../access/accounts/scope.decorator.js';
import { listRolesIn, lockPeople } from '../../access/people/operators.queries.js';
import { isAllowed, type Action } from '../../access/people/roles.js';
import { eventAmount } from '../../events/event.js';
import { EventsService } from '../../events/events.service.js';
import type { MonthDecision } from '../../generated/service/client.js';
import { AppError, conflict } from '../../platform/errors.js';
import { toCanonicalJson } from '../../platform/json/canonical-json.js';
import { sha256 } from '../../platform/json/exact-json.js';
import { Database, type Tx } from '../../platform/postgres/database.service.js';
import { lockReconciliation } from '../../reconciliation/apply/decision-writer.queries.js';
import { formatReaisWithTwoDecimals as formatCents } from '../../brazil/cents.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import { readCut } from './amendments.queries.js';
import { unmetItems, type ChecklistItem } from './checklist.js';
import { holdStatement } from './month-facts.queries.js';
import { sumsOfMonth } from './month-figures.js';
import { listStandingCloses } from '../journal/journal.queries.js';
import { MonthParts } from './month-parts.service.js';
import { MonthReader } from './month-reader.service.js';
import type { NewAcceptance, NewMonthPolicy, NewSignOff } from './months.schema.js';

type Decider = Pick<Caller, 'accountId' | 'actor' | 'scopes'>;
/** Who decides: keys are one role, so that of two who sign at least one is a person. */
type DecidedBy = Pick<MonthDecision, 'holder' | 'role' | 'actor'>;
type MonthNow = Awaited<ReturnType<MonthReader['read']>>;

/** What each decision needs of a person's role, and of a key. */
const rights = {
  prepare: { action: 'prepare months', scope: 'reconcile' },
  approve: { action: 'close months', scope: 'approve' },
} as const satisfies Record<string, { action: Action; scope: Scope }>;

@Injectable()
export class MonthClosing {
  constructor(
    private readonly database: Database,
    private readonly bankTime: BankTime,
    private readonly reader: MonthReader,
    private readonly parts: MonthParts,
    private readonly events: EventsService,
  ) {}

  async listPolicies(accountId: number) {
    const versions = await this.database.prisma.monthPolicy.findMany({
      where: { accountId },
      orderBy: { version: 'desc' },
    });
    return {
      versions: versions.map(({ maxBreakCents: maxBreakAmount, createdAt: at, ...one }) => {
        return { ...one, maxBreakAmount, at };
      }),
    };
  }

  async changePolicy(
    { accountId, actor }: Decider,
    { maxBreakAmount: maxBreakCents, ...limits }: NewMonthPolicy,
  ) {
    await this.database.transaction(async (tx) => {
      // Versions follow one another, and no month is closed while one is stored.
      await lockReconciliation(tx, accountId);
      const last = await tx.monthPolicy.aggregate({
        where: { accountId },
        _max: { version: true },
      });
      const version = (last._max.version ?? 0) + 1;
      await tx.monthPolicy.create({
        data: { accountId, version, actor, maxBreakCents, ...limits },
      });
    });
    return this.listPolicies(accountId);
  }

  /** An acceptance that holds already is not repeated. */
  async accept(
    decider: Decider,
    month: string,
    { item: name, count, amount, reason }: NewAcceptance,
  ) {
    return this.decide(decider, month, 'prepare', async (tx, by, read) => {
      if (read.closed) throw closedAlready();
      const item = read.checklist.find((one) => one.item === name);
      if (!item?.mayBeAccepted || item.state === 'met' || item.state === 'not_applicable')
        throw conflict('nothing_to_accept', 'The item is met, or cannot be accepted.');
      if (item.count !== count || item.cents !== amount) throw changed();
      if (item.state === 'accepted') return;
      const { cents, seen } = item;
      const accepted = { action: 'accept', item: name, itemCount: count, cents, seen } as const;
      await this.record(tx, decider.accountId, month, { ...by, ...accepted, reason });
    });
  }

  /** Repeating one's own sign-off changes nothing. */
  async sign(decider: Decider, month: string, { as, figuresHash, reason }: NewSignOff) {
    const { accountId } = decider;
    return this.decide(decider, month, as, async (tx, by, read) => {
      const own = read.decisions.find(
        ({ action, sequence, holder }) =>
          action === as &&
          holder === by.holder &&
          sequence === (read.closed?.approval ?? read.prepared?.sequence),
      );
      if (own?.seen === figuresHash) return;
      if (read.closed) throw closedAlready();
      if (figuresHash !== read.hash) throw changed();
      assertReady(read.checklist);
      const { prepared } = read;
      const isPrepared = prepared !== null && prepared.seen === read.hash;
      if (as === 'approve')
        await this.assertSecond(tx, accountId, by, isPrepared ? prepared : null);
      else if (isPrepared) throw conflict('month_prepared', 'The month is prepared.');
      const signed = { action: as, seen: read.hash, reason };
      const decision = await this.record(tx, accountId, month, { ...by, ...signed });
      if (as === 'approve') await this.close(tx, read, decision);
    });
  }

  async reopen(decider: Decider, month: string, reason: string) {
    return this.decide(decider, month, 'approve', async (tx, by, { closed, state, closes }) => {
      if (state === 'open' && closes.length > 0) return;
      if (state === 'open') throw conflict('nothing_to_reopen', 'The month is open.');
      const { accountId } = decider;
      await this.record(tx, accountId, month, { ...by, action: 'reopen', reason });
      if (!closed) return;
      const data = { month, revision: closed.revision, actor: by.actor };
      this.events.record(tx, accountId, [
        { type: 'month.reopened', resource: { kind: 'month', id: month }, data },
      ]);
    });
  }

  /** Decides under the locks of the account, about the month as it is then. */
  private async decide(
    decider: Decider,
    month: string,
    as: keyof typeof rights,
    work: (tx: Tx, by: DecidedBy, read: MonthNow) => Promise<void>,
  ) {
    const { accountId } = decider;
    const today = await this.bankTime.today(accountId);
    await this.database.transaction(async (tx) => {
      await lockReconciliation(tx, accountId);
      await holdStatement(tx, accountId);
      const by = await this.identify(tx, decider, as);
      await work(tx, by, await this.reader.read(tx, accountId, month, today));
    });
    await this.events.enqueueDeliveries(accountId);
    return this.reader.get(accountId, month);
  }

  /** Who decides, while they may: nobody loses the right until the transaction ends. */
  private async identify(
    tx: Tx,
    { accountId, actor, scopes }: Decider,
    as: keyof typeof rights,
  ): Promise<DecidedBy> {
    const { action, scope } = rights[as];
    const operatorId = operatorIdOf(actor);
    if (operatorId === null) {
      await lockKeys(tx, accountId, [actor]);
      if (!scopes.includes(scope)) throw missingScope(scope);
      return { actor, role: 'api_key', holder: await getHolder(tx, accountId, actor) };
    }
    await lockPeople(tx, [operatorId]);
    const [person] = await listRolesIn(tx, accountId, [operatorId]);
    const role = person?.role ?? null;
    if (role === null || !isAllowed(role, action)) throw mayNotSign();
    return { actor, role, holder: actor };
  }

  /** The month was prepared by another one, of another role, who may still prepare. */
  private async assertSecond(
    tx: Tx,
    accountId: number,
    by: DecidedBy,
    prepared: MonthDecision | null,
  ): Promise<void> {
    if (!prepared) throw conflict('month_not_prepared', 'Nobody prepared the present figures.');
    if (prepared.holder === by.holder)
      throw new AppError('forbidden', {
        reason: 'own_request',
        public: 'Who prepared the month does not approve it.',
      });
    if (prepared.role === by.role)
      throw new AppError('forbidden', {
        reason: 'same_role',
        public: 'Two people of different roles sign a month; API keys are one role.',
      });
    const operatorId = operatorIdOf(prepared.actor);
    if (operatorId === null) return;
    await lockPeople(tx, [operatorId]);
    const [person] = await listRolesIn(tx, accountId, [operatorId]);
    if (!isAllowed(person?.role ?? null, 'prepare months'))
      throw conflict('month_not_prepared', 'Who prepared the month may not do so any more.');
  }

  private async record(
    tx: Tx,
    accountId: number,
    month: string,
    decision: Omit<
      Parameters<Tx['monthDecision']['create']>[0]['data'],
      'accountId' | 'month' | 'sequence' | 'account' | 'close'
    > &
      DecidedBy &
      Pick<MonthDecision, 'action'>,
  ): Promise<MonthDecision> {
    const where = { accountId, month };
    const last = await tx.monthDecision.aggregate({ where, _max: { sequence: true } });
    const sequence = (last._max.sequence ?? 0) + 1;
    return tx.monthDecision.create({ data: { ...where, sequence, ...decision } });
  }

  private async close(tx: Tx, read: MonthNow, approval: MonthDecision): Promise<void> {
    const { accountId, month } = approval;
    const revision = read.closes.length + 1;
    const cut = await readCut(tx, accountId);
    const others = await listStandingCloses(tx, accountId);
    const standing = others.filter((one) => one.month !== month);
    const report = toCanonicalJson({
      ...{ version: 1, accountId, month, revision, figures: read.figures },
      lastArrival: `${cut.lastArrival}`,
      outcomeSequence: `${cut.outcomeSequence}`,
      checklist: read.checklist.map(({ item, state, count, cents, reason }) => {
        return { item, state, count, amount: formatCents(cents), reason };
      }),
      signed: [read.prepared!, approval].map(({ action, role, actor }) => ({
        ...{ action, role, actor },
      })),
      ...(await this.parts.store(tx, { accountId, month, revision, standing })),
    });
    const hash = sha256(report);
    const { sequence } = approval;
    await tx.monthClose.create({
      data: { accountId, month, revision, approval: sequence, report, hash, ...cut },
    });
    const { lines, ...sums } = sumsOfMonth(read.report);
    const amounts = Object.fromEntries(
      Object.entries(sums).map(([name, cents]) => [name, eventAmount(cents)]),
    );
    const data = { month, revision, hash, lines, ...amounts };
    this.events.record(tx, accountId, [
      { type: 'month.closed', resource: { kind: 'month', id: month }, data },
    ]);
  }
}

function assertReady(checklist: readonly ChecklistItem[]): void {
  const items = unmetItems(checklist);
  if (items.length === 0) return;
  throw new AppError('conflict', {
    reason: 'month_not_ready',
    public: `The month cannot be signed: ${items.join(', ')}.`,
    facts: { items },
  });
}

const changed = () =>
  conflict('month_changed', 'The month is not as it was seen. Read it again, and decide then.');
const closedAlready = () => conflict('month_closed', 'The month is closed. Reopen it first.');
const mayNotSign = () =>
  new AppError('forbidden', {
    reason: 'may_not_approve',
    public: 'The role does not allow it.',
  });
