// SQL of rules and their versions, and of what competes by them: open expected payments and
// unexplained lines that share a document or a word. What was decided before is read, because only
// unexplained lines and open payments compete.
import { addDays } from '../../brazil/calendar.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
import {
  opaqueAccountId,
  type Db,
  type Tx,
  type SqlTx,
  type Reader,
} from '../../platform/postgres/database.service.js';
import {
  isProvisional,
  provisionalNsus,
} from '../../statement/expected-payments/provisional.queries.js';
import { noteReferenceKinds } from '../../statement/expected-payments/references.js';
import { Prisma, type RuleVersion } from '../../generated/service/client.js';
import { bankTimeNow } from '../../statement/lines/bank-clock.queries.js';
import type { ClosedPeriod } from '../../statement/lines/closing.js';
import { lineBreakKinds, ruleBreakKinds } from '../decide/break-kinds.js';
import type { DeclaredRule, Facts, StatementLineFacts } from '../decide/model.js';
import {
  findPossibleIds,
  reachOf,
  ruleCandidateKind,
  type AppliedRule,
  type Reach,
} from '../decide/rule.js';
import { bankFees, readStored } from './stored-rule.js';

type ActiveRuleRow = Pick<
  RuleVersion,
  'ruleId' | 'version' | 'priority' | 'definition' | 'activatedAtBankTime'
>;

/** The active versions of the account's rules, with their activation in bank time. */
export async function listActiveRules(db: Reader, accountId: number): Promise<AppliedRule[]> {
  const rows = await db.$queryRaw<ActiveRuleRow[]>`
    SELECT rule_id, version, priority, definition, activated_at_bank_time FROM rule_version
    WHERE account_id = ${opaqueAccountId(accountId)} AND state = 'active'`;
  return rows.map(({ activatedAtBankTime, ...stored }) => ({
    ...readStored(stored),
    activatedAt: activatedAtBankTime,
  }));
}

/** Adds the default rule of a new account, unless one with its id or name exists. */
export async function insertDefaultRule(tx: SqlTx, accountId: number): Promise<void> {
  const { id, name, priority, definition } = bankFees(accountId);
  await tx.$executeRaw`
    WITH made AS (
      INSERT INTO rule (account_id, id, name, origin)
      VALUES (${accountId}, ${id}::uuid, ${name}, 'default')
      ON CONFLICT DO NOTHING RETURNING id
    )
    INSERT INTO rule_version
      (account_id, rule_id, version, state, priority, action, definition, activated_at,
       activated_at_bank_time)
    SELECT ${accountId}, id, 1, 'active', ${priority}, 'classify',
           ${JSON.stringify(definition)}::jsonb, clock_timestamp(), ${bankTimeNow(accountId)}
    FROM made`;
}

/** How many versions of a rule are shown. */
const versionsShown = 50;

/**
 * The versions of these rules that are shown, in the order of their numbers: the active one of each
 * rule, then the newest drafts, then the newest retired ones.
 */
export async function listVersionsShown(
  db: Db,
  accountId: number,
  ruleIds: string[],
  which: 'with retired' | 'without retired',
): Promise<RuleVersion[]> {
  return db.$queryRaw<RuleVersion[]>`
    SELECT shown.* FROM unnest(${ruleIds}::uuid[]) AS of_rule(id)
    CROSS JOIN LATERAL (
      SELECT * FROM rule_version
      WHERE account_id = ${opaqueAccountId(accountId)} AND rule_id = of_rule.id
        AND (${which === 'with retired'}::boolean OR state <> 'retired')
      ORDER BY state = 'active' DESC, state, version DESC LIMIT ${versionsShown}
    ) shown
    ORDER BY shown.version`;
}

/** A version that is not retired, with its rule and its newest trial. */
export type OrderedVersionRow = Pick<
  RuleVersion,
  'ruleId' | 'version' | 'state' | 'priority' | 'createdAt' | 'activatedAt'
