// From what was seen to a bank's habits, one function a habit. Each answers `unknown` unless what
// was seen leaves one possibility.
import type { BankHabits, Known } from '../../bank-contract/bank-profile.js';
import { isJsonObject } from '../../platform/json/exact-json.js';
import {
  isSuccess,
  type CheckAnswer,
  type CapObservation,
  type Effect,
  type NewLine,
  type Observations,
  type RateObservation,
  type Repeated,
  type SeenLine,
  type WebhookObservation,
} from './observations.js';

const unknown = 'unknown';
/** So many lines must have been seen to come, before their order or their delay says anything. */
const enoughLines = 5;
/** So many webhooks must have been expected. */
const enoughWebhooks = 3;

export function pageOrderHabit(pages: readonly bigint[][]): BankHabits['pageOrder'] {
  const steps = pages.flatMap((page) => page.slice(1).map((nsu, index) => nsu - page[index]!));
  if (steps.length === 0) return unknown;
  if (steps.every((step) => step < 0n)) return 'desc';
  return steps.every((step) => step > 0n) ? 'asc' : unknown;
}

/**
 * A page shorter than requested is a cap only where more lines exist, and where it is no longer
 * when it is requested again: a line that came meanwhile would also show more.
 */
export function pageCapOf(seen: CapObservation | null): BankHabits['pageCap'] {
  if (!seen) return unknown;
  if (seen.largestTaken !== null) return seen.largestTaken;
  const { requested, lines, linesAgain, hasMore } = seen;
  return lines > 0 && lines < requested && lines === linesAgain && hasMore ? lines : unknown;
}

/** About as many are refused as are taken, where the check is fast enough. */
const leastRefusedShare = 0.3;

/** No refusal proves no limit: it may be higher than what was tried. */
export function ratePerSecondOf(seen: RateObservation | null): BankHabits['ratePerSecond'] {
  if (!seen || seen.refused === 0 || seen.accepted === 0) return unknown;
  if (seen.refusedInWindow < leastRefusedShare * seen.accepted) return unknown;
  return Math.max(1, Math.round((seen.accepted * 1_000) / seen.windowMs));
}

/** The lines of an effect. No other effect has its amount. */
export function linesOf({ isCredit, amountCents }: Effect, lines: readonly NewLine[]): NewLine[] {
  return lines.filter((line) => line.amountCents === amountCents && line.isCredit === isCredit);
}

/** Effects that take longer to request hide a line that overtakes another by a second or two. */
const longestBurstMs = 1_500;

/** Whether lines that became visible later have a higher nsu. */
export function nsuOrderOf(
  effects: readonly Effect[],
  lines: readonly NewLine[],
): BankHabits['nsuOrder'] {
  const own = effects.flatMap((effect) => linesOf(effect, lines));
  const isOvertaken = own.some((line) =>
    own.some((other) => other.nsu > line.nsu && other.reading < line.reading),
  );
  if (isOvertaken) return 'out-of-order';
  const startedAt = effects.map(({ answer }) => answer.startedAtMs);
  const burstMs = Math.max(...startedAt) - Math.min(...startedAt);
  return own.length >= enoughLines && burstMs <= longestBurstMs ? 'in-order' : unknown;
}

/**
 * From the request of an effect to the reading that showed its line, of the latest line that an
 * earlier reading lacked. Where the first reading shows all, the shortest of those times is what
 * can be distinguished. Unknown where one of the lines never came.
 */
export function lineDelayMsOf(
  effects: readonly Effect[],
  lines: readonly NewLine[],
  earlyReadings: number,
): BankHabits['lineDelayMs'] {
  const executed = effects.filter(({ answer }) => isSuccess(answer));
  const delays = executed.flatMap((effect) => {
    const [first] = linesOf(effect, lines).sort((one, other) => one.reading - other.reading);
    if (!first) return [];
    const isLate = first.reading > earlyReadings + 1;
    return { isLate, ms: first.seenAtMs - effect.answer.startedAtMs };
  });
  if (delays.length < Math.max(enoughLines, executed.length)) return unknown;
  const late = delays.filter(({ isLate }) => isLate).map(({ ms }) => ms);
  const shortest = Math.min(...delays.map(({ ms }) => ms));
  return wholeSeconds(Math.max(shortest, ...late));
}

