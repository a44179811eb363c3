// Builds an account with a few days of statement lines: stores the lines as a sync would,
// classifies them, and closes the days with the service's own code.
import { secretBoxOf } from './secret-box.js';
import type { DayClose } from '../../src/generated/service/client.js';
import { statementDayStart } from '../../src/brazil/statement-day.js';
import { SigningKeys } from '../../src/access/secrets/signing-keys.service.js';
import { DayCertifier } from '../../src/reporting/day-closes/day-certifier.service.js';
import { DayClosing } from '../../src/reporting/day-closes/day-closing.service.js';
import { Verifier } from '../../src/reporting/day-closes/verifier.service.js';
import { EventsService } from '../../src/events/events.service.js';
import { formatReais } from '../../src/brazil/cents.js';
import { parseJson, tolerantJson } from '../../src/platform/json/exact-json.js';
import { BreakWriter } from '../../src/reconciliation/apply/break-writer.service.js';
import { explainingBreakKinds } from '../../src/reconciliation/decide/break-kinds.js';
import type { DecidedOutcome } from '../../src/reconciliation/decide/line-outcomes.js';
import {
  changedOutcomes,
  listOutcomeLines,
  writeLineOutcomes,
} from '../../src/reconciliation/load/line-leaves.queries.js';
import { BankTime } from '../../src/statement/lines/bank-time.service.js';
import {
  parseStatementLine,
  type StatementLine,
} from '../../src/statement/lines/statement-line.js';
import { insertStatementLines } from '../../src/statement/lines/statement.queries.js';
import type { ServiceDatabase } from './service-database.js';
import { withoutTriggers } from './parent-rows.js';
import { recordedQueues } from './recorded-queues.js';

export interface TestLine {
  nsu: number;
  /** The bank's time, ISO 8601. */
  at: string;
  /** Negative for a debit. */
  cents: number;
  /** The line's position in booking order, if it differs from the nsu. */
  booked?: number;
}

const savedTables = [
  ...['statement_line', 'statement_state', 'line_erasure', 'line_outcome', 'former_outcome'],
  ...['classification', 'break', 'day_close', 'day_close_state'],
];
const bankTime = new Date('2026-03-20T12:00:00Z');

export class ClosedDays {
  constructor(readonly service: () => ServiceDatabase) {}

  readonly run = (sql: string, ...values: unknown[]) =>
    this.service().database.pool.query(sql, values);

  /** Creates an account with an empty statement, closed up to a day before the go-live. */
  readonly account = async (slug: string, goLiveAt = new Date('2026-03-01T03:00:00Z')) => {
    const { database } = this.service();
    const { id } = await database.prisma.bankAccount.create({ data: { slug, goLiveAt } });
    await this.run(
      `INSERT INTO statement_state (account_id, is_anchored, closed_from, closed_until)
       VALUES ($1, true, '2026-02-01T03:00:00Z', '2026-02-01T03:00:00Z')`,
      id,
    );
    return { id, goLiveAt };
  };

  readonly closedUntil = (accountId: number, day: string) =>
    this.run(
      'UPDATE statement_state SET closed_until = $2 WHERE account_id = $1',
      accountId,
      statementDayStart(day),
    );

  /**
   * Stores the lines of `all` that `arrivesNow` selects. Balances start at R$ 100.00 and follow
   * the booking order of `all`.
   */
  readonly arrive = async (
    accountId: number,
    all: TestLine[],
    arrivesNow: (line: TestLine) => boolean = () => true,
  ) => {
    const { database } = this.service();
    const balances = runningBalances(all);
    const lines = all
      .filter(arrivesNow)
      .sort((a, b) => a.nsu - b.nsu)
      .map((line) => lineOf(line, ...(balances.get(line.nsu) as [bigint, bigint])));
    const currentBalances = [...balances.values()].map(([, current]) => current);
    if (lines.length > 0)
      await database.transaction((tx) => insertStatementLines(tx, accountId, lines));
    await this.run(
      `UPDATE statement_state SET line_count = t.lines, last_nsu = t.nsu, balance_cents = $2
       FROM (SELECT count(*) AS lines, max(nsu) AS nsu FROM statement_line WHERE account_id = $1) t
       WHERE account_id = $1`,
      accountId,
      currentBalances.at(-1) ?? 10_000n,
    );
  };

  /** Decides every line: a line without a classification is classified manually. */
  readonly decide = async (accountId: number) => {
    await this.run(
      `INSERT INTO classification (account_id, nsu, rule, category)
       SELECT account_id, nsu, 'manual', 'accepted' FROM statement_line WHERE account_id = $1
       ON CONFLICT DO NOTHING`,
      accountId,
    );
    await this.run(
      `INSERT INTO reconciliation_state (account_id, decided_arrival)
       SELECT $1, COALESCE(max(arrival), 0) FROM statement_line WHERE account_id = $1
       ON CONFLICT (account_id) DO UPDATE SET decided_arrival = EXCLUDED.decided_arrival`,
      accountId,
    );
    await this.writeOutcomes(accountId);
  };

