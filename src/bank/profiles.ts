// The bank profiles: facts that differ between banks and cannot be guessed. An unknown fact has the
// safe value: a repeat is not safe, no status can be read by id, and no operation is ever proven
// not executed.
import type { InterestPeriod } from '../brazil/amount-owed.js';
import type { BankProfileName, Settings } from '../platform/settings/config.js';

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

const profiles: Record<BankProfileName, BankProfile> = {
  sandbox: {
    name: 'sandbox',
    isRepeatSafe: true,
    hasStatusById: true,
    statementPageSize: 1_000,
    visibilityBoundMs: 10_000,
    paysBillsOnTime: true,
    creditDays: { slip: 1, pix: 0, other: 1 },
    interestPeriod: 'day',
    hasSimulation: true,
    allowsLoopback: true,
  },
  generic: {
    name: 'generic',
    isRepeatSafe: false,
    hasStatusById: false,
    statementPageSize: 1_000,
    visibilityBoundMs: null,
    paysBillsOnTime: false,
    // The longest that institutions publish for slips.
    creditDays: { slip: 3, pix: 0, other: 1 },
    interestPeriod: 'day',
    hasSimulation: false,
    allowsLoopback: false,
  },
};

/** The profile that the settings name, with the settings' own values where given. */
export function bankProfileOf(
  bank: Pick<Settings['bank'], 'profile'> &
    Partial<Pick<Settings['bank'], 'isRepeatSafe' | 'hasStatusById' | 'visibilityBoundMs'>>,
): BankProfile {
  const profile = profiles[bank.profile];
  return {
    ...profile,
    isRepeatSafe: bank.isRepeatSafe ?? profile.isRepeatSafe,
    hasStatusById: bank.hasStatusById ?? profile.hasStatusById,
    visibilityBoundMs: bank.visibilityBoundMs ?? profile.visibilityBoundMs,
  };
}

/** Replaces an unknown bound in delays and reports only. No decision may depend on it. */
const defaultVisibilityBoundMs = 60_000;

export function visibilityBoundOrDefaultMs({ visibilityBoundMs }: BankProfile): number {
  return visibilityBoundMs ?? defaultVisibilityBoundMs;
}
