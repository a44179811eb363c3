// The checker of a round. It compares the responses that business systems got, what the service
// reports, and the bank's ledger.
import { canaries, type ChaosRequest } from './chaos-request.js';
import { checkAsyncOutcomes, checkSentPayments } from './check-payments.js';
import { checkRepeatedResponses, type SentRequest } from './client.js';
import {
  chaosAccountNumber,
  type BankMovement,
  type FinalState,
  type ListedOperation,
} from './final-state.js';
import type { Round } from './round.js';

export interface Evidence {
  round: Round;
  settings: Record<string, string>;
  sent: SentRequest[];
  state: FinalState;
  /** Charges and QR codes that exist at the bank, by correlationId. */
  issued: ReadonlySet<string>;
  printed: string;
  /** Findings about tables that contain a secret. */
  leaks: string[];
}

const openingCents = 100_000_00;
const finalStates = new Set(['succeeded', 'rejected', 'not_executed', 'needs_operator']);
/** Allowed reasons of a refusal: some refunds exceed what is left of the Pix on purpose. */
const allowedRefusals: Partial<Record<ChaosRequest['kind'], string[]>> = {
  refund: ['refund_exceeds_original', 'possible_duplicate'],
};

const cents = (amount: number) => Math.round(amount * 100);
const signed = (amount: number, isCredit: boolean) => (isCredit ? cents(amount) : -cents(amount));

export function checkRound(evidence: Evidence): string[] {
  const requested = withoutSecondDebits(evidence);
  return [
    ...evidence.sent.flatMap((sent) => checkRequest(sent, requested)),
    ...evidence.sent.flatMap(checkRepeatedResponses),
    ...checkOperations(evidence),
    ...checkDebits(requested),
    ...checkBalance(evidence),
    ...checkExplanations(evidence),
    ...checkMatches(requested),
    ...checkBreaks(evidence),
    ...checkSecondDebits(evidence),
    ...checkSentPayments(requested.state),
    ...checkAsyncOutcomes(evidence.sent, evidence.state),
    ...checkCharges(evidence),
    ...checkRefundSums(evidence),
    ...checkOutput(evidence),
    ...evidence.leaks,
  ];
}

/** The second debits of the fault `debited-twice`: they have the ids of an earlier debit. */
function secondDebitsOf({ ledger }: FinalState): BankMovement[] {
  return ledger.movements.filter(
    ({ isCredit, type, endToEndId, nsu }, _, movements) =>
      !isCredit &&
      type === 'DEBIT_PIX' &&
      movements.some((one) => !one.isCredit && one.endToEndId === endToEndId && one.nsu < nsu),
  );
}

/** What the bank did for the requests, without what it debited again by itself. */
function withoutSecondDebits(evidence: Evidence): Evidence {
  const { state } = evidence;
  const second = new Set(secondDebitsOf(state));
  const movements = state.ledger.movements.filter((line) => !second.has(line));
  return { ...evidence, state: { ...state, ledger: { ...state.ledger, movements } } };
}

/** Each second debit is an open break. */
function checkSecondDebits({ state }: Evidence): string[] {
  const open = new Set(state.breaks.filter((each) => each.state === 'open').map(({ nsu }) => nsu));
  return secondDebitsOf(state)
    .filter(({ nsu }) => !open.has(nsu))
    .map(({ nsu }) => `nsu ${nsu}: the second debit of a Pix is no open break`);
}

/** The bank's debits of a request, found by the key of its operation or by an id of its own. */
function debitsOf(
  { movements }: ChaosRequest,
  operation: ListedOperation | undefined,
  ledger: BankMovement[],
): BankMovement[] {
  const isOfRequest = (line: BankMovement) =>
    (operation !== undefined && line.idempotencyKey === operation.id) ||
    movements.some(
      ({ cents: amount, endToEndId, externalId, originalEndToEndId }) =>
        (endToEndId !== undefined && line.endToEndId === endToEndId) ||
        (externalId !== undefined && line.externalId === externalId) ||
        (originalEndToEndId !== undefined &&
          line.originalEndToEndId === originalEndToEndId &&
          cents(line.amount) === amount),
    );
  return ledger.filter((line) => !line.isCredit && isOfRequest(line));
}