> & {
  definition: Prisma.JsonValue;
  name: string;
  origin: string;
  trialId: string | null;
  triedAt: Date | null;
  trialResult: Prisma.JsonValue;
};

/** A quota bounds them. */
export async function listVersionsInOrder(db: Db, accountId: number): Promise<OrderedVersionRow[]> {
  return db.$queryRaw<OrderedVersionRow[]>`
    SELECT v.rule_id, v.version, v.state, v.priority, v.created_at, v.activated_at, v.definition,
           r.name, r.origin, tried.id AS "trialId", tried.created_at AS "triedAt",
           tried.result AS "trialResult"
    FROM rule_version v
    JOIN rule r ON r.account_id = v.account_id AND r.id = v.rule_id
    LEFT JOIN LATERAL (
      SELECT id, created_at, result FROM rule_trial
      WHERE account_id = v.account_id AND rule_id = v.rule_id AND version = v.version
      ORDER BY created_at DESC, id DESC LIMIT 1
    ) tried ON true
    WHERE v.account_id = ${opaqueAccountId(accountId)} AND v.state <> 'retired'
    ORDER BY v.state = 'draft', v.priority, v.rule_id, v.version`;
}

export type VersionState = Pick<RuleVersion, 'version' | 'state'>;

/** The versions of a rule, locked for the transaction by the rule's row. */
export async function lockRuleVersions(
  tx: Tx,
  accountId: number,
  ruleId: string,
): Promise<VersionState[]> {
  await tx.$queryRaw`
    SELECT id FROM rule WHERE account_id = ${accountId} AND id = ${ruleId}::uuid
    FOR NO KEY UPDATE`;
  return tx.ruleVersion.findMany({ where: { accountId, ruleId } });
}

/**
 * Whether the version was tried since the account's last activation: its effect depends on
 * other rules.
 */
export async function isRuleVersionTried(
  tx: Tx,
  accountId: number,
  key: DeclaredRule,
): Promise<boolean> {
  const where = { accountId };
  const last = await tx.ruleVersion.aggregate({ where, _max: { activatedAt: true } });
  const createdAt = { gt: last._max.activatedAt ?? undefined };
  return (await tx.ruleTrial.count({ where: { accountId, ...key, createdAt } })) > 0;
}

/**
 * Whether it is the newest trial of the version, and no version of the account was activated or
 * retired after it.
 */
export async function isTrialCurrent(
  tx: Tx,
  accountId: number,
  key: DeclaredRule,
  trialId: string,
): Promise<boolean> {
  const orderBy = [{ createdAt: 'desc' as const }, { id: 'desc' as const }];
  const newest = await tx.ruleTrial.findFirst({
    ...{ where: { accountId, ...key }, orderBy },
    select: { id: true, createdAt: true },
  });
  if (newest?.id !== trialId) return false;
  const since = { gte: newest.createdAt };
  const OR = [{ activatedAt: since }, { retiredAt: since }];
  return (await tx.ruleVersion.count({ where: { accountId, OR } })) === 0;
}

export async function setRuleState(
  tx: Tx,
  accountId: number,
  { ruleId, version }: DeclaredRule,
  state: 'active' | 'retired',
): Promise<void> {
  const times =
    state === 'active'
      ? Prisma.sql`activated_at = clock_timestamp(),
          activated_at_bank_time = ${bankTimeNow(accountId)}, retired_at = NULL`
      : Prisma.sql`retired_at = clock_timestamp()`;
  await tx.$executeRaw`
    UPDATE rule_version SET state = ${state}::rule_version_state, ${times}
    WHERE account_id = ${accountId} AND rule_id = ${ruleId}::uuid AND version = ${version}`;
}

/** For each document, only the newest expected payments are considered. */
const maxPerDocument = 5_000;

interface GroupKeys {
  documents: readonly string[];
  /** Ids that notes may contain: of payments, to find lines; of lines, to find payments. */
  words: readonly string[];
  /** Lines that may settle all sales of some due days, less a fee. */
  sales: readonly DueSales[];
}

