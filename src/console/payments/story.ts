// Puts the story of a payment together: what happened, in order, who or what caused it, and where
// it is shown. Entries are ordered by our clock, and show the bank's time beside it where it is
// known.
import { statesWithoutEffect } from '../../outbound/operation-states.js';
import type { Tone } from '../kit/elements.js';
import { findTextKey, type TextKey } from '../texts.js';
import {
  maxStoryRows,
  type AttemptStory,
  type DeliveryStory,
  type MatchStory,
  type OperationStory,
  type StoryFacts,
} from './story-facts.js';

/** A text of the console, an amount, a time, a code, or what is shown as it is. */
export type StoryValue =
  string | { text: TextKey } | { cents: bigint } | { time: Date } | { code: string };

export interface StoryEntry {
  /** By our clock. */
  at: Date;
  bankAt: Date | null;
  tone: Tone;
  text: TextKey;
  values: Readonly<Record<string, StoryValue>>;
  /** What explains the entry. A code that has no text is shown as it is. */
  detail: StoryValue | null;
  /** An API key or a person; null where the bank or the service itself caused it. */
  actor: string | null;
  /** What the person wrote. */
  reason: string | null;
  /** A page of the account. */
  page: string | null;
}

/** Entries of one moment are in this order. */
const ranks = [
  ...['requested', 'decided', 'released', 'sent', 'answered', 'ended', 'webhook', 'line'],
  ...['match', 'unlinked', 'fact', 'refund', 'break', 'resolved', 'event', 'delivery'],
] as const;
type Rank = (typeof ranks)[number];
type Ranked = StoryEntry & { rank: Rank; key: string };
type New = Pick<Ranked, 'at' | 'text' | 'rank' | 'key'> & Partial<StoryEntry>;

const entry = (fields: New): Ranked => ({
  bankAt: null,
  tone: 'plain',
  values: {},
  detail: null,
  actor: null,
  reason: null,
  page: null,
  ...fields,
});

export function storyOf(facts: StoryFacts): StoryEntry[] {
  const entries = [
    ...facts.operations.flatMap((operation) => ofOperation(operation, facts)),
    ...facts.attempts.flatMap(ofAttempt),
    ...facts.decisions.map(ofDecision),
    ...facts.webhooks.map(ofWebhook),
    ...linesOf(facts.matches),
    ...facts.matches.flatMap(ofMatch),
    ...facts.breaks.flatMap(ofBreak),
    ...facts.paymentFacts.map(ofPaymentFact),
    ...facts.refunds.map(ofRefund),
    ...facts.events.map(ofEvent),
    ...facts.deliveries.map(ofDelivery),
  ];
  return entries.sort(inOrder).map(({ rank: _, key: __, ...shown }) => shown);
}

/** What comes next; null where the story is at its end. */
export function awaitedOf(
  { operationState, settlement }: { operationState: string; settlement: string | null },
  isCharge = false,
): TextKey | null {
  if (operationState === 'awaiting_approval') return 'payment.awaits.approval';
  if (operationState === 'unknown') return 'payment.awaits.outcome';
  if (operationState === 'needs_operator') return 'payment.awaits.person';
  if (operationState !== 'succeeded' || settlement !== 'open') return null;
  return isCharge ? 'payment.awaits.payment' : 'payment.awaits.line';
}

/** What the story leaves out: the lists of which only the newest rows were read. */
export function omittedOf(facts: StoryFacts): TextKey[] {
  const { operations, attempts } = facts;
  const isFull = (list: readonly unknown[]) => list.length >= maxStoryRows;
  const hasMoreAttempts = operations.some(
    ({ id, attempts: made }) => attempts.filter((one) => one.operationId === id).length < made,
  );
  return [
    ...(hasMoreAttempts ? (['payment.omitted.attempts'] as const) : []),
    ...(isFull(facts.matches) ? (['payment.omitted.matches'] as const) : []),
    ...(isFull(facts.breaks) ? (['payment.omitted.breaks'] as const) : []),
    ...(isFull(facts.webhooks) ? (['payment.omitted.webhooks'] as const) : []),
    ...(isFull(facts.events) ? (['payment.omitted.events'] as const) : []),
  ];
}

function inOrder(one: Ranked, other: Ranked): number {
  return (
    one.at.getTime() - other.at.getTime() ||
    ranks.indexOf(one.rank) - ranks.indexOf(other.rank) ||
    (one.key < other.key ? -1 : Number(one.key > other.key))
  );
}

