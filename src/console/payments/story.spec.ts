// The order of a story, what its entries say, and that every stored value has a text.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { unknownReasons } from '../../bank/response-classification.js';
import { outgoingSettlements } from '../../statement/expected-payments/outgoing-settlement.js';
import { chargeSettlements } from '../../outbound/charges/charge-settlement.js';
import {
  BillPaymentState,
  DeliveryState,
  ExpectedPaymentFactKind,
  OperationSource,
  OperationState,
  RefundState,
  TransferState,
} from '../../generated/service/enums.js';
import { refusedRepeat, restoredReason } from '../../outbound/operations/recovery.js';
import { refundRefusals } from '../../outbound/refunds/refunds.service.js';
import { findTextKey } from '../texts.js';
import type { MatchStory, OperationStory, StoryFacts } from './story-facts.js';
import { awaitedOf, omittedOf, storyOf } from './story.js';

const at = (minute: number) => new Date(Date.UTC(2026, 10, 24, 12, minute));
const nothing: StoryFacts = {
  ...{ operations: [], attempts: [], decisions: [], matches: [], breaks: [], webhooks: [] },
  ...{ events: [], deliveries: [], paymentFacts: [], refunds: [] },
};
const operation: OperationStory = {
  ...{ id: 'o', kind: 'create_transfer', state: 'succeeded', reason: null, source: 'console' },
  ...{ requestedBy: 'person:1', attempts: 1, createdAt: at(0), approvedAt: null, endedAt: at(2) },
  ...{ needed: null, expiresAt: null },
};
const attempt = {
  ...{ operationId: 'o', number: 1, startedAt: at(1), clockOffsetMs: -60_000n, finishedAt: at(2) },
  ...{ outcome: 'succeeded', status: 200, reason: null },
};
const match: MatchStory = {
  ...{ id: 'm', nsu: 7n, isCredit: false, lineCents: 500n, occurredAt: at(2), recordedAt: at(4) },
  ...{ amountCents: 500n, role: 'payment', rule: 'reference', madeBy: null, reason: null },
  ...{ createdAt: at(4), unlinkedAt: null, unlinkedBy: null, unlinkReason: null },
};
const textsOf = (facts: Partial<StoryFacts>) =>
  storyOf({ ...nothing, ...facts }).map(({ text }) => text.replace('payment.story.', ''));

