import { describe, expect, it } from '@jest/globals';
import {
  checklistNames,
  checklistOf,
  noLimits,
  nothingFound,
  unmetItems,
  type ChecklistItemName,
  type ItemFinding,
  type MonthFindings,
} from './checklist.js';

const found = (count: number, cents = 0n, seen = 'a'): ItemFinding => ({
  ...{ count, cents, seen, since: '2026-11-05' },
});
const clean = Object.fromEntries(
  checklistNames.map((item) => [item, nothingFound]),
) as MonthFindings;
const only = (item: ChecklistItemName, finding: ItemFinding | null) => ({
  ...clean,
  [item]: finding,
});
const acceptance = (item: string, { count, cents, seen }: ItemFinding) => ({
  ...{ item, itemCount: count, cents, seen, reason: 'combinado com o contador' },
});

describe('the checklist of a month', () => {
  it('is met where nothing stands in the way', () => {
    const checklist = checklistOf(clean, noLimits, []);
    expect(checklist.map(({ item }) => item)).toEqual(checklistNames);
    expect(new Set(checklist.map(({ state }) => state))).toEqual(new Set(['met']));
  });

  it.each(checklistNames)('without a policy is not met by one of %s', (item) => {
    expect(unmetItems(checklistOf(only(item, found(1, 1n)), noLimits, []))).toEqual([item]);
    // Also of no amount.
    expect(unmetItems(checklistOf(only(item, found(1)), noLimits, []))).toEqual([item]);
  });

  it('keeps to both limits of the policy', () => {
    const limits = { maxBreaks: 2, maxBreakCents: 1_000n, maxPendingLines: 1 };
    const unmet = (item: ChecklistItemName, finding: ItemFinding) =>
      unmetItems(checklistOf(only(item, finding), limits, []));
    expect(unmet('breaks_resolved', found(2, 1_000n))).toEqual([]);
    expect(unmet('breaks_resolved', found(3, 1n))).toEqual(['breaks_resolved']);
    expect(unmet('breaks_resolved', found(1, 1_001n))).toEqual(['breaks_resolved']);
    expect(unmet('lines_decided', found(1, 9_999_999n))).toEqual([]);
    expect(unmet('lines_decided', found(2))).toEqual(['lines_decided']);
    expect(unmet('operations_known', found(1))).toEqual(['operations_known']);
  });

  it('accepts the same rows with the same sum, and no others', () => {
    const finding = found(3, 500n);
    const stateWith = (now: ItemFinding) =>
      checklistOf(only('breaks_resolved', now), noLimits, [acceptance('breaks_resolved', finding)])
        .filter(({ item }) => item === 'breaks_resolved')
        .map(({ state, reason }) => [state, reason])[0];
    expect(stateWith(finding)).toEqual(['accepted', 'combinado com o contador']);
    for (const now of [found(4, 500n), found(3, 501n), found(3, 500n, 'b'), found(2, 400n)])
      expect(stateWith(now)).toEqual(['not_met', null]);
    expect(stateWith(nothingFound)).toEqual(['met', null]);
  });

  it.each(['statement_complete', 'days_certified', 'operations_known'] as const)(
    'never accepts %s',
    (item) => {
      const finding = found(1, 100n);
      const checklist = checklistOf(only(item, finding), noLimits, [acceptance(item, finding)]);
      expect(unmetItems(checklist)).toEqual([item]);
    },
  );

  it('leaves out what does not apply', () => {
    const checklist = checklistOf(only('fees_checked', null), noLimits, []);
    expect(checklist.find(({ item }) => item === 'fees_checked')?.state).toBe('not_applicable');
    expect(unmetItems(checklist)).toEqual([]);
  });
});