function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000)) * 1_000;
}

type Presence = BankHabits['lineExternalId'];

/**
 * The lines of the check's own effects show whether an id is there. Where it made none, an earlier
 * line can show that the id is there, and never that it is not: the client may have sent none.
 */
export function presenceOf(own: readonly boolean[], history: readonly boolean[]): Presence {
  if (own.length > 0) {
    if (own.every(Boolean)) return 'present';
    return own.some(Boolean) ? unknown : 'absent';
  }
  return history.some(Boolean) ? 'present' : unknown;
}

export function refundEndToEndIdOf(
  payment: SeenLine | undefined,
  refund: SeenLine | undefined,
): BankHabits['refundEndToEndId'] {
  if (!payment?.endToEndId || !refund?.endToEndId) return unknown;
  return payment.endToEndId === refund.endToEndId ? 'original' : 'own';
}

type Repeat = BankHabits['repeatedTransfer'];

/** Refusals that do not depend on the request being a repeat. */
const otherRefusals = [401, 403, 408, 425, 429];

function isRefused({ status }: CheckAnswer): boolean {
  return status !== null && status >= 400 && status < 500 && !otherRefusals.includes(status);
}

/** `lines`: how many lines the first request and its repeat have together, at the end. */
export function repeatedTransferOf(seen: Repeated | null, lines: number): Repeat {
  if (!seen || !isSuccess(seen.first)) return unknown;
  if (lines > 1) return 'executed';
  const [first, repeat] = [answeredText(seen.first, 'id'), answeredText(seen.repeat, 'id')];
  if (isSuccess(seen.repeat) && first !== null && repeat !== null && first !== repeat)
    return 'executed';
  // A second line may still come while the first has not.
  if (lines === 0) return unknown;
  if (isRefused(seen.repeat)) return 'refused';
  return isSuccess(seen.repeat) && first !== null && first === repeat ? 'replay' : unknown;
}

/** A second charge would have other codes to pay it by. */
const codesOfCharges = ['qrCode', 'barCode', 'digitableLine', 'ourNumber'];

export function repeatedChargeOf(seen: Repeated | null): Repeat {
  if (!seen || !isSuccess(seen.first)) return unknown;
  if (isRefused(seen.repeat)) return 'refused';
  if (!isSuccess(seen.repeat)) return unknown;
  const codesOf = (answer: CheckAnswer) => codesOfCharges.map((name) => answeredText(answer, name));
  const [first, repeat] = [codesOf(seen.first), codesOf(seen.repeat)];
  const compared = first.flatMap((code, index) =>
    code !== null && repeat[index] !== null ? [code === repeat[index]] : [],
  );
  if (compared.length === 0) return unknown;
  return compared.every(Boolean) ? 'replay' : 'executed';
}

