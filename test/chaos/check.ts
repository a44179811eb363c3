// The checker: holds what business systems were told, what the service's book says and what the bank's book says
// against each other. It looks at answers only, never into the service.
import type { Asked } from './client.js';
import { contradictions } from './client.js';
import { ourAccount, type BankMovement, type Books, type ReportedOperation } from './books.js';
import { canaries, type Intent } from './chaos-request.js';
import type { Round } from './round.js';
import { checkPromises, checkThings } from './things.js';

export interface Evidence {
  round: Round;
  settings: Record<string, string>;
  asked: Asked[];
  books: Books;
  /** Charges and QR codes that the bank knows, by correlationId. */
  issued: ReadonlySet<string>;
  printed: string;
  /** What holds secrets and should not. */
  leaks: string[];
}

const openingCents = 100_000_00;
const finalStates = new Set(['succeeded', 'rejected', 'not_executed', 'needs_operator']);
/** Reasons for which a request of the soak may be refused: some refunds are meant to be too large. */
const rightRefusals: Partial<Record<Intent['kind'], string[]>> = {
  refund: ['refund_exceeds_original', 'possible_duplicate'],
};

export const cents = (amount: number) => Math.round(amount * 100);
const signed = (amount: number, isCredit: boolean) => (isCredit ? cents(amount) : -cents(amount));

export function check(evidence: Evidence): string[] {
  return [
    ...evidence.asked.flatMap((asked) => checkIntent(asked, evidence)),
    ...evidence.asked.flatMap(contradictions),
    ...checkOperations(evidence),
    ...checkStrayMovements(evidence),
    ...checkBalance(evidence),
    ...checkExplanations(evidence),
    ...checkBreaks(evidence),
    ...checkThings(evidence.books),
    ...checkPromises(evidence.asked, evidence.books),
    ...checkCharges(evidence),
    ...checkRefundSums(evidence),
    ...checkOutput(evidence),
    ...evidence.leaks,
  ];
}

/** The bank's debits that are of this intent: by its operation's key, or by an id that is its own. */
export function movementsOf(
  { movements }: Intent,
  operation: ReportedOperation | undefined,
  ledger: BankMovement[],
): BankMovement[] {
  const isOwn = (line: BankMovement) =>
    (operation !== undefined && line.idempotencyKey === operation.id) ||
    movements.some(
      ({ cents: amount, endToEndId, externalId, originalEndToEndId }) =>
        (endToEndId !== undefined && line.endToEndId === endToEndId) ||
        (externalId !== undefined && line.externalId === externalId) ||
        (originalEndToEndId !== undefined &&
          line.originalEndToEndId === originalEndToEndId &&
          cents(line.amount) === amount),
    );
  return ledger.filter((line) => !line.isCredit && isOwn(line));
}

/** One of which nothing ever left stands for nothing: its key is free for another. */
export function operationsOf({ key }: Intent, { operations }: Books): ReportedOperation[] {
  const all = operations.filter(({ idempotencyKey }) => idempotencyKey === key);
  const sent = all.filter(({ reason }) => reason !== 'never_sent');
  return sent.length > 0 ? sent : all.slice(0, 1);
}

function checkIntent(
  { intent, told }: Asked,
  { books, issued, round, settings }: Evidence,
): string[] {
  const [operation, ...others] = operationsOf(intent, books);
  const moved = movementsOf(intent, operation, books.ledger.movements);
  const findings: string[] = [];
  const find = (what: string) => findings.push(`${intent.kind} ${intent.key}: ${what}`);
  if (others.length > 0) find(`${others.length + 1} operations for one key`);

  const hasSucceeded = operation?.state === 'succeeded';
  const isLeft = operation !== undefined && isLeftToPerson(operation, settings);
  const wanted = hasSucceeded || (isLeft && intent.kind === 'batch') ? intent.movements.length : 0;
  // A bank that does a part of a batch does its first half, and no item twice.
  const isPartial = intent.kind === 'batch' && ['partial-batch', 'all'].includes(round.fault);
  const fewest = isLeft ? 0 : isPartial ? Math.floor(wanted / 2) : wanted;
  if (moved.length > wanted || moved.length < fewest)
    find(`${moved.length} movements, not ${wanted}; it is ${operation?.state ?? 'not recorded'}`);
  const sum = moved.reduce((total, { amount }) => total + cents(amount), 0);
  const right = intent.movements.reduce((total, movement) => total + movement.cents, 0);
  if (hasSucceeded && moved.length === wanted && wanted > 0 && sum !== right)
    find(`${sum} cents moved, not ${right}`);
  if (intent.correlationId && !isLeft && issued.has(intent.correlationId) !== hasSucceeded)
    find(`${hasSucceeded ? 'not ' : ''}issued at the bank; it is ${operation?.state ?? 'absent'}`);

  // An answer is waited for longer than a fault lasts: a client that asks again and again gets one.
  // A bank that is away is left alone for longer: what never left meanwhile may be asked for again.
  const isKeptFromBank = round.outage && operation?.reason === 'never_sent';
  if (!isKeptFromBank && told.every(({ outcome }) => outcome === 'nothing'))
    find(
      `was never answered: ${[...new Set(told.map(({ status, reason }) => `${status} ${reason}`))].join(', ')}`,
    );
  const last = told.at(-1);
  if (told.some(({ outcome }) => outcome === 'accepted') && !hasSucceeded)
    find(`told accepted; it is ${operation?.state ?? 'not recorded'}`);
  if (last?.outcome === 'refused' && hasSucceeded)
    find(`told refused at last (${last.status} ${last.reason}), and it is done`);
  for (const { outcome, status, reason } of told)
    if (outcome === 'refused' && !rightRefusals[intent.kind]?.includes(reason ?? ''))
      find(`refused: ${status} ${reason}`);
  return findings;
}