/**
 * The operations of a request's key. One that was never sent does not count beside others, because
 * its key is free for another operation.
 */
export function operationsOf({ key }: ChaosRequest, { operations }: FinalState): ListedOperation[] {
  const all = operations.filter(({ idempotencyKey }) => idempotencyKey === key);
  const sent = all.filter(({ reason }) => reason !== 'never_sent');
  return sent.length > 0 ? sent : all.slice(0, 1);
}

function checkRequest(
  { request, responses }: SentRequest,
  { state, issued, round, settings }: Evidence,
): string[] {
  const [operation, ...others] = operationsOf(request, state);
  const debits = debitsOf(request, operation, state.ledger.movements);
  const operationState = operation?.state ?? 'not recorded';
  const findings: string[] = [];
  const find = (finding: string) => findings.push(`${request.kind} ${request.key}: ${finding}`);
  if (others.length > 0) find(`the key has ${others.length + 1} operations, expected 1`);

  const hasSucceeded = operation?.state === 'succeeded';
  const isLeft = operation !== undefined && isLeftToPerson(operation, settings);
  const expected =
    hasSucceeded || (isLeft && request.kind === 'batch') ? request.movements.length : 0;
  // The fault `partial-batch` executes the first half of a batch, each item once.
  const isPartial = request.kind === 'batch' && ['partial-batch', 'all'].includes(round.fault);
  const fewest = isLeft ? 0 : isPartial ? Math.floor(expected / 2) : expected;
  if (debits.length > expected || debits.length < fewest)
    find(`${debits.length} debits, expected ${expected}; the operation is ${operationState}`);
  const debitedCents = debits.reduce((total, { amount }) => total + cents(amount), 0);
  const expectedCents = request.movements.reduce((total, movement) => total + movement.cents, 0);
  const isFull = debits.length === expected && expected > 0;
  if (hasSucceeded && isFull && debitedCents !== expectedCents)
    find(`${debitedCents} cents were debited, expected ${expectedCents}`);
  if (request.correlationId && !isLeft && issued.has(request.correlationId) !== hasSucceeded) {
    const presence = hasSucceeded ? 'is missing' : 'exists';
    find(`the charge ${presence} at the bank; the operation is ${operationState}`);
  }

  // The client repeats a request for longer than any fault lasts, so it must get a response. During
  // an outage the service leaves the bank alone for longer: a request that was never sent may be
  // repeated later.
  const wasNeverSent = round.outage && operation?.reason === 'never_sent';
  if (!wasNeverSent && responses.every(({ outcome }) => outcome === 'inconclusive')) {
    const reasons = new Set(responses.map(({ status, reason }) => `${status} ${reason}`));
    find(`no conclusive response; the client got: ${[...reasons].join(', ')}`);
  }
  const last = responses.at(-1);
  if (responses.some(({ outcome }) => outcome === 'accepted') && !hasSucceeded)
    find(`the client got a success; the operation is ${operationState}`);
  if (last?.outcome === 'refused' && hasSucceeded)
    find(`the last response refused (${last.status} ${last.reason}); the operation succeeded`);
  for (const { outcome, status, reason } of responses)
    if (outcome === 'refused' && !allowedRefusals[request.kind]?.includes(reason ?? ''))
      find(`was refused: ${status} ${reason}`);
  return findings;
}

function checkOperations({ state, settings }: Evidence): string[] {
  return state.operations.flatMap((operation) => {
    const { id, kind, reason, attempts } = operation;
    const name = `operation ${kind} ${id}`;
    if (isLeftToPerson(operation, settings)) return [];
    if (!finalStates.has(operation.state))
      return [`${name} is still ${operation.state} (${reason})`];
    if (attempts > 1 && /customer/.test(kind)) return [`${name} was sent ${attempts} times`];
    if (operation.state === 'needs_operator') return [`${name} needs an operator (${reason})`];
    return [];
  });
}

/**
 * Whether the outcome of an operation may be left to a person. An onboarding is sent once and
 * appears in no list, so its outcome cannot be recovered. A charge or QR code appears on no
 * statement. Where the bank supports neither repeats nor status requests by id, a person decides
 * these. The service asks that person later than a round lasts, so the state may also be `unknown`.
 */