  /** Stores the outcomes of all lines, as decided, or of one line in a state of its own. */
  readonly writeOutcomes = async (
    accountId: number,
    one: { nsu: bigint; state: DecidedOutcome['state'] } | null = null,
  ) => {
    const { rows } = await this.run(
      `SELECT t.nsu, c.category, c.rule, array(
         SELECT kind FROM break b WHERE b.account_id = t.account_id AND b.nsu = t.nsu
           AND b.state = 'open' AND b.kind = ANY ($2)) AS kinds
       FROM statement_line t
       JOIN classification c ON c.account_id = t.account_id AND c.nsu = t.nsu
       WHERE t.account_id = $1`,
      accountId,
      explainingBreakKinds,
    );
    const outcomes = rows.map(({ nsu, category, rule, kinds }) => {
      const breaks = (kinds as string[]).map((kind) => ({
        ...{ kind, amountCents: null, expectedPaymentId: null },
      }));
      const state = breaks.length > 0 ? 'in_break' : 'classified';
      const classification = { category, rule, declared: null };
      return [BigInt(nsu), { state, breaks, classification, payments: [] }] as const;
    });
    const written = new Map<bigint, DecidedOutcome>(outcomes);
    const outcome = one && written.get(one.nsu);
    if (outcome) written.set(one.nsu, { ...outcome, state: one.state });
    await this.service().database.transaction(async (tx) => {
      const lines = await listOutcomeLines(tx, accountId, [...written.keys()]);
      await writeLineOutcomes(tx, accountId, changedOutcomes(accountId, lines, written));
    });
  };

  readonly newCertifier = () => {
    const events = this.events();
    const keys = new SigningKeys(secretBoxOf());
    return new DayCertifier(this.service().database, events, new BreakWriter(events), keys);
  };

  /** `meanwhile` runs after late lines are recorded and before each day is read. */
  readonly close = async (
    account: { id: number; goLiveAt: Date },
    meanwhile: () => Promise<void> = () => Promise.resolve(),
    certifier = this.newCertifier(),
  ) => {
    const { database } = this.service();
    const events = this.events();
    const time = new BankTime(database);
    time.now = async () => {
      await meanwhile();
      return bankTime;
    };
    await new DayClosing(database, time, new BreakWriter(events), certifier, events).close(account);
  };

  private readonly events = () => {
    return new EventsService(this.service().database, recordedQueues()('deliverEvents'));
  };

  /** The certificates in chain order. */
  readonly chain = (accountId: number): Promise<DayClose[]> =>
    this.service().database.prisma.dayClose.findMany({
      where: { accountId },
      orderBy: { sequence: 'asc' },
    });

  readonly breaks = async (accountId: number) => {
    const found = await this.service().database.prisma.break.findMany({ where: { accountId } });
    return found.map(({ kind, subject, state }) => `${state} ${kind} ${subject}`).sort();
  };

  readonly verify = async (slug: string) => {
    const [verified] = await new Verifier(this.service().database, () => undefined).verify(slug);
    return verified;
  };

  /** Saves the account's rows, so that `restore` can undo tampering. */
  readonly save = async (accountId: number, others: string[] = []) => {
    for (const table of [...savedTables, ...others])
      await this.run(
        `CREATE TABLE saved_${table} AS SELECT * FROM "${table}" WHERE account_id = ${accountId}`,
      );
  };

  readonly restore = (accountId: number, others: string[] = []) =>
    this.tamper(
      [...savedTables, ...others]
        .map(
          (table) => `DELETE FROM "${table}" WHERE account_id = ${accountId};
                      INSERT INTO "${table}" SELECT * FROM saved_${table}`,
        )
        .join(';'),
    );

  /** Writes without triggers, as somebody with full access to the database can. */
  readonly tamper = async (sql: string, ...values: unknown[]) => {
    await withoutTriggers(this.service().database.pool, async (client) => {
      const { rowCount } = await client.query(sql, values);
      if (rowCount === 0) throw new Error('the statement changed no row');
    });
  };
}

/** The content hash of a line whose text names another person, as a forger would store it. */
export function rewrittenHash(lines: TestLine[], nsu: number): string {
  const balances = runningBalances(lines);
  const line = lines.find((each) => each.nsu === nsu) as TestLine;
  const [previous, current] = balances.get(nsu) as [bigint, bigint];
  const { content } = lineOf(line, previous, current);
  const reading = parseStatementLine(
    parseJson(content.replace('someone', 'another'), tolerantJson),
  );
  if (!reading.ok) throw new Error(reading.reason);
  return reading.line.contentHash;
}

function runningBalances(lines: TestLine[]): Map<number, [bigint, bigint]> {
  let balance = 10_000n;
  return new Map(
    [...lines]
      .sort((a, b) => bookingPosition(a) - bookingPosition(b))
      .map(({ nsu, cents }) => {
        const previous = balance;
        balance += BigInt(cents);
        return [nsu, [previous, balance]];
      }),
  );
}

const bookingPosition = ({ nsu, booked }: TestLine) => booked ?? nsu;

function lineOf({ nsu, at, cents }: TestLine, previous: bigint, current: bigint): StatementLine {
  const text = JSON.stringify({
    id: `line-${nsu}`,
    nsu,
    createdAt: at,
    notes: `paid by someone ${nsu}`,
    type: { name: cents < 0 ? 'DEBIT_PIX' : 'CREDIT_PIX', isCredit: cents > 0 },
    amount: 0,
    balance: { balancePrevious: 0, currentBalance: 0 },
    proof: { payer: { holder: { document: '12345678909' } } },
  });
  const exact = text
    .replace('"amount":0', `"amount":${formatReais(BigInt(Math.abs(cents)))}`)
    .replace('"balancePrevious":0', `"balancePrevious":${formatReais(previous)}`)
    .replace('"currentBalance":0', `"currentBalance":${formatReais(current)}`);
  const reading = parseStatementLine(parseJson(exact, tolerantJson));
  if (!reading.ok) throw new Error(reading.reason);
  return reading.line;
}
