// Loads the components of due subjects, with the facts that decisions are computed from. Nothing
// here reads what a decision has written, except what rules decided and has become final, and the
// stored outcomes and breaks, which the decision is compared with.
import {
  importOfHistory,
  periodsOfOthers,
} from '../../access/accounts/account-restores.queries.js';
import {
  opaqueAccountId,
  opaqueArray,
  type Reader,
} from '../../platform/postgres/database.service.js';
import type { CreditDays } from '../../statement/expected-payments/credit-days.js';
import { ownCreditDays } from '../../statement/expected-payments/credit-days.queries.js';
import { findPossibleOriginals } from '../../statement/expected-payments/refunds-by-payer.queries.js';
import { Prisma } from '../../generated/service/client.js';
import { invariant } from '../../platform/errors.js';
import { listBreaksAbout, type StoredBreak } from './stored-breaks.queries.js';
import type { ComponentSeeds, LoadOptions, Selection } from './component.queries.js';
import { ConditionsSearch, findByConditions } from './conditions.queries.js';
import {
  ComponentSearch,
  countReferences,
  unnamedRefundsOf,
  withKnownReferences,
} from './component-search.service.js';
import type {
  BreakDecision,
  Facts,
  FinalClassification,
  FinalMatch,
  OperationFacts,
  OthersPeriod,
} from '../decide/model.js';
import { someMatch, type AppliedRule } from '../decide/rule.js';
import {
  isNone,
  listManualLinks,
  listSeparatedPairs,
  selectedLines,
  type SelectedLines,
} from './line-decisions.queries.js';
import { listLines, type LoadedLine } from './line-facts.queries.js';
import { listPaymentFacts } from './payment-facts.queries.js';
import { findCompeting, SeenKeys, listActiveRules } from './rules.queries.js';

/** The facts of components, with what is stored about their lines and payments. */
export interface LoadedFacts extends Facts {
  lines: readonly LoadedLine[];
  storedBreaks: readonly StoredBreak[];
}

/** What is known of the account itself. */
export interface LoadedAccount extends Pick<
  Facts,
  'goLiveAt' | 'othersSent' | 'imported' | 'asOf' | 'rules'
> {
  /** Another system has declared payments of the account. */
  hasDeclared: boolean;
  /** Its fees are checked. */
  hasPriceList: boolean;
  /** Null if the account has set none. */
  ownCreditDays: Partial<CreditDays> | null;
}

/** The facts of an account, with its own rules or those of a trial. */
export async function loadAccount(
  db: Reader,
  accountId: number,
  rulesInTrial?: readonly AppliedRule[],
): Promise<LoadedAccount> {
  const [rules, state] = await Promise.all([
    rulesInTrial ?? listActiveRules(db, accountId),
    readAccountState(db, accountId),
  ]);
  return { ...state, rules };
}

/**
 * The facts of the components of these subjects, together with what competes with them by the match
 * rules of the account. What is known of the account is awaited while the subjects are read.
 */
export async function loadComponents(
  db: Reader,
  accountId: number,
  options: LoadOptions,
  seeds: ComponentSeeds,
  account: Promise<LoadedAccount>,
): Promise<LoadedFacts> {
  const search = new ComponentSearch(db, accountId, options);
  const seen = new SeenKeys();
  const conditions = new ConditionsSearch();
  const [{ hasDeclared, ownCreditDays, ...ofAccount }] = await Promise.all([
    account,
    search.extend(seeds),
  ]);
  const { rules } = ofAccount;
  for (let isNew = true; isNew;) {
    isNew =
      someMatch(rules) &&
      (await search.extend(await findCompeting(db, accountId, { ...search.found, rules }, seen)));
    // The account's first one may have been declared since.
    if (!hasDeclared && !search.hasDeclared) continue;
    const byConditions = await findByConditions(db, accountId, search.found, conditions);
    isNew = (await search.extend(byConditions)) || isNew;
  }
  const { ids: selection, found } = search;
  const { lines, expectedPayments } = found;
  // The payments of a multi-use QR code are thousands: their breaks are found by their lines.
  const connecting = expectedPayments.filter((one) => !one.isCredit || !one.isMultiUse);
  // Only a payment of which a fact says that it will not come has late lines.
  const withdrawn = expectedPayments.filter(({ hasFacts }) => hasFacts);
  const listBreaks = async () => {
    const storedBreaks = await listBreaksAbout(db, accountId, {
      nsus: [...decidedOf(lines)],
      expectedPaymentIds: connecting.map(({ id }) => id),
      operationIdsOfPayments: [
        ...new Set(withdrawn.flatMap(({ operationId }) => operationId ?? [])),
      ],
      operationIds: [...selection.operationIds],
    });
    const breakIds = storedBreaks.map(({ id }) => id);
    return { storedBreaks, decisions: await listBreakDecisions(db, accountId, breakIds) };
  };
  const [breaks, facts] = await Promise.all([
    listBreaks(),
    loadOtherFacts(db, accountId, selection, lines),
  ]);
  const { debitMissingMs } = options;
  const creditDays = { ...options.creditDays, ...ownCreditDays };
  return {
    ...ofAccount,
    ...facts,
    ...found,
    ...breaks,
    debitMissingMs,
    creditDays,
  };
}