export function isLeftToPerson(
  { kind, state, reason }: Pick<ListedOperation, 'kind' | 'state' | 'reason'>,
  settings: Record<string, string>,
): boolean {
  if (/customer/.test(kind)) return state === 'needs_operator';
  const supportsNoRecovery =
    settings.BANK_REPEAT_SAFE === 'false' && settings.BANK_STATUS_BY_ID === 'false';
  // The bank may execute a bill payment at a later hour, so it is not absent before the next
  // business day has ended. A batch whose success response was unreadable succeeded: items that
  // never appear on the statement do not show the opposite.
  const isUnreadableBatch = /batch/.test(kind) && reason === 'unreadable_response';
  return (
    supportsNoRecovery &&
    (/charge|qr|pay_bill/.test(kind) || isUnreadableBatch) &&
    ['unknown', 'needs_operator'].includes(state)
  );
}

/** Each debit belongs to a request, and its idempotency key is the id of an operation. */
function checkDebits({ sent, state }: Evidence): string[] {
  const { operations, ledger } = state;
  const operationIds = new Set(operations.map(({ id }) => id));
  const requestedNsus = new Set(
    sent.flatMap(({ request }) =>
      debitsOf(request, operationsOf(request, state)[0], ledger.movements).map(({ nsu }) => nsu),
    ),
  );
  return ledger.movements
    .filter(({ isCredit }) => !isCredit)
    .flatMap(({ nsu, type, idempotencyKey }) => [
      ...(requestedNsus.has(nsu) ? [] : [`nsu ${nsu} (${type}): no request caused this debit`]),
      ...(idempotencyKey !== null && !operationIds.has(idempotencyKey)
        ? [`nsu ${nsu} (${type}): the idempotency key is not the id of an operation`]
        : []),
    ]);
}

function checkBalance({ state }: Evidence): string[] {
  const { ledger, summary, transactions } = state;
  const account = ledger.accounts.find(({ number }) => number === chaosAccountNumber);
  const bankCents = cents(account?.balance ?? 0);
  const syncedCents = transactions.reduce(
    (sum, { amount, type }) => sum + signed(amount, type.isCredit),
    openingCents,
  );
  const { balance, complete } = summary.statement;
  return [
    ...(ledger.audit.clean ? [] : [`the bank's ledger: ${ledger.audit.problems.join('; ')}`]),
    ...(syncedCents === bankCents
      ? []
      : [`the synced lines add up to ${syncedCents} cents, the bank's balance is ${bankCents}`]),
    ...(complete ? [] : ['the statement is not complete']),
    ...(cents(balance ?? 0) === bankCents
      ? []
      : [`the balance in the summary is ${balance}, the bank's balance is ${bankCents / 100}`]),
  ];
}

/** The service has exactly the bank's lines, and each is explained. */
function checkExplanations({ state }: Evidence): string[] {
  const { ledger, transactions, summary } = state;
  const synced = new Map(transactions.map((line) => [line.nsu, line]));
  const findings: string[] = [];
  if (synced.size !== transactions.length) findings.push('the service lists a line twice');
  if (transactions.length !== ledger.movements.length)
    findings.push(`${transactions.length} of ${ledger.movements.length} lines are synced`);
  if (summary.transactions.pending > 0)
    findings.push(`${summary.transactions.pending} lines are still pending`);
  for (const { nsu, amount, isCredit, type } of ledger.movements) {
    const line = synced.get(nsu);
    if (!line) findings.push(`nsu ${nsu} (${type}) is not synced`);
    else if (signed(line.amount, line.type.isCredit) !== signed(amount, isCredit))
      findings.push(`nsu ${nsu} (${type}): the synced amount differs from the bank's`);
  }
  return findings;
}

/** Each requested debit is matched. */
function checkMatches({ sent, state }: Evidence): string[] {
  const { ledger, transactions } = state;
  const synced = new Map(transactions.map((line) => [line.nsu, line]));
  const findings: string[] = [];
  for (const { request } of sent) {
    const [operation] = operationsOf(request, state);
    for (const { nsu, type } of debitsOf(request, operation, ledger.movements)) {
      const explanation = synced.get(nsu)?.explanation.state;
      if (explanation !== 'matched')
        findings.push(`nsu ${nsu} (${type}) of ${request.key} is ${explanation}, not matched`);
    }
  }
  return findings;
}