function checkOperations({ books, settings }: Evidence): string[] {
  return books.operations.flatMap((operation) => {
    const { id, kind, state, reason, attempts } = operation;
    if (isLeftToPerson(operation, settings)) return [];
    if (!finalStates.has(state)) return [`${kind} ${id} is still ${state} (${reason})`];
    if (attempts > 1 && /customer/.test(kind)) return [`${kind} ${id} was sent ${attempts} times`];
    if (state === 'needs_operator') return [`${kind} ${id} needs the operator (${reason})`];
    return [];
  });
}

/**
 * Onboarding is sent once and shows nowhere. What issues a charge shows on no statement, so that a bank which is safe
 * to be asked neither again nor by id leaves its outcome to a person, who is asked later than a round lasts.
 */
export function isLeftToPerson(
  { kind, state, reason }: Pick<ReportedOperation, 'kind' | 'state' | 'reason'>,
  settings: Record<string, string>,
): boolean {
  if (/customer/.test(kind)) return state === 'needs_operator';
  const cannotBeAsked =
    settings.BANK_REPEAT_SAFE === 'false' && settings.BANK_STATUS_BY_ID === 'false';
  // What a bank may have taken for a later hour is not absent before the next business day has ended.
  // Said to be done, unreadably: that some items never show proves nothing against it.
  const isPartlyReported = /batch/.test(kind) && reason === 'unreadable_response';
  return (
    cannotBeAsked &&
    (/charge|qr|pay_bill/.test(kind) || isPartlyReported) &&
    ['unknown', 'needs_operator'].includes(state)
  );
}

/** Each debit bears the key of one operation, and no two operations' movements are told by another key. */
function checkStrayMovements({ asked, books }: Evidence): string[] {
  const known = new Set(books.operations.map(({ id }) => id));
  const told = new Set(
    asked.flatMap(({ intent }) =>
      movementsOf(intent, operationsOf(intent, books)[0], books.ledger.movements).map(
        ({ nsu }) => nsu,
      ),
    ),
  );
  return books.ledger.movements
    .filter(({ isCredit }) => !isCredit)
    .flatMap(({ nsu, type, idempotencyKey }) => [
      ...(told.has(nsu) ? [] : [`nsu ${nsu} (${type}): nobody wanted it`]),
      ...(idempotencyKey !== null && !known.has(idempotencyKey)
        ? [`nsu ${nsu} (${type}): sent under a key that is no operation's`]
        : []),
    ]);
}

function checkBalance({ books }: Evidence): string[] {
  const { ledger, summary, transactions } = books;
  const account = ledger.accounts.find(({ number }) => number === ourAccount);
  const atBank = cents(account?.balance ?? 0);
  const booked = transactions.reduce(
    (sum, { amount, type }) => sum + signed(amount, type.isCredit),
    openingCents,
  );
  return [
    ...(ledger.audit.clean ? [] : [`the bank's ledger: ${ledger.audit.problems.join('; ')}`]),
    ...(booked === atBank ? [] : [`the book comes to ${booked} cents, the bank's to ${atBank}`]),
    ...(summary.statement.complete ? [] : ['the statement is not complete']),
    ...(cents(summary.statement.balance ?? 0) === atBank
      ? []
      : [`the summary's balance is ${summary.statement.balance}`]),
  ];
}