function ofOperation(operation: OperationStory, { attempts, decisions }: StoryFacts): Ranked[] {
  const { id, kind, createdAt, approvedAt, needed, expiresAt } = operation;
  const page = `operations/${id}`;
  const requested = entry({
    ...{ at: createdAt, rank: 'requested', key: id, page },
    text: needed === null ? 'payment.story.requested' : 'payment.story.requestedForApproval',
    values: {
      kind: wordFor('payment.kind', kind),
      source: wordFor('payment.source', operation.source),
      ...(needed === null ? {} : { needed: String(needed) }),
      ...(expiresAt === null ? {} : { until: { time: expiresAt } }),
    },
    actor: operation.requestedBy,
    tone: needed === null ? 'plain' : 'warn',
  });
  const released =
    approvedAt === null || decisions.length === 0
      ? []
      : [
          entry({
            ...{ at: approvedAt, rank: 'released', key: id, page },
            text: 'payment.story.approved',
            tone: 'good',
          }),
        ];
  return [requested, ...released, ...endOf(operation, attempts)];
}

/** The end of an operation, unless the bank's answer to its last attempt is that end. */
function endOf(operation: OperationStory, attempts: readonly AttemptStory[]): Ranked[] {
  const { id, state, endedAt, reason } = operation;
  if (endedAt === null) return [];
  const isAnswer = attempts.some(
    (one) => one.operationId === id && one.outcome === state && one.number === operation.attempts,
  );
  if (isAnswer) return [];
  return [
    entry({
      ...{ at: endedAt, rank: 'ended', key: id, page: `operations/${id}` },
      text: 'payment.story.ended',
      values: { state: wordFor('list.operationState', state) },
      detail: reason === null ? null : wordFor('payment.reason', reason),
      tone: toneOfState(state),
    }),
  ];
}

function ofAttempt(attempt: AttemptStory): Ranked[] {
  const { operationId, number, startedAt, clockOffsetMs, finishedAt, outcome, status } = attempt;
  const page = `operations/${operationId}`;
  const key = `${operationId} ${String(number).padStart(6, '0')}`;
  const bankAt =
    clockOffsetMs === null ? null : new Date(startedAt.getTime() + Number(clockOffsetMs));
  const sent = entry({
    ...{ at: startedAt, bankAt, rank: 'sent', key, page },
    text: number === 1 ? 'payment.story.sent' : 'payment.story.sentAgain',
    values: { number: String(number) },
  });
  if (finishedAt === null || outcome === null) return [sent];
  const { reason } = attempt;
  const answered = entry({
    ...{ at: finishedAt, rank: 'answered', key, page },
    text: status === null ? 'payment.story.noAnswer' : 'payment.story.answer',
    values: {
      outcome: wordFor('payment.answer', outcome),
      ...(status === null ? {} : { status: String(status) }),
    },
    detail: reason === null ? null : wordFor('payment.reason', reason),
    tone: toneOfState(outcome),
  });
  return [sent, answered];
}

function ofDecision(decision: StoryFacts['decisions'][number]): Ranked {
  const { operationId, createdAt, actor, reason } = decision;
  const isApproval = decision.decision === 'approve';
  return entry({
    ...{ at: createdAt, rank: 'decided', key: actor, actor, reason },
    text: isApproval ? 'payment.story.approval' : 'payment.story.refusal',
    tone: isApproval ? 'good' : 'bad',
    page: `approvals/${operationId}`,
  });
}

function ofWebhook(webhook: StoryFacts['webhooks'][number]): Ranked {
  const { eventType, bodyHash, copies, receivedAt, receivedAtBankTime } = webhook;
  return entry({
    ...{ at: receivedAt, bankAt: receivedAtBankTime, rank: 'webhook', key: bodyHash },
    page: `webhooks/${eventType}.${bodyHash}`,
    text: copies > 1 ? 'payment.story.webhooks' : 'payment.story.webhook',
    values: { copies: String(copies) },
    detail: { code: eventType },
  });
}

/** A line may be matched, in parts, more than once: it is one entry. */
function linesOf(matches: readonly MatchStory[]): Ranked[] {
  const byNsu = new Map(matches.map((match) => [match.nsu, match]));
  return [...byNsu.values()].map(({ nsu, isCredit, lineCents, occurredAt, recordedAt }) =>
    entry({
      ...{ at: recordedAt, bankAt: occurredAt, rank: 'line', key: nsuKey(nsu) },
      text: isCredit ? 'payment.story.credit' : 'payment.story.debit',
      values: { amount: { cents: lineCents }, nsu: nsu.toString() },
      page: `statement/${nsu}`,
    }),
  );
}