/** All facts of an account. */
export async function loadAllFacts(
  db: Reader,
  accountId: number,
  options: LoadOptions,
  rules: readonly AppliedRule[],
): Promise<Facts> {
  const lines = await listLines(db, accountId, options, 'all');
  const payments = await listPaymentFacts(db, accountId, options, 'all');
  const counts = countReferences(payments);
  const { hasDeclared: _, ownCreditDays, ...ofAccount } = await readAccountState(db, accountId);
  return {
    lines,
    expectedPayments: payments.map((payment) => withKnownReferences(payment, counts)),
    ...ofAccount,
    ...(await loadOtherFacts(db, accountId, 'all', lines)),
    decisions: await listBreakDecisions(db, accountId, 'all'),
    debitMissingMs: options.debitMissingMs,
    creditDays: { ...options.creditDays, ...ownCreditDays },
    possibleOriginals: await findPossibleOriginals(db, accountId, unnamedRefundsOf(lines)),
    rules,
  };
}

/** What was never decided has no match, no classification and no break. */
const decidedOf = (lines: readonly LoadedLine[]): Set<bigint> =>
  new Set(lines.filter(({ version }) => version !== null).map(({ nsu }) => nsu));

type InText<Times> = Record<keyof Times, string | null>;
type AccountRow = Omit<LoadedAccount, 'rules' | 'othersSent' | 'imported'> & {
  periods: readonly InText<OthersPeriod>[];
  history: InText<Facts['imported']>;
};

function withTimes<Times extends object>(texts: InText<Times>): Record<keyof Times, Date | null> {
  const times = Object.entries<string | null>(texts).map(([name, text]) => [
    name,
    text === null ? null : new Date(text),
  ]);
  return Object.fromEntries(times) as Record<keyof Times, Date | null>;
}

async function readAccountState(
  db: Reader,
  accountId: number,
): Promise<Omit<LoadedAccount, 'rules'>> {
  const [state] = await db.$queryRaw<AccountRow[]>`
    -- Until the bank shows its clock, PostgreSQL's counts.
    SELECT COALESCE(b.go_live_at, b.created_at) AS "goLiveAt", r.as_of,
           ${ownCreditDays(Prisma.sql`b.id`)} AS "ownCreditDays",
           ${periodsOfOthers} AS periods, ${importOfHistory} AS history,
           EXISTS (
             SELECT FROM expected_payment e
             WHERE e.account_id = b.id AND e.external_id IS NOT NULL) AS "hasDeclared",
           EXISTS (SELECT FROM price_list p WHERE p.account_id = b.id) AS "hasPriceList"
    FROM bank_account b LEFT JOIN reconciliation_state r ON r.account_id = b.id
    WHERE b.id = ${accountId}`;
  invariant(state, 'the account exists');
  const { periods, history, ...others } = state;
  const imported = withTimes(history);
  return { ...others, imported, othersSent: periods.map(withTimes) };
}

async function loadOtherFacts(
  db: Reader,
  accountId: number,
  selection: Selection,
  lines: readonly LoadedLine[],
) {
  const chosen = (nsus: Set<bigint>) => (selection === 'all' ? 'all' : nsus);
  const decided = chosen(decidedOf(lines));
  const withDecisions = lines.filter(({ hasDecisions }) => hasDecisions);
  const byPeople = chosen(new Set(withDecisions.map(({ nsu }) => nsu)));
  const [operations, links, separated, finalMatches, finalClassifications] = await Promise.all([
    listOperations(db, accountId, selection),
    listManualLinks(db, accountId, byPeople),
    listSeparatedPairs(db, accountId, byPeople),
    listFinalMatches(db, accountId, decided),
    listFinalClassifications(db, accountId, decided),
  ]);
  return { operations, links, separated, finalMatches, finalClassifications };
}

const isLiveByRule = Prisma.sql`
  AND rule IN ('declared', 'counterparty') AND unlinked_at IS NULL`;

