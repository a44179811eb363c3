import { expect, it } from '@jest/globals';
import { bankHabits, bankProfileFile, habitNames } from '../bank-contract/bank-profile.js';
import { bankProfileOf } from './profiles.js';

const ofFile = (habits: object) =>
  bankProfileOf({ profile: 'generic', habits: bankHabits.parse(habits) });

it('assumes of what is unknown what cannot do harm', () => {
  const assumed = {
    ...{ name: 'generic', isRepeatSafe: false, hasStatusById: false, statementPageSize: 1_000 },
    ...{ visibilityBoundMs: null, paysBillsOnTime: false, hasSimulation: false },
    ...{ creditDays: { slip: 3, pix: 0, other: 1 }, interestPeriod: 'day', allowsLoopback: false },
  };
  expect(ofFile({})).toEqual(assumed);
  expect(bankProfileOf({ profile: 'generic' })).toEqual(assumed);
});

it('calls a repeat safe only where a transfer and a charge have no second effect', () => {
  const isSafe = (repeatedTransfer: string, repeatedCharge: string) =>
    ofFile({ repeatedTransfer, repeatedCharge }).isRepeatSafe;
  expect(isSafe('replay', 'refused')).toBe(true);
  expect(isSafe('replay', 'unknown')).toBe(false);
  expect(isSafe('executed', 'replay')).toBe(false);
});

it('reads a state by id only where the bank has both routes', () => {
  expect(ofFile({ hasTransferById: true, hasChargeById: true }).hasStatusById).toBe(true);
  expect(ofFile({ hasTransferById: true }).hasStatusById).toBe(false);
});

it('takes what is known, and a setting before it', () => {
  const habits = bankHabits.parse({ pageCap: 37, visibilityBoundMs: 90_000 });
  const profile = bankProfileOf({ profile: 'generic', habits });
  expect(profile).toMatchObject({ statementPageSize: 37, visibilityBoundMs: 90_000 });
  const settings = { profile: 'generic', habits, visibilityBoundMs: 5_000 } as const;
  expect(bankProfileOf(settings).visibilityBoundMs).toBe(5_000);
});

it('refuses a file of another version, a habit that it does not know, and a value that none has', () => {
  const file = { version: 1, checkedAt: '2026-11-29T12:00:00.000Z', habits: { pageCap: 5 } };
  const isValid = (other: object) => bankProfileFile.safeParse({ ...file, ...other }).success;
  expect(isValid({})).toBe(true);
  expect(isValid({ version: 2 })).toBe(false);
  expect(isValid({ habits: { pageCapp: 5 } })).toBe(false);
  expect(isValid({ habits: { pageCap: 0 } })).toBe(false);
  expect(isValid({ checkedAt: 'yesterday' })).toBe(false);
  // Every habit that a file leaves out is unknown.
  const { habits } = bankProfileFile.parse({ ...file, habits: {} });
  expect(habitNames.filter((name) => habits[name] !== 'unknown')).toEqual([]);
});
