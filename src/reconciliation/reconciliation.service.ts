// Says what each line of the statement means: gathers candidates in batches, lets the judge decide, writes the
// verdicts and the events that tell of them in one transaction.
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { AccountsService, type BankAccount } from '../accounts/accounts.service.js';
import { Database, type Tx } from '../database.service.js';
import { EventsService, type NewEvent } from '../events/events.service.js';
import { WakeUps } from '../platform/wake-ups.js';
import { chargeEvent, unexpectedEvent } from './line-events.js';
import { judge, type Candidate, type Verdict } from './match.js';
import * as queries from './reconciliation.queries.js';

const batchSize = 1_000;

@Injectable()
export class ReconciliationService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly events: EventsService,
    private readonly wakeUps: WakeUps,
  ) {}

  /** Judges every line of the account that has not been judged. */
  async reconcile(accountId: number): Promise<void> {
    const account = await this.accounts.get(accountId);
    await this.tellUntold(accountId);
    for (;;) {
      const judged = await this.database.transaction((tx) => this.judgeBatch(tx, account));
      if (judged > 0) await this.events.announce(accountId);
      if (judged < batchSize) return;
    }
  }

  /** Wakes the judgement of accounts whose wake-up was lost with the queue. */
  async wakeUnjudged(): Promise<void> {
    for (const { accountId } of await queries.listUnjudgedAccounts(this.database.prisma))
      await this.wakeUps.wake('reconcile', { accountId });
  }

  /** Opens breaks for what is no line that could be judged: lines set aside, outcomes that nobody knows. */
  private async tellUntold(accountId: number): Promise<void> {
    const untold = await queries.listUntold(this.database.prisma, accountId);
    if (untold.length > 0)
      await this.database.transaction((tx) => queries.insertBreaks(tx, accountId, untold));
  }

  private async judgeBatch(tx: Tx, { id: accountId, goLiveAt }: BankAccount): Promise<number> {
    const judgedArrival = await queries.lockJudgement(tx, accountId);
    const lines = await queries.listUnjudged(tx, accountId, judgedArrival, batchSize);
    const last = lines.at(-1);
    if (!last) return 0;
    const candidates = await this.gatherCandidates(tx, accountId, lines);
    const verdicts = judge(lines, candidates, goLiveAt);
    await this.record(tx, accountId, verdicts);
    await this.events.record(tx, accountId, await this.describe(tx, accountId, lines, verdicts));
    await queries.recordJudged(tx, accountId, last.arrival);
    return lines.length;
  }

  private async gatherCandidates(tx: Tx, accountId: number, lines: queries.ArrivedLine[]) {
    const nsus = lines.map(({ nsu }) => nsu);
    const byNsu = new Map<bigint, Candidate[]>();
    for (const { nsu, ...candidate } of await queries.gatherCandidates(tx, accountId, nsus)) {
      const named = byNsu.get(nsu);
      if (named) named.push(candidate);
      else byNsu.set(nsu, [candidate]);
    }
    return byNsu;
  }

  private async record(tx: Tx, accountId: number, verdicts: Verdict[]): Promise<void> {
    await queries.insertMatches(tx, accountId, verdicts.filter(isMatched).map(withId));
    await queries.insertClassifications(tx, accountId, verdicts.filter(isClassified));
    await queries.insertBreaks(tx, accountId, verdicts.filter(isBreak).map(toBreak));
  }

  private async describe(
    tx: Tx,
    accountId: number,
    lines: queries.ArrivedLine[],
    verdicts: Verdict[],
  ): Promise<NewEvent[]> {
    const matched = verdicts.filter(isMatched);
    const charges = new Map(
      (
        await queries.listChargesOf(
          tx,
          accountId,
          matched.map(({ expectedPaymentId }) => expectedPaymentId),
        )
      ).map((charge) => [charge.expectedPaymentId, charge]),
    );
    const byNsu = new Map(lines.map((line) => [line.nsu, line]));
    return verdicts.flatMap((verdict) => {
      const line = byNsu.get(verdict.nsu);
      if (!line || verdict.verdict === 'classified') return [];
      if (verdict.verdict === 'break') return [unexpectedEvent(line, verdict.kind)];
      const charge = charges.get(verdict.expectedPaymentId);
      return charge ? [chargeEvent(line, charge, verdict.settlement)] : [];
    });
  }
}

function toBreak({ kind, nsu, amountCents, candidates }: Broken): queries.NewBreak {
  return { kind, subject: `nsu:${nsu}`, nsu, amountCents, evidence: { candidates } };
}

function withId<Item extends object>(item: Item): Item & { id: string } {
  return { ...item, id: uuidv7() };
}

type Matched = Extract<Verdict, { verdict: 'matched' }>;
type Classified = Extract<Verdict, { verdict: 'classified' }>;
type Broken = Extract<Verdict, { verdict: 'break' }>;

const isMatched = (verdict: Verdict): verdict is Matched => verdict.verdict === 'matched';
const isClassified = (verdict: Verdict): verdict is Classified => verdict.verdict === 'classified';
const isBreak = (verdict: Verdict): verdict is Broken => verdict.verdict === 'break';
