// What `concilia doctor` reports: one finding for each question, with what to do where it is wrong.

export type Subject =
  | 'settings'
  | 'database'
  | 'credentials'
  | 'queue'
  | 'disk'
  | 'bank'
  | 'webhook address'
  | 'clocks';

export interface SetUpFinding {
  subject: Subject;
  /** Only `failed` makes the exit code 1. `not_checked`: what it needs is wrong, or not there. */
  state: 'ok' | 'warning' | 'failed' | 'not_checked';
  message: string;
  /** What to do; null where nothing needs to be done. */
  advice: string | null;
}

export const passed = (subject: Subject, message: string): SetUpFinding => ({
  ...{ subject, state: 'ok', message, advice: null },
});
export const failed = (subject: Subject, message: string, advice: string): SetUpFinding => ({
  ...{ subject, state: 'failed', message, advice },
});
export const warned = (subject: Subject, message: string, advice: string): SetUpFinding => ({
  ...{ subject, state: 'warning', message, advice },
});
export const unchecked = (subject: Subject, message: string): SetUpFinding => ({
  ...{ subject, state: 'not_checked', message, advice: null },
});

const marks = { ok: '✓', warning: '!', failed: '✗', not_checked: '-' } as const;

export function describeFinding({ subject, state, message, advice }: SetUpFinding): string[] {
  return [`${marks[state]} ${subject}: ${message}`, ...(advice ? [`    → ${advice}`] : [])];
}
