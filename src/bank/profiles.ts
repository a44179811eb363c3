// What differs between banks and cannot be guessed. A fact that is not known is the careful one: a repeat is
// not safe, nothing can be asked by id, and nothing is ever proven not to have happened.
import type { BankProfileName, Settings } from '../config.js';

export interface BankProfile {
  name: BankProfileName;
  /** Whether the same bytes under the same key (or correlationId) can be sent again without a second effect. */
  isRepeatSafe: boolean;
  /** Whether a transfer or a charge can be read by its id: the contract shows no such routes. */
  hasStatusById: boolean;
  /** How many lines a statement page is asked for; the bank may answer with fewer. */
  statementPageSize: number;
  /** How late an effect may show on the statement, in milliseconds; null when nobody has said. */
  visibilityBoundMs: number | null;
  /** Whether a bill is paid just when its time has come; else the bank may run late, or try again, for a business day. */
  paysBillsOnTime: boolean;
  /** Whether it has the sandbox's routes that pay and expire a charge. */
  hasSimulation: boolean;
  /** Whether webhooks may be sent to, and events delivered at, loopback addresses. */
  isOnLoopback: boolean;
}

const profiles: Record<BankProfileName, BankProfile> = {
  sandbox: {
    name: 'sandbox',
    isRepeatSafe: true,
    hasStatusById: true,
    statementPageSize: 100,
    visibilityBoundMs: 10_000,
    paysBillsOnTime: true,
    hasSimulation: true,
    isOnLoopback: true,
  },
  generic: {
    name: 'generic',
    isRepeatSafe: false,
    hasStatusById: false,
    statementPageSize: 100,
    visibilityBoundMs: null,
    paysBillsOnTime: false,
    hasSimulation: false,
    isOnLoopback: false,
  },
};

/** The profile of the settings' bank, with what the settings know better. */
export function profileOf(
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

/** How late an effect may show, where nobody has said: for what only waits or tells, and decides nothing. */
const unsaidBoundMs = 60_000;

export function referenceDelayBound({ visibilityBoundMs: said }: BankProfile): number {
  return said ?? unsaidBoundMs;
}
