// The bank profile that a setting or an option names: one of two by its name, any other by the path
// of its file.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { bankProfileFile, type BankHabits } from '../../bank-contract/bank-profile.js';

/** `generic` is a real bank of which only the contract is assumed. */
export const bankProfileNames = ['sandbox', 'generic'] as const;
export type BankProfileName = (typeof bankProfileNames)[number];

export interface ChosenProfile {
  /** That of a file is `generic`: it describes a real bank. */
  name: BankProfileName;
  /** Null for those of the named profile. */
  habits: BankHabits | null;
}

/** A value of the setting `name`. */
export const bankProfile = (name: string) =>
  z.string().transform((value, context): ChosenProfile => {
    const named = bankProfileNames.find((one) => one === value);
    if (named) return { name: named, habits: null };
    try {
      if (/[/\\]|\.json$/.test(value))
        return { name: 'generic', habits: readBankProfile(value).habits };
    } catch (error) {
      context.addIssue(`${name} must name a bank profile: ${(error as Error).message}`);
      return z.NEVER;
    }
    const names = bankProfileNames.join(', ');
    context.addIssue(`${name} must be one of ${names}, or the path of a bank profile.`);
    return z.NEVER;
  });

/** Throws an error whose message names the file, and each field that is wrong. */
export function readBankProfile(path: string) {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const { code = 'it is not JSON' } = error as NodeJS.ErrnoException;
    throw new Error(`${path} cannot be read (${code}).`, { cause: error });
  }
  const parsed = bankProfileFile.safeParse(content);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new Error(`${path} is not valid: ${problems.join('; ')}.`);
}