/** The operations of the selection; of all, those whose outcome is not known. */
async function listOperations(
  db: Reader,
  accountId: number,
  selection: Selection,
): Promise<OperationFacts[]> {
  const selected =
    selection === 'all'
      ? Prisma.sql`o.state IN ('sending', 'unknown', 'needs_operator')`
      : Prisma.sql`o.id = ANY (${[...selection.operationIds]}::uuid[])`;
  if (selection !== 'all' && selection.operationIds.size === 0) return [];
  return db.$queryRaw`
    SELECT o.id, o.kind, o.state, o.reason, o.attempts, expected.cents AS "amountCents"
    FROM operation o
    LEFT JOIN LATERAL (
      SELECT sum(amount_cents)::bigint AS cents FROM expected_payment
      WHERE account_id = o.account_id AND operation_id = o.id
    ) expected ON true
    WHERE o.account_id = ${opaqueAccountId(accountId)} AND ${selected}`;
}

/**
 * Whether recomputation keeps what was decided of a line by a rule or its counterparty (of): it is
 * final, or the personal data that it follows from was erased.
 */
const isKept = (accountId: number, of: string) => Prisma.sql`(
  ${Prisma.raw(of)}.final_at IS NOT NULL OR EXISTS (
    SELECT FROM line_erasure erased
    WHERE erased.account_id = ${opaqueAccountId(accountId)}
      AND erased.nsu = ${Prisma.raw(of)}.nsu))`;

type FinalRow = Omit<FinalMatch, 'declared'> & { ruleId: string | null; version: number | null };

/** Matches that recomputation keeps. */
async function listFinalMatches(
  db: Reader,
  accountId: number,
  nsus: SelectedLines,
): Promise<FinalMatch[]> {
  if (isNone(nsus)) return [];
  const rows = await db.$queryRaw<FinalRow[]>`
    SELECT m.nsu, m.expected_payment_id, m.amount_cents, m.rule,
           m.owed_cents, m.evidence ? 'differenceCents' AS "isTolerated",
           m.rule_id, m.rule_version AS version, m.evidence
    FROM ${selectedLines('match', 'm', accountId, nsus, isLiveByRule)}
    WHERE ${isKept(accountId, 'm')}`;
  return rows.map(({ ruleId, version, ...row }) => ({
    ...row,
    declared: ruleId === null || version === null ? null : { ruleId, version },
  }));
}

/** Classifications by rules that recomputation keeps. */
async function listFinalClassifications(
  db: Reader,
  accountId: number,
  nsus: SelectedLines,
): Promise<FinalClassification[]> {
  if (isNone(nsus)) return [];
  return db.$queryRaw`
    SELECT c.nsu, c.category, c.reason, c.evidence, c.rule_id, c.rule_version AS version
    FROM ${selectedLines('classification', 'c', accountId, nsus, Prisma.sql`AND rule = 'declared'`)}
    WHERE ${isKept(accountId, 'c')}`;
}

/** Decisions about these breaks. */
async function listBreakDecisions(
  db: Reader,
  accountId: number,
  breakIds: readonly string[] | 'all',
): Promise<BreakDecision[]> {
  if (breakIds.length === 0) return [];
  const breaks =
    breakIds === 'all'
      ? Prisma.sql`(SELECT * FROM break WHERE account_id = ${opaqueAccountId(accountId)}) b`
      : Prisma.sql`unnest(${opaqueArray(breakIds, 'uuid')}) AS wanted(id)
          CROSS JOIN LATERAL (
            SELECT * FROM break
            WHERE account_id = ${opaqueAccountId(accountId)} AND id = wanted.id OFFSET 0
          ) b`;
  return db.$queryRaw`
    SELECT b.id AS "breakId", b.kind, b.subject, b.nsu, b.expected_payment_id, e.action, e.actor,
           e.reason,
           COALESCE(e.detail ->> 'cents', e.detail ->> 'ofCents')::bigint AS cents,
           r.expected_payment_id AS "refundPaymentId"
    FROM ${breaks}
    CROSS JOIN LATERAL (
      SELECT * FROM break_history_entry
      WHERE account_id = ${opaqueAccountId(accountId)} AND break_id = b.id OFFSET 0
    ) e
    LEFT JOIN operation_identity i ON i.account_id = ${opaqueAccountId(accountId)}
      AND i.kind = 'refund_pix' AND i.identity = 'key ' || (e.detail ->> 'key')
    LEFT JOIN refund r ON r.account_id = i.account_id AND r.id = i.operation_id
    WHERE e.actor IS NOT NULL
      AND e.action IN ('accept', 'refund', 'reopen', 'link', 'unlink', 'resend')
    ORDER BY e.sequence`;
}