function ofMatch(match: MatchStory): Ranked[] {
  const { id, nsu, amountCents, role, rule, madeBy, reason, createdAt, unlinkedAt } = match;
  const values = { amount: { cents: amountCents }, nsu: nsu.toString() };
  const made = entry({
    ...{ at: createdAt, rank: 'match', key: id, actor: madeBy, reason, values },
    text: role === 'payment' ? 'payment.story.matched' : 'payment.story.reversed',
    detail: wordFor('payment.rule', rule),
    tone: role === 'payment' ? 'good' : 'warn',
    page: `statement/${nsu}`,
  });
  if (unlinkedAt === null) return [made];
  const ended = entry({
    ...{ at: unlinkedAt, rank: 'unlinked', key: id, values, page: `statement/${nsu}` },
    ...{ actor: match.unlinkedBy, reason: match.unlinkReason },
    text: 'payment.story.unlinked',
    tone: 'warn',
  });
  return [made, ended];
}

function ofBreak(found: StoryFacts['breaks'][number]): Ranked[] {
  const { id, kind, openedAt, resolvedAt, resolution, resolvedBy, resolutionReason } = found;
  const page = `breaks/${id}`;
  const values = { kind: wordFor('break', kind) };
  const opened = entry({
    ...{ at: openedAt, rank: 'break', key: id, page, values },
    text: 'payment.story.break',
    tone: 'bad',
  });
  if (resolvedAt === null) return [opened];
  const resolved = entry({
    ...{ at: resolvedAt, rank: 'resolved', key: id, page, values },
    ...{ actor: resolvedBy, reason: resolutionReason },
    text: 'payment.story.resolved',
    detail: resolution === null ? null : wordFor('payment.resolution', resolution),
    tone: 'good',
  });
  return [opened, resolved];
}

function ofPaymentFact(fact: StoryFacts['paymentFacts'][number]): Ranked {
  const { sequence, kind, bankTime, recordedAt } = fact;
  return entry({
    ...{ at: recordedAt, bankAt: bankTime, rank: 'fact', key: nsuKey(sequence) },
    text: `payment.fact.${kind}`,
    tone: kind === 'expected_again' || kind === 'absence_revoked' ? 'plain' : 'warn',
  });
}

function ofRefund({ id, amountCents, createdAt }: StoryFacts['refunds'][number]): Ranked {
  return entry({
    ...{ at: createdAt, rank: 'refund', key: id, page: `refunds/${id}` },
    text: 'payment.story.refund',
    values: { amount: { cents: amountCents } },
  });
}

function ofEvent({ id, type, createdAt }: StoryFacts['events'][number]): Ranked {
  return entry({
    ...{ at: createdAt, rank: 'event', key: id, text: 'payment.story.event' },
    detail: { code: type },
  });
}

function ofDelivery(delivery: DeliveryStory): Ranked {
  const { id, type, url, state, attempts, lastStatus, endpointId } = delivery;
  return entry({
    ...{ at: delivery.deliveredAt ?? delivery.createdAt, rank: 'delivery', key: id },
    text: `payment.delivery.${state}`,
    values: {
      ...{ host: hostOf(url), attempts: String(attempts) },
      status: lastStatus === null ? { text: 'app.none' } : String(lastStatus),
    },
    detail: { code: type },
    tone: { delivered: 'good', pending: 'plain', dead: 'bad' }[state] as Tone,
    page: `endpoints/${endpointId}`,
  });
}

/** The text of a value that the database stores; its code where it has none. */
export function wordFor(list: string, value: string): StoryValue {
  const text = findTextKey(`${list}.${value}`);
  return text === null ? { code: value } : { text };
}

export function toneOfState(state: string): Tone {
  if (state === 'succeeded') return 'good';
  if ((statesWithoutEffect as string[]).includes(state)) return 'bad';
  return ['unknown', 'needs_operator', 'awaiting_approval'].includes(state) ? 'warn' : 'plain';
}

/** Of an address, whose path may hold a secret. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

/** In the order of the numbers. */
function nsuKey(number: bigint): string {
  return number.toString().padStart(20, '0');
}