/** The only open breaks are those that the faults make certain. */
function checkBreaks({ state, settings }: Evidence): string[] {
  const lines = new Map(state.ledger.movements.map((line) => [line.nsu, line]));
  const leftToPerson = state.operations.filter(
    (operation) => operation.state === 'needs_operator' && isLeftToPerson(operation, settings),
  );
  const open = state.breaks.filter((each) => each.state === 'open');
  const second = new Set(secondDebitsOf(state).map(({ endToEndId }) => endToEndId));
  const unknownOutcomes = open.filter(({ kind }) => kind === 'unknown_outcome');
  const others = open.filter(({ kind, nsu }) => {
    if (kind === 'unknown_outcome') return false;
    // The fault `page-shift` adds a received Pix of one cent that is not expected.
    const line = nsu === null ? undefined : lines.get(nsu);
    // Which debit of a Pix that was debited twice a reversal is of, a person decides.
    if (line?.endToEndId && second.has(line.endToEndId)) return false;
    return !(kind === 'unexpected' && line?.isCredit && cents(line.amount) === 1);
  });
  return [
    ...others.map(({ id, kind, nsu }) => {
      const type = nsu === null ? '' : ` (${lines.get(nsu)?.type})`;
      return `break ${id} is open: ${kind}, nsu ${nsu}${type}`;
    }),
    ...(unknownOutcomes.length === leftToPerson.length
      ? []
      : [`${unknownOutcomes.length} breaks unknown_outcome, expected ${leftToPerson.length}`]),
  ];
}

/** The payments of a charge are the bank's credits with its correlationId, and no others. */
function checkCharges({ sent, state }: Evidence): string[] {
  return sent.flatMap(({ request: { correlationId } }) => {
    if (correlationId === null) return [];
    const expected = state.ledger.movements
      .filter((line) => line.isCredit && line.correlationId === correlationId)
      .map(({ nsu }) => nsu);
    const charge = state.charges.find((each) => each.correlationId === correlationId);
    const reported = (charge?.payments ?? []).map(({ nsu }) => nsu);
    if ([...reported].sort().join() === [...expected].sort().join()) return [];
    return [
      `charge ${correlationId}: the payments are [${reported.join()}], expected [${expected.join()}]`,
    ];
  });
}

/** The refunds of a Pix, less the refunds that were reversed, never exceed the Pix. */
function checkRefundSums({ state }: Evidence): string[] {
  const { movements } = state.ledger;
  const total = (lines: BankMovement[]) => lines.reduce((sum, line) => sum + cents(line.amount), 0);
  return movements
    .filter(({ type }) => type === 'CREDIT_PIX')
    .flatMap(({ endToEndId, amount, nsu }) => {
      const refunds = movements.filter(
        ({ originalEndToEndId, type }) =>
          originalEndToEndId === endToEndId && type === 'DEBIT_PIX_REFUND',
      );
      const refundIds = new Set(refunds.map((refund) => refund.endToEndId));
      const reversals = movements.filter(
        ({ type, endToEndId: id, originalEndToEndId: originalId }) =>
          type === 'CREDIT_PIX_REFUND_REVERSAL' && (refundIds.has(id) || refundIds.has(originalId)),
      );
      const refundedCents = total(refunds) - total(reversals);
      return refundedCents > cents(amount)
        ? [`nsu ${nsu}: ${refundedCents} cents were refunded of ${cents(amount)}`]
        : [];
    });
}

/** No secret and no personal data of an onboarding is printed. */
function checkOutput({ printed }: Evidence): string[] {
  return canaries
    .filter((canary) => new RegExp(patternOf(canary)).test(printed))
    .map((_, index) => `the output contains a canary of an onboarding (${index})`);
}

/**
 * Matches a canary, but not inside an id or a decimal number. The pattern is valid in PostgreSQL
 * and in JavaScript.
 */
export function patternOf(canary: string): string {
  return `(?<![0-9a-f.-])${canary}(?![0-9a-f-])`;
}
