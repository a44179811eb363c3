// Says what each line of the statement means: gathers what it could be in batches, lets the judge decide, and has the
// verdicts written in the same transaction.
import { Injectable } from '@nestjs/common';
import { AccountsService, type BankAccount } from '../accounts/accounts.service.js';
import { BankService } from '../bank/bank.service.js';
import { Database, type Tx } from '../database.service.js';
import { WakeUps } from '../platform/wake-ups.js';
import * as breaks from './breaks.queries.js';
import * as candidates from './candidates.queries.js';
import { displaces } from './judged.js';
import { DeclaredRules, overlapMs } from './rules/declared-rules.service.js';
import { listAccountsToReview } from './rules/rules.queries.js';
import { isUnnamedDebit, judge, type Records } from './match.js';
import { StandingBreaks, visibilityBoundMs } from './standing-breaks.service.js';
import { VerdictWriter } from './verdict-writer.service.js';
import * as queries from './verdicts.queries.js';

const batchSize = 1_000;
/** How often a line that waits is judged again. */
const waitingPauseMs = 2_000;

@Injectable()
export class ReconciliationService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly writer: VerdictWriter,
    private readonly standing: StandingBreaks,
    private readonly rules: DeclaredRules,
    private readonly wakeUps: WakeUps,
  ) {}

  /** Judges every line of the account that has not been judged, and those that wait. */
  async reconcile(accountId: number): Promise<void> {
    const account = await this.accounts.get(accountId);
    for (;;) {
      const { lines, operationIds, hasDisplaced } = await this.database.transaction((tx) =>
        this.judgeBatch(tx, account),
      );
      if (lines.length > 0) await this.writer.announce(accountId, operationIds);
      const isFull = lines.filter(({ cameAs }) => cameAs === 'new').length === batchSize;
      if (!isFull && !hasDisplaced) break;
    }
    await this.review(accountId);
    if (await this.standing.tell(accountId)) await this.writer.announce(accountId, []);
  }

  /** Wakes the judgement of accounts whose wake-up was lost with the queue, or where something has waited. */
  async wakeUnjudged(): Promise<void> {
    const due = await breaks.listUnjudgedAccounts(this.database.prisma, waitingPauseMs);
    for (const { accountId } of due) await this.wakeUps.wake('reconcile', { accountId });
  }

  /** Wakes the judgement of accounts whose rules, or what they are held against, have changed. */
  async wakeUnreviewed(): Promise<void> {
    const due = await listAccountsToReview(this.database.prisma, overlapMs);
    for (const { accountId } of due) await this.wakeUps.wake('reconcile', { accountId });
  }

  private async judgeBatch(
    tx: Tx,
    { id: accountId, goLiveAt }: BankAccount,
  ): Promise<{ lines: queries.ArrivedLine[]; operationIds: string[]; hasDisplaced: boolean }> {
    const afterArrival = await queries.lockJudgement(tx, accountId);
    const lines = await queries.listLinesToJudge(tx, accountId, {
      afterArrival,
      limit: batchSize,
      freshMs: visibilityBoundMs(this.bank.profile),
    });
    const last = lines.at(-1);
    if (!last) return { lines, operationIds: [], hasDisplaced: false };
    const records = await this.gather(tx, accountId, lines);
    const judged = judge(lines, records, goLiveAt);
    const ruled = await this.rules.apply(tx, accountId, lines, judged);
    const { verdicts } = ruled;
    const operationIds = await this.writer.write(tx, accountId, ruled.lines, verdicts);
    if (last.arrival > afterArrival) await queries.recordJudged(tx, accountId, last.arrival);
    return { lines, operationIds, hasDisplaced: verdicts.some(displaces) };
  }

  /** Holds what rules decide against them again, where they or what is expected have changed. */
  private async review(accountId: number): Promise<void> {
    for (let after: bigint | null = 0n; after !== null;) {
      const from: bigint = after;
      const reviewed = await this.database.transaction(async (tx) => {
        await queries.lockJudgement(tx, accountId);
        const page = await this.rules.review(tx, accountId, from);
        if (!page) return null;
        const { lines, verdicts } = page.applied;
        const written = lines.length > 0 || page.applied.released.length > 0;
        const operationIds = await this.writer.write(tx, accountId, lines, verdicts);
        return { last: page.last, operationIds, written };
      });
      if (reviewed?.written) await this.writer.announce(accountId, reviewed.operationIds);
      after = reviewed?.last ?? null;
    }
  }

  private async gather(tx: Tx, accountId: number, lines: queries.ArrivedLine[]): Promise<Records> {
    const nsus = lines.map(({ nsu }) => nsu);
    const named = byNsu(await candidates.gatherNamed(tx, accountId, nsus));
    const unnamed = lines.filter((line) => isUnnamedDebit(line, named.get(line.nsu) ?? []));
    if (unnamed.length === 0) return { named, open: new Map() };
    const unnamedNsus = unnamed.map(({ nsu }) => nsu);
    const open = await candidates.gatherOpenDebits(
      tx,
      accountId,
      unnamedNsus,
      this.bank.profile.visibilityBoundMs,
    );
    return { named, open: byNsu(open) };
  }
}

function byNsu<Row extends { nsu: bigint }>(rows: Row[]): Map<bigint, Row[]> {
  const grouped = new Map<bigint, Row[]>();
  for (const row of rows) {
    const known = grouped.get(row.nsu);
    if (known) known.push(row);
    else grouped.set(row.nsu, [row]);
  }
  return grouped;
}