describe('a story', () => {
  it('goes from the request to the statement, by our clock', () => {
    const breaks = [
      {
        ...{ id: 'b', kind: 'missing', openedAt: at(3), resolvedAt: at(5) },
        ...{ resolution: 'automatic', resolvedBy: null, resolutionReason: null },
      },
    ];
    const facts = { operations: [operation], attempts: [attempt], matches: [match], breaks };
    expect(textsOf(facts)).toEqual([
      ...['requested', 'sent', 'answer', 'break', 'debit', 'matched', 'resolved'],
    ]);
  });

  it("has the bank's time beside ours", () => {
    const [sent] = storyOf({ ...nothing, attempts: [attempt] });
    expect(sent).toMatchObject({ at: at(1), bankAt: at(0) });
    const [line] = storyOf({ ...nothing, matches: [match] });
    expect(line).toMatchObject({ at: at(4), bankAt: at(2), page: 'statement/7' });
  });

  it('names who requested, and waits for approvals before it is sent', () => {
    const decision = {
      ...{ operationId: 'o', decision: 'approve' as const, actor: 'key', reason: 'checked' },
      createdAt: at(1),
    };
    const waiting = { ...operation, needed: 1, expiresAt: at(59), approvedAt: at(1) };
    const late = { ...attempt, startedAt: at(1) };
    const entries = storyOf({
      ...nothing,
      ...{ operations: [waiting], attempts: [late], decisions: [decision] },
    });
    expect(entries.map(({ text }) => text.replace('payment.story.', ''))).toEqual([
      ...['requestedForApproval', 'approval', 'approved', 'sent', 'answer'],
    ]);
    expect(entries[0]).toMatchObject({ actor: 'person:1', tone: 'warn' });
    expect(entries[1]).toMatchObject({ actor: 'key', reason: 'checked' });
  });

  it('does not say that an unknown outcome is a failure', () => {
    const unknown = { ...attempt, outcome: 'unknown', status: null, reason: 'no_response' };
    const entries = storyOf({ ...nothing, attempts: [unknown] });
    expect(entries.at(-1)).toMatchObject({ text: 'payment.story.noAnswer', tone: 'warn' });
  });

  it('has the end of an operation where no answer of the bank is it', () => {
    const ended = { ...operation, reason: 'seen_on_statement' };
    const unknown = { ...attempt, outcome: 'unknown', status: null };
    expect(textsOf({ operations: [ended], attempts: [unknown] }).at(-1)).toBe('ended');
    expect(textsOf({ operations: [ended], attempts: [attempt] })).not.toContain('ended');
  });

  it('shows a line once, whatever its matches', () => {
    const other = { ...match, id: 'n', unlinkedAt: at(6), unlinkedBy: 'key' };
    expect(textsOf({ matches: [match, other] })).toEqual([
      ...['debit', 'matched', 'matched', 'unlinked'],
    ]);
  });

  it('shows the host of an endpoint, and nothing of its path', () => {
    const delivery = {
      ...{ id: 'd', eventId: 'e', type: 'charge.paid', endpointId: 'p', attempts: 1 },
      ...{ url: 'https://a.example/hook?secret=1', state: 'delivered' as const, lastStatus: 200 },
      ...{ createdAt: at(1), deliveredAt: at(2) },
    };
    const [entry] = storyOf({ ...nothing, deliveries: [delivery] });
    expect(entry?.values.host).toBe('a.example');
    expect(JSON.stringify(entry)).not.toContain('secret');
  });

  it('says what it leaves out', () => {
    expect(omittedOf(nothing)).toEqual([]);
    const many = { ...operation, attempts: 3 };
    const matches = Array.from({ length: 20 }, (_, index) => ({ ...match, id: String(index) }));
    expect(omittedOf({ ...nothing, operations: [many], attempts: [attempt], matches })).toEqual([
      ...['payment.omitted.attempts', 'payment.omitted.matches'],
    ]);
  });

  it.each([
    ['awaiting_approval', 'open', false, 'approval'],
    ['unknown', 'open', true, 'outcome'],
    ['needs_operator', 'open', false, 'person'],
    ['succeeded', 'open', true, 'payment'],
    ['succeeded', 'open', false, 'line'],
  ])('of %s, %s (charge: %s) ends with what is awaited: %s', (state, settlement, isCharge, key) => {
    const subject = { operationState: state, settlement };
    expect(awaitedOf(subject, isCharge)).toBe(`payment.awaits.${key}`);
  });

  it.each([
    ['succeeded', 'settled'],
    ['succeeded', null],
    ['rejected', 'withdrawn'],
    ['expired', 'open'],
  ])('of %s and %s awaits nothing', (operationState, settlement) =>
    expect(awaitedOf({ operationState, settlement })).toBeNull(),
  );

  it('is the same in whatever order its facts are read', () => {
    const matches = [3n, 1n, 2n].map((nsu) => ({ ...match, id: `m${nsu}`, nsu }));
    const events = ['a', 'b', 'c'].map((id) => ({ id, type: id, createdAt: at(4) }));
    const shuffled = fc.tuple(
      fc.shuffledSubarray(matches, { minLength: 3 }),
      fc.shuffledSubarray(events, { minLength: 3 }),
    );
    const sorted = storyOf({ ...nothing, matches, events });
    fc.assert(
      fc.property(shuffled, ([lines, reported]) => {
        expect(storyOf({ ...nothing, matches: lines, events: reported })).toEqual(sorted);
      }),
    );
  });
});

describe('a text of a story', () => {
  const kinds = ['create_charge', 'create_static_qr', 'void_charge', 'change_charge_due_date'];
  const sending = ['create_transfer', 'create_transfer_batch', 'pay_bill', 'refund_pix'];
  const ended = ['looked_up', 'never_sent', 'seen_on_statement', 'seen_in_part', 'interrupted'];
  it.each([
    ['payment.source', Object.values(OperationSource)],
    ['list.operationState', Object.values(OperationState)],
    ['list.sentState', [TransferState, BillPaymentState, RefundState].flatMap(Object.values)],
    ['payment.delivery', Object.values(DeliveryState)],
    ['payment.fact', Object.values(ExpectedPaymentFactKind)],
    ['list.sent.settlement', outgoingSettlements],
    ['list.charge.settlement', chargeSettlements],
    ['payment.kind', [...kinds, ...sending, 'create_customer']],
    ['payment.reason', [...unknownReasons, refusedRepeat, restoredReason, ...ended]],
    ['payment.reason', ['absent_from_statement', 'seen_without_effect']],
    ['payment.rule', ['manual', 'reference', 'original', 'counterparty', 'declared', 'reversal']],
    ['payment.resolution', ['accept', 'link', 'refund', 'automatic']],
    ['payment.problem', refundRefusals],
  ])('is there for each value of %s', (list, values) => {
    expect(values.filter((value) => !findTextKey(`${list}.${value}`))).toEqual([]);
  });
});
