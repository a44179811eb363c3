// The actions that the audit records, in a closed list: the console has a text for each. An action
// is recorded before it is done, or in its transaction; `refused` and `failed` name the entry of an
// action that did not succeed.
import { roleNames } from './roles.js';

export const auditedActions = [
  'create first person',
  'invite',
  'accept invitation',
  ...roleNames.map((role) => `give role ${role}` as const),
  'take role',
  'disable',
  'reset',
  'sign in',
  'sign in by recovery',
  'set up authenticator',
  'step up',
  'change password',
  'sign out',
  'end session',
  'play the payer',
  'change the sandbox bank',
  'upload file',
  'check file',
  'take file',
  'approve upload',
  'decline upload',
  'add account',
  'change account',
  'change bank details',
  'change credentials',
  'change account mode',
  'create key',
  'rotate key',
  'revoke key',
  'create first charge',
  'pay first charge',
  'approve payment',
  'decline payment',
  'change approval policy',
  'change payment controls',
  'add beneficiary',
  'remove beneficiary',
  'read lines again',
  'refused',
  'failed',
  'link break',
  'accept break',
  'refund break',
  'resend break',
  'reopen break',
  'note break',
  'comment on break',
  'accept breaks',
  'refund breaks',
  'reopen breaks',
  'note breaks',
  'declare rule',
  'declare rule version',
  'reorder rule',
  'try rule',
  'activate rule',
  'retire rule',
  'declare expected payment',
  'amend expected payment',
  'cancel expected payment',
] as const;
export type AuditedActionName = (typeof auditedActions)[number];

/** What an action was done to. */
export const auditedSubjects = ['person', 'session', 'entry', 'account'] as const;
export const auditedSubjects = [
  'person',
  'session',
  'entry',
  'file',
  'upload',
  'account',
  'key',
  'charge',
  'operation',
  'account',
  'beneficiary',
] as const;
export const auditedSubjects = ['person', 'session', 'entry', 'break', 'breaks'] as const;
export const auditedSubjects = ['person', 'session', 'entry', 'rule', 'expected_payment'] as const;
export const auditedSubjects = ['person', 'session', 'entry', 'statement'] as const;
export type AuditedSubject = `${(typeof auditedSubjects)[number]} ${string}`;