/** Expected payments of a document that are due from a day to a day. */
interface DueSales {
  document: string;
  from: string;
  to: string;
}

const isEmpty = ({ documents, words, sales }: GroupKeys) =>
  documents.length + words.length + sales.length === 0;

/** The documents and words that were looked up: each is looked up once. */
export class SeenKeys {
  private readonly seen = new Set<string>();

  takeNew(of: 'lines' | 'payments', { documents, words, sales }: GroupKeys): GroupKeys {
    const take = <Value>(kind: string, values: readonly Value[]) =>
      values.filter((value) => {
        const key = `${of} ${kind} ${JSON.stringify(value)}`;
        const isNew = !this.seen.has(key);
        this.seen.add(key);
        return isNew;
      });
    return {
      documents: take('document', documents),
      words: take('word', words),
      sales: take('sales', sales),
    };
  }
}

/** What shares a document or a word with the lines and open payments of the component. */
export async function findCompeting(
  db: Reader,
  accountId: number,
  facts: Pick<Facts, 'lines' | 'expectedPayments' | 'rules'>,
  seen: SeenKeys,
): Promise<{ nsus: bigint[]; expectedPaymentIds: string[] }> {
  const reach = reachOf(facts.rules);
  const ofLines = seen.takeNew('lines', keysOfLines(facts, reach));
  const ofPayments = seen.takeNew('payments', keysOfPayments(facts, reach));
  return {
    expectedPaymentIds: await listGroupPayments(db, accountId, ofLines),
    nsus: await listGroupLines(db, accountId, ofPayments),
  };
}

/** Lines that leave a group count too: others may have waited for their outcome. */
function keysOfLines({ lines }: Pick<Facts, 'lines'>, reach: Reach): GroupKeys {
  const covered = lines.filter((line) => reach.covers(line));
  return {
    documents: reach.byDocument ? covered.flatMap((line) => line.counterpartyDocument ?? []) : [],
    words: reach.byNotes ? covered.flatMap(({ notes }) => findPossibleIds(notes)) : [],
    sales: covered.flatMap((line) => dueSalesOf(line, reach)),
  };
}

function dueSalesOf(line: StatementLineFacts, { settlingSales }: Reach): DueSales[] {
  const { counterpartyDocument: document, occurredAt } = line;
  if (document === null) return [];
  const day = saoPauloDay(occurredAt);
  return settlingSales
    .filter(({ covers }) => covers(line))
    .map(({ window: { daysBefore, daysAfter } }) => {
      return { document, from: addDays(day, -daysAfter), to: addDays(day, daysBefore) };
    });
}

/** A payment that a line pays now competes too: others may have waited for its outcome. */
function keysOfPayments(
  { expectedPayments }: Pick<Facts, 'expectedPayments'>,
  reach: Reach,
): GroupKeys {
  return {
    documents: reach.byDocument
      ? expectedPayments.flatMap((one) => one.counterpartyDocument ?? [])
      : [],
    words: reach.byNotes
      ? expectedPayments.flatMap(({ references }) =>
          references
            .filter(({ kind }) => noteReferenceKinds.includes(kind))
            .map(({ value }) => value),
        )
      : [],
    sales: [],
  };
}

const newestOfDocuments = (accountId: number, documents: readonly string[]) => Prisma.sql`
  SELECT newest.id FROM unnest(${[...documents]}::text[]) AS of_document(document)
  CROSS JOIN LATERAL (
    SELECT id FROM expected_payment
    WHERE account_id = ${opaqueAccountId(accountId)}
      AND counterparty_document = of_document.document AND withdrawn_at IS NULL
    ORDER BY created_at DESC, id DESC LIMIT ${maxPerDocument}
  ) newest`;