/** The mirror has the bank's lines and no other, each explained; what was asked for is matched. */
function checkExplanations({ asked, books }: Evidence): string[] {
  const { ledger, transactions, summary } = books;
  const mirrored = new Map(transactions.map((line) => [line.nsu, line]));
  const findings: string[] = [];
  if (mirrored.size !== transactions.length) findings.push('a line stands in the book twice');
  if (transactions.length !== ledger.movements.length)
    findings.push(`${transactions.length} lines of ${ledger.movements.length} are mirrored`);
  if (summary.transactions.pending > 0)
    findings.push(`${summary.transactions.pending} lines are pending`);
  for (const { nsu, amount, isCredit, type } of ledger.movements) {
    const line = mirrored.get(nsu);
    if (!line) findings.push(`nsu ${nsu} (${type}) is not in the book`);
    else if (signed(line.amount, line.type.isCredit) !== signed(amount, isCredit))
      findings.push(`nsu ${nsu} (${type}) has another amount in the book`);
  }
  for (const { intent } of asked) {
    const [operation] = operationsOf(intent, books);
    for (const { nsu, type } of movementsOf(intent, operation, ledger.movements)) {
      const state = mirrored.get(nsu)?.explanation.state;
      if (state !== 'matched') findings.push(`nsu ${nsu} (${type}) of ${intent.key} is ${state}`);
    }
  }
  return findings;
}

/** Open breaks are those that the faults make certain, and no others. */
function checkBreaks({ books, settings }: Evidence): string[] {
  const lines = new Map(books.ledger.movements.map((line) => [line.nsu, line]));
  const unavoidable = books.operations.filter(
    (operation) => operation.state === 'needs_operator' && isLeftToPerson(operation, settings),
  );
  const open = books.breaks.filter(({ state }) => state === 'open');
  const outcomes = open.filter(({ kind }) => kind === 'unknown_outcome');
  const others = open.filter(({ kind, nsu }) => {
    if (kind === 'unknown_outcome') return false;
    // `page-shift` makes a Pix of one cent come in, from nobody.
    const line = nsu === null ? undefined : lines.get(nsu);
    return !(kind === 'unexpected' && line?.isCredit && cents(line.amount) === 1);
  });
  return [
    ...others.map(({ id, kind, nsu }) => {
      const type = nsu === null ? '' : ` (${lines.get(nsu)?.type})`;
      return `break ${id}: ${kind}, nsu ${nsu}${type}`;
    }),
    ...(outcomes.length === unavoidable.length
      ? []
      : [`${outcomes.length} unknown outcomes are breaks, not ${unavoidable.length}`]),
  ];
}

/** What was paid of a charge stands with it: each line of the bank's that names it, and no other. */
function checkCharges({ asked, books }: Evidence): string[] {
  return asked.flatMap(({ intent: { correlationId } }) => {
    if (correlationId === null) return [];
    const paid = books.ledger.movements
      .filter((line) => line.isCredit && line.correlationId === correlationId)
      .map(({ nsu }) => nsu);
    const charge = books.charges.find((one) => one.correlationId === correlationId);
    const told = (charge?.payments ?? []).map(({ nsu }) => nsu);
    return [...told].sort().join() === [...paid].sort().join()
      ? []
      : [`charge ${correlationId} is told as paid by [${told.join()}], and is by [${paid.join()}]`];
  });
}

/** What goes back of a Pix, less the refunds that failed and came back themselves, is never more than it was. */
function checkRefundSums({ books }: Evidence): string[] {
  const { movements } = books.ledger;
  return movements
    .filter(({ type }) => type === 'CREDIT_PIX')
    .flatMap(({ endToEndId, amount, nsu }) => {
      const refunds = movements.filter(
        ({ originalEndToEndId, type }) =>
          originalEndToEndId === endToEndId && type === 'DEBIT_PIX_REFUND',
      );
      const ids = new Set(refunds.map((refund) => refund.endToEndId));
      const back = movements.filter(
        ({ type, endToEndId: id, originalEndToEndId: of }) =>
          type === 'CREDIT_PIX_REFUND_REVERSAL' && (ids.has(id) || ids.has(of)),
      );
      const total = (lines: BankMovement[]) =>
        lines.reduce((sum, line) => sum + cents(line.amount), 0);
      const refunded = total(refunds) - total(back);
      return refunded > cents(amount)
        ? [`nsu ${nsu}: ${refunded} cents of ${cents(amount)} went back`]
        : [];
    });
}

/** Nothing secret or personal of an onboarding is printed. */
function checkOutput({ printed }: Evidence): string[] {
  return canaries
    .filter((canary) => new RegExp(patternOf(canary)).test(printed))
    .map((_, place) => `the log holds a canary of an onboarding (${place})`);
}

/** A canary that stands for itself, not in the middle of an id or of a fraction; for PostgreSQL and for us. */
export function patternOf(canary: string): string {
  return `(?<![0-9a-f.-])${canary}(?![0-9a-f-])`;
}
