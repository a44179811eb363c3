// The actions that the audit records, in a closed list: the console has a text for each.
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
] as const;
export type AuditedActionName = (typeof auditedActions)[number];

/** What an action was done to. */
export const auditedSubjects = ['person', 'session'] as const;
export type AuditedSubject = `${(typeof auditedSubjects)[number]} ${string}`;
