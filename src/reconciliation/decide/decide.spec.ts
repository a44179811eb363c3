import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { expectedPaymentFacts, facts, lineFacts } from '../../../test/support/facts.js';
import { isLongForm } from '../../../test/support/long-form.js';
import type { AcceptedAmounts } from '../../statement/expected-payments/settlement.js';
import { rules, shuffledBy, world } from '../../../test/support/worlds.js';
import { openBreaks } from './breaks.js';
import { decide, type Decision } from './decide.js';
import type { Facts, StatementLineFacts } from './model.js';

const runs = { numRuns: isLongForm ? 5_000 : 500 };

/** Everything that is stored of a decision, in an order of its own. */
function rowsOf(decision: Decision): string[] {
  const { allocations, unmatched } = decision.component;
  const text = (value: unknown) =>
    JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? `${one}` : one));
  return [
    ...allocations.map(text),
    ...[...unmatched].map(text),
    ...openBreaks(decision).map(text),
  ].sort();
}

const keys = fc.array(fc.integer(), { minLength: 8, maxLength: 8 });

describe('decide', () => {
  it('gives the same rows in whatever order the facts are', () => {
    fc.assert(
      fc.property(world, keys, (all, order) => {
        const shuffled = {
          ...all,
          lines: shuffledBy(all.lines, order),
          expectedPayments: shuffledBy(all.expectedPayments, order),
          links: [...all.links].reverse(),
          separated: [...all.separated].reverse(),
        };
        expect(rowsOf(decide(shuffled))).toEqual(rowsOf(decide(all)));
      }),
      runs,
    );
  });

  it('ends every line in exactly one outcome, whose parts add up to the line', () => {
    fc.assert(
      fc.property(world, (all) => {
        const { component } = decide(all);
        for (const { nsu, amountCents } of all.lines) {
          const parts = component.allocationsOfLine(nsu);
          expect(component.unmatched.has(nsu)).toBe(parts.length === 0);
          if (parts.length > 0) expect(sumOf(parts)).toBe(amountCents);
          const paid = new Set(parts.map(({ expectedPaymentId }) => expectedPaymentId));
          expect(paid.size).toBe(parts.length);
        }
      }),
      runs,
    );
  });

  it('never reverses more than was paid, and pays money that we sent once', () => {
    fc.assert(
      fc.property(world, (all) => {
        const { component } = decide(all);
        for (const { id, isCredit, isMultiUse } of all.expectedPayments) {
          // The payments of a multi-use QR code are decided apart: links have no limit here.
          if (!isMultiUse) expect(component.netCents(id)).toBeGreaterThanOrEqual(0n);
          const automatic = component
            .paymentsOf(id)
            .filter(({ allocation }) => !allocation.linkedBy);
          if (!isCredit && !isMultiUse) expect(automatic.length).toBeLessThanOrEqual(1);
        }
      }),
      runs,
    );
  });

  it('lists at most 50 candidates in a break', () => {
    const references = [{ kind: 'external_id' as const, value: 'shared' }];
    const expectedPayments = Array.from({ length: 60 }, (_, index) =>
      expectedPaymentFacts({ id: `payment ${index}`, references }),
    );
    const lines = [lineFacts({ externalId: 'shared' })];
    const [found] = openBreaks(decide(facts({ lines, expectedPayments })));
    expect(found).toMatchObject({ kind: 'ambiguous' });
    expect((found?.evidence as { candidates?: unknown[] } | undefined)?.candidates).toHaveLength(
      50,
    );
  });

  it('matches no pair that a person separated, and every link that only pays', () => {
    fc.assert(
      fc.property(world, (all) => {
        const { component } = decide(all);
        const automatic = component.allocations.filter(({ linkedBy }) => linkedBy === null);
        for (const { nsu, expectedPaymentId } of all.separated)
          expect(
            automatic.some((one) => one.nsu === nsu && one.expectedPaymentId === expectedPaymentId),
          ).toBe(false);
        for (const { nsu, allocations: linked, refundOf } of all.links) {
          if (refundOf.length > 0) continue;
          const isPayment = linked.every(
            ({ expectedPaymentId }) =>
              component.paymentById.get(expectedPaymentId)?.isCredit ===
              component.lineByNsu.get(nsu)?.isCredit,
          );
          if (isPayment) expect(component.allocationsOfLine(nsu)).toMatchObject(linked);
        }
      }),
      runs,
    );
  });

  it('decides what is not connected as if it were alone', () => {
    fc.assert(
      fc.property(world, world, (one, made) => {
        const other = apart(made);
        const both = facts({
          lines: [...one.lines, ...other.lines],
          expectedPayments: [...one.expectedPayments, ...other.expectedPayments],
          links: [...one.links, ...other.links],
          separated: [...one.separated, ...other.separated],
          decisions: [...one.decisions, ...other.decisions],
          possibleOriginals: new Map([...one.possibleOriginals, ...other.possibleOriginals]),
          rules,
        });
        const alone = [one, other].map((each) => ({ ...each, rules }));
        expect(rowsOf(decide(both))).toEqual(alone.flatMap((each) => rowsOf(decide(each))).sort());
      }),
      runs,
    );
  });
});