/** Of an acquirer, all sales of these days: what is left out would make a group seem complete. */
const dueSales = (accountId: number, sales: readonly DueSales[]) => Prisma.sql`
  UNION
  SELECT sale.id FROM unnest(${sales.map(({ document }) => document)}::text[],
    ${sales.map(({ from }) => from)}::text[], ${sales.map(({ to }) => to)}::text[]
  ) AS due(document, first_day, last_day)
  CROSS JOIN LATERAL (
    SELECT id FROM expected_payment
    WHERE account_id = ${opaqueAccountId(accountId)} AND due_date IS NOT NULL
      AND due_date BETWEEN due.first_day AND due.last_day
      AND counterparty_document = due.document AND withdrawn_at IS NULL OFFSET 0
  ) sale
  UNION
  -- Those that were due then when the line was paid.
  SELECT sale.id FROM unnest(${sales.map(({ document }) => document)}::text[],
    ${sales.map(({ from }) => from)}::text[], ${sales.map(({ to }) => to)}::text[]
  ) AS due(document, first_day, last_day)
  CROSS JOIN LATERAL (
    SELECT expected_payment_id FROM expected_payment_due_date
    WHERE account_id = ${opaqueAccountId(accountId)}
      AND due_date BETWEEN due.first_day AND due.last_day OFFSET 0
  ) moved
  CROSS JOIN LATERAL (
    SELECT id FROM expected_payment
    WHERE account_id = ${opaqueAccountId(accountId)} AND id = moved.expected_payment_id
      AND counterparty_document = due.document AND withdrawn_at IS NULL OFFSET 0
  ) sale`;

