// What the service assumes of its bank. The habits come from a bank profile: one of the two that
// have names, or a file. An unknown habit has the safe value here and nowhere else: a repeat is
// not safe, no status can be read by id, and no operation is ever proven not executed.
import { bankHabits, knownOr, type BankHabits } from '../bank-contract/bank-profile.js';
import type { InterestPeriod } from '../brazil/amount-owed.js';
import type { BankProfileName } from '../platform/settings/bank-profiles.js';
import type { Settings } from '../platform/settings/config.js';

export interface BankProfile {
  name: BankProfileName;
  /**
   * Whether the same bytes with the same key (or correlationId) can be resent without a second
   * effect.
   */
  isRepeatSafe: boolean;
  /** Whether a transfer or a charge can be read by its id. The contract has no routes for it. */
  hasStatusById: boolean;
  /** How many lines a statement page requests; the bank may send fewer. */
  statementPageSize: number;
  /** How late an effect may appear on the statement, in milliseconds; null where unknown. */
  visibilityBoundMs: number | null;
  /**
   * Whether the bank pays a scheduled bill on time. If not, the payment may be late or retried for
   * up to one business day.
   */
  paysBillsOnTime: boolean;
  /** How many business days after its payment the money of each way is credited, by default. */
  creditDays: { slip: number; pix: number; other: number };
  /** Whether a charge's late interest as a percentage is per day, as its samples show, or month. */
  interestPeriod: InterestPeriod;
  /** Whether the bank has the sandbox's routes that pay and expire a charge. */
  hasSimulation: boolean;
  /** Whether webhooks may be sent to, and events delivered at, loopback addresses. */
  allowsLoopback: boolean;
}

const namedHabits: Record<BankProfileName, BankHabits> = {
  sandbox: bankHabits.parse({
    repeatedTransfer: 'replay',
    repeatedCharge: 'replay',
    hasTransferById: true,
    hasChargeById: true,
    hasSimulation: true,
    visibilityBoundMs: 10_000,
    paysBillsOnTime: true,
    creditDays: { slip: 1, pix: 0, other: 1 },
  }),
  generic: bankHabits.parse({}),
};

/** More lines than this make a response long. A page that the bank caps has fewer. */
const longestPage = 1_000;
/** The longest that institutions publish for slips. */
const longestCreditDays = { slip: 3, pix: 0, other: 1 };

/** The profile that the settings name, with the settings' own values where given. */
export function bankProfileOf(
  bank: Pick<Settings['bank'], 'profile'> &
    Partial<Pick<Settings['bank'], 'habits' | 'isRepeatSafe' | 'hasStatusById'>> &
    Partial<Pick<Settings['bank'], 'visibilityBoundMs'>>,
): BankProfile {
  const habits: BankHabits = bank.habits ?? namedHabits[bank.profile];
  const { repeatedTransfer, repeatedCharge, hasTransferById, hasChargeById } = habits;
  return {
    name: bank.profile,
    isRepeatSafe: bank.isRepeatSafe ?? [repeatedTransfer, repeatedCharge].every(isSafe),
    hasStatusById: bank.hasStatusById ?? (hasTransferById === true && hasChargeById === true),
    statementPageSize: Math.min(longestPage, knownOr(habits.pageCap, longestPage)),
    visibilityBoundMs: bank.visibilityBoundMs ?? knownOr(habits.visibilityBoundMs, null),
    paysBillsOnTime: habits.paysBillsOnTime === true,
    creditDays: knownOr(habits.creditDays, longestCreditDays),
    interestPeriod: knownOr(habits.interestPeriod, 'day'),
    hasSimulation: habits.hasSimulation === true,
    allowsLoopback: bank.profile === 'sandbox',
  };
}

function isSafe(repeated: BankHabits['repeatedTransfer']): boolean {
  return repeated === 'replay' || repeated === 'refused';
}

/** Replaces an unknown bound in delays and reports only. No decision may depend on it. */
const defaultVisibilityBoundMs = 60_000;

export function visibilityBoundOrDefaultMs({ visibilityBoundMs }: BankProfile): number {
  return visibilityBoundMs ?? defaultVisibilityBoundMs;
}