function sumOf(parts: readonly { amountCents: bigint }[]): bigint {
  return parts.reduce((sum, { amountCents }) => sum + amountCents, 0n);
}

/** The same facts with other ids, other amounts and other people, so that nothing connects them. */
function apart(all: Facts): Facts {
  const other = (id: string | null) => (id === null ? null : `other ${id}`);
  const more = (amount: bigint) => amount + 7n;
  const moreOf = (amounts: AcceptedAmounts | null) =>
    amounts && { fromCents: more(amounts.fromCents), toCents: more(amounts.toCents) };
  const nsuOf = (nsu: bigint) => nsu + 100n;
  return {
    ...all,
    lines: all.lines.map((one): StatementLineFacts => ({
      ...one,
      nsu: nsuOf(one.nsu),
      amountCents: more(one.amountCents),
      correlationId: other(one.correlationId),
      externalId: other(one.externalId),
      endToEndId: other(one.endToEndId),
      originalEndToEndId: other(one.originalEndToEndId),
      counterpartyDocument: other(one.counterpartyDocument),
      reported: one.reported.map((id) => ({ ...id, value: other(id.value) ?? '' })),
    })),
    possibleOriginals: new Map(
      [...all.possibleOriginals].map(([nsu, originals]) => [
        nsuOf(nsu),
        originals.map((original) => ({ ...original, nsu: nsuOf(original.nsu) })),
      ]),
    ),
    expectedPayments: all.expectedPayments.map((one) => ({
      ...one,
      id: `other ${one.id}`,
      operationId: other(one.operationId),
      amountCents: one.amountCents === null ? null : more(one.amountCents),
      accepted: moreOf(one.accepted),
      declared: one.declared && { ...one.declared, matching: moreOf(one.declared.matching) },
      counterpartyDocument: other(one.counterpartyDocument),
      references: one.references.map(({ kind, value }) => ({
        kind,
        value: kind === 'counterparty' ? value : `other ${value}`,
      })),
    })),
    links: all.links.map(({ nsu, allocations, refundOf, decidedBy }) => ({
      nsu: nsuOf(nsu),
      decidedBy,
      refundOf: refundOf.map(({ originalNsu, amountCents, expectedPaymentId }) => ({
        originalNsu: nsuOf(originalNsu),
        amountCents: more(amountCents),
        expectedPaymentId,
      })),
      allocations: allocations.map(({ expectedPaymentId, amountCents }) => ({
        expectedPaymentId: `other ${expectedPaymentId}`,
        amountCents: more(amountCents),
      })),
    })),
    separated: all.separated.map(({ nsu, expectedPaymentId }) => ({
      nsu: nsuOf(nsu),
      expectedPaymentId: `other ${expectedPaymentId}`,
    })),
    decisions: all.decisions.map((one) => ({
      ...one,
      subject: `nsu:${nsuOf(one.nsu ?? 0n)}`,
      nsu: one.nsu === null ? null : nsuOf(one.nsu),
    })),
  };
}