/** Open expected payments with one of these documents or references, or due on these days. */
async function listGroupPayments(
  db: Reader,
  accountId: number,
  keys: GroupKeys,
): Promise<string[]> {
  if (isEmpty(keys)) return [];
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT DISTINCT e.id FROM (
      ${newestOfDocuments(accountId, keys.documents)}
      UNION
      SELECT r.expected_payment_id FROM unnest(${[...keys.words]}::text[]) AS reference(value)
      CROSS JOIN LATERAL (
        SELECT expected_payment_id FROM expected_payment_reference
        WHERE account_id = ${opaqueAccountId(accountId)}
          AND kind = ANY (${noteReferenceKinds}::text[]) AND value = reference.value
      ) r
      ${keys.sales.length === 0 ? Prisma.empty : dueSales(accountId, keys.sales)}
    ) wanted
    CROSS JOIN LATERAL (
      SELECT * FROM expected_payment
      WHERE account_id = ${opaqueAccountId(accountId)} AND id = wanted.id OFFSET 0
    ) e
    LEFT JOIN LATERAL (
      SELECT paid_cents, settlement FROM expected_payment_total
      WHERE account_id = ${opaqueAccountId(accountId)} AND expected_payment_id = e.id OFFSET 0
    ) total ON true
    WHERE e.withdrawn_at IS NULL AND (e.is_multi_use OR e.amount_cents IS NULL
      OR e.terms IS NOT NULL OR COALESCE(total.paid_cents, 0) < e.amount_cents
      -- Instalments within the tolerance may sum to more than what is paid of the amount.
      OR total.settlement = 'partially_settled' OR EXISTS (
        SELECT FROM (
          SELECT rule, unlinked_at, final_at FROM match
          WHERE account_id = ${opaqueAccountId(accountId)} AND expected_payment_id = e.id OFFSET 0
        ) m
        WHERE m.unlinked_at IS NULL AND ${isProvisional('m')}))`;
  return rows.map(({ id }) => id);
}

/** Whether `b` is the open break of a line that rules may decide. */
export const isUndecidedBreak = Prisma.sql`b.state = 'open' AND b.nsu IS NOT NULL AND (
  b.kind = ANY (${ruleBreakKinds('always')}::text[])
  OR b.kind = ANY (${ruleBreakKinds('among their candidates')}::text[])
    AND b.evidence -> 'candidates' -> 0 ->> 'referenceKind' = ${ruleCandidateKind})`;

/** Lines without an explanation, or with one by a rule, that share a document or contain a word. */
async function listGroupLines(db: Reader, accountId: number, keys: GroupKeys): Promise<bigint[]> {
  if (isEmpty(keys)) return [];
  const { documents, words } = keys;
  const byDocument = Prisma.sql`
    SELECT line.nsu FROM unnest(${[...documents]}::text[]) AS of_document(document)
    CROSS JOIN LATERAL (
      SELECT nsu FROM statement_line
      WHERE account_id = ${opaqueAccountId(accountId)}
        AND counterparty_document = of_document.document
    ) line`;
  const byWord = Prisma.sql`
    SELECT t.nsu FROM (${undecidedNsus(accountId, -1n)}) undecided
    JOIN statement_line t ON t.account_id = ${opaqueAccountId(accountId)}
      AND t.nsu = undecided.nsu
    WHERE EXISTS (
      SELECT FROM unnest(${[...words]}::text[]) AS wanted(value)
      WHERE strpos(t.notes, wanted.value) > 0)`;
  const rows = await db.$queryRaw<{ nsu: bigint }[]>`
    SELECT found.nsu FROM (
      ${byDocument} UNION ${words.length === 0 ? Prisma.sql`SELECT NULL::bigint` : byWord}
    ) found
    WHERE found.nsu IS NOT NULL AND ${isUndecided(accountId)}`;
  return rows.map(({ nsu }) => nsu);
}

/** Whether rules may decide a line (found): it waits, is in a break or decided provisionally. */
const isUndecided = (accountId: number) => Prisma.sql`(
  EXISTS (
    SELECT FROM line_outcome
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = found.nsu AND state = 'pending')
  OR EXISTS (
    SELECT FROM (
      SELECT * FROM break
      WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = found.nsu OFFSET 0
    ) b WHERE ${isUndecidedBreak})
  OR EXISTS (${provisionalNsus(accountId, Prisma.sql`nsu = found.nsu`)}))`;

/** The lines after an nsu that rules may decide again. */
export const undecidedNsus = (accountId: number, after: bigint) => Prisma.sql`
  SELECT b.nsu FROM break b
  WHERE b.account_id = ${opaqueAccountId(accountId)}
    AND b.kind = ANY (${[...lineBreakKinds]}::text[]) AND ${isUndecidedBreak} AND b.nsu > ${after}
  UNION
  SELECT nsu FROM line_outcome
  WHERE account_id = ${opaqueAccountId(accountId)} AND state = 'pending' AND nsu > ${after}
  UNION ${provisionalNsus(accountId, Prisma.sql`nsu > ${after}`)}`;

interface Cursor {
  after: bigint;
  limit: number;
}

/** One page of the lines that rules may decide again, in the order of nsu. */
export async function pageUndecidedLines(
  db: Reader,
  accountId: number,
  { after, limit }: Cursor,
): Promise<bigint[]> {
  const rows = await db.$queryRaw<{ nsu: bigint }[]>`
    SELECT nsu FROM (${undecidedNsus(accountId, after)}) undecided ORDER BY nsu LIMIT ${limit}`;
  return rows.map(({ nsu }) => nsu);
}

/** One page of the lines in the closed period whose decision by a rule is provisional. */
export async function pageProvisionalLines(
  db: Reader,
  accountId: number,
  { closedFrom, closedUntil }: ClosedPeriod,
  { after, limit }: Cursor,
): Promise<bigint[]> {
  const rows = await db.$queryRaw<{ nsu: bigint }[]>`
    SELECT t.nsu FROM (${provisionalNsus(accountId, Prisma.sql`nsu > ${after}`)}) provisional
    CROSS JOIN LATERAL (
      SELECT nsu, occurred_at FROM statement_line
      WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = provisional.nsu OFFSET 0
    ) t
    WHERE t.occurred_at >= ${closedFrom} AND t.occurred_at < ${closedUntil}
    ORDER BY provisional.nsu LIMIT ${limit}`;
  return rows.map(({ nsu }) => nsu);
}