export function answeredText({ json }: CheckAnswer, name: string): string | null {
  const value = isJsonObject(json) ? json[name] : null;
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Of an object that the bank has just made: it cannot be absent. */
export function isServed(
  answers: readonly CheckAnswer[],
): Known<BankHabits['hasChargeById']> | 'unknown' {
  if (answers.some(isSuccess)) return true;
  const notServed = [404, 405, 501];
  const isAbsent = answers.every(({ status }) => notServed.includes(status ?? 0));
  return answers.length > 0 && isAbsent ? false : unknown;
}

type WebhookHabits = Pick<BankHabits, 'webhookDelivery' | 'webhookDelayMs' | 'webhookCopies'>;

/** Where nothing arrives, the bank may not reach the address. */
export function webhookHabitsOf(seen: WebhookObservation | null): WebhookHabits {
  const arrivals = seen?.arrivals ?? [];
  if (!seen || arrivals.length === 0)
    return { webhookDelivery: unknown, webhookDelayMs: unknown, webhookCopies: unknown };
  const isEnough = seen.expected.length >= enoughWebhooks;
  const counts = seen.expected.map(
    (id) => arrivals.filter(({ correlationId }) => correlationId === id).length,
  );
  const hasCopies = counts.some((count) => count > 1);
  const first = seen.expected.flatMap((id) => {
    const delays = arrivals.filter((one) => one.correlationId === id).map((one) => one.delayMs);
    return delays.length > 0 ? [Math.min(...delays)] : [];
  });
  return {
    webhookDelivery: counts.some((count) => count === 0) ? 'some' : isEnough ? 'all' : unknown,
    webhookDelayMs: wholeSeconds(Math.max(...first)),
    webhookCopies: hasCopies ? 'repeated' : isEnough ? 'once' : unknown,
  };
}

/** All that was observed. What the check does not ask stays unknown. */
export function habitsOf(seen: Observations): BankHabits {
  const { effects, newLines, history } = seen;
  const linesOfKind = (kind: Effect['kind']) =>
    effects.filter((effect) => effect.kind === kind).flatMap((one) => linesOf(one, newLines));
  const [payments, transfers] = [linesOfKind('payment'), linesOfKind('transfer')];
  const refunded = effects.find(({ kind }) => kind === 'refund');
  const refunds = linesOfKind('refund');
  const has = (lines: readonly SeenLine[], id: keyof SeenLine) =>
    lines.map((line) => line[id] !== null);
  const presence = (id: keyof SeenLine, own: readonly SeenLine[]) =>
    presenceOf(has(own, id), has(history, id));
  const original = payments.find((line) => isOf(effects, line, refunded?.correlationId ?? null));
  const repeated = effects.find(({ kind }) => kind === 'transfer');
  return {
    pageOrder: pageOrderHabit(seen.statement.pages),
    pageCap: pageCapOf(seen.statement.cap),
    nsuOrder: nsuOrderOf(effects, newLines),
    lineDelayMs: lineDelayMsOf(effects, newLines, seen.earlyReadings),
    // No number of lines shows how late one may be at most: a person decides.
    visibilityBoundMs: unknown,
    // A simulated payment may be none by Pix: any line that has the id decides.
    lineEndToEndId: presenceOf(
      has(history, 'endToEndId').some(Boolean) ? [true] : has(payments, 'endToEndId'),
      [],
    ),
    lineCorrelationId: presence('correlationId', payments),
    lineExternalId: presence('externalId', transfers),
    lineOriginalId: presence('originalEndToEndId', refunds),
    refundEndToEndId: refundEndToEndIdOf(original, refunds[0]),
    repeatedTransfer: repeatedTransferOf(
      seen.repeatedTransfer,
      repeated ? linesOf(repeated, newLines).length : 0,
    ),
    repeatedCharge: repeatedChargeOf(seen.repeatedCharge),
    hasTransferById: isServed(seen.transferById ? [seen.transferById] : []),
    hasTransferByExternalId: isServed(seen.transferByExternalId ? [seen.transferByExternalId] : []),
    hasChargeById: isServed(seen.chargeById ? [seen.chargeById] : []),
    hasSimulation: isServed(seen.simulations),
    ...webhookHabitsOf(seen.webhooks),
    ratePerSecond: ratePerSecondOf(seen.rate),
    paysBillsOnTime: unknown,
    creditDays: unknown,
    interestPeriod: unknown,
  };
}

/** Whether the line is that of the payment of this charge. */
function isOf(effects: readonly Effect[], line: NewLine, correlationId: string | null): boolean {
  const paid = effects.find((one) => one.kind === 'payment' && one.correlationId === correlationId);
  return paid !== undefined && linesOf(paid, [line]).length > 0;
}
