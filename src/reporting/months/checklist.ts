// What a month must have before it is closed: from what stands in the way of each item, the limits
// of the account, and what people accepted.
import type { MonthPolicy } from '../../generated/service/client.js';

/** The limits that hold. Without a policy of the account, nothing may stand in the way. */
export type MonthLimits = Pick<MonthPolicy, 'maxBreaks' | 'maxBreakCents' | 'maxPendingLines'>;
export const noLimits: MonthLimits = { maxBreaks: 0, maxBreakCents: 0n, maxPendingLines: 0 };

interface ItemDeclaration {
  /** Whether a person may accept what stands in the way: never what is not known at all. */
  mayBeAccepted: boolean;
  /** How many may stand in the way, and how much; none where it is missing. */
  limit?: (limits: MonthLimits) => { count: number; cents?: bigint };
}

/** Every item, declared once, in the order in which people work through them. */
export const checklistItems = {
  statement_complete: { mayBeAccepted: false },
  days_certified: { mayBeAccepted: false },
  lines_decided: {
    mayBeAccepted: true,
    limit: ({ maxPendingLines: count }) => ({ count }),
  },
  breaks_resolved: {
    mayBeAccepted: true,
    limit: ({ maxBreaks: count, maxBreakCents: cents }) => ({ count, cents }),
  },
  operations_known: { mayBeAccepted: false },
  fees_checked: { mayBeAccepted: true },
  overdue_reviewed: { mayBeAccepted: true },
  journal: { mayBeAccepted: true },
} as const satisfies Record<string, ItemDeclaration>;

export type ChecklistItemName = keyof typeof checklistItems;
export const checklistNames = Object.keys(checklistItems) as [
  ChecklistItemName,
  ...ChecklistItemName[],
];

/** What stands in the way of an item. */
export interface ItemFinding {
  count: number;
  cents: bigint;
  /** The first day of it; null if nothing is found, or it is of no day. */
  since: string | null;
  /** A hash of what exactly was found: an acceptance is of this, and of nothing else. */
  seen: string;
}
export const nothingFound: ItemFinding = { count: 0, cents: 0n, since: null, seen: '' };

/** Null: the item does not apply to this month. */
export type MonthFindings = Record<ChecklistItemName, ItemFinding | null>;

/** What a person accepted, and why. */
export interface ItemAcceptance {
  item: string | null;
  itemCount: number | null;
  cents: bigint | null;
  seen: string | null;
  reason: string | null;
}

export const itemStates = ['met', 'not_met', 'accepted', 'not_applicable'] as const;

export interface ChecklistItem extends ItemFinding {
  item: ChecklistItemName;
  state: (typeof itemStates)[number];
  mayBeAccepted: boolean;
  /** Of the acceptance that holds. */
  reason: string | null;
}

export function checklistOf(
  findings: MonthFindings,
  limits: MonthLimits,
  acceptances: readonly ItemAcceptance[],
): ChecklistItem[] {
  return checklistNames.map((item) => {
    const declaration: ItemDeclaration = checklistItems[item];
    const { mayBeAccepted } = declaration;
    const found = findings[item];
    const base = { item, ...(found ?? nothingFound), mayBeAccepted, reason: null };
    if (!found) return { ...base, state: 'not_applicable' };
    const { count, cents = null } = declaration.limit?.(limits) ?? { count: 0 };
    if (found.count <= count && (found.count === 0 || cents === null || found.cents <= cents))
      return { ...base, state: 'met' };
    const accepted = mayBeAccepted
      ? acceptances.findLast((one) => one.item === item && isOf(one, found))
      : undefined;
    if (!accepted) return { ...base, state: 'not_met' };
    return { ...base, state: 'accepted', reason: accepted.reason };
  });
}

/** An acceptance holds while the same rows stand in the way, with the same sum. */
function isOf({ itemCount, cents, seen }: ItemAcceptance, found: ItemFinding): boolean {
  return itemCount === found.count && cents === found.cents && seen === found.seen;
}

export function unmetItems(
  checklist: readonly Pick<ChecklistItem, 'item' | 'state'>[],
): ChecklistItemName[] {
  return checklist.filter(({ state }) => state === 'not_met').map(({ item }) => item);
}
