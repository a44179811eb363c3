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
  'refused',
  'failed',
  'process webhook again',
  'discard webhook',
  'process webhooks again',
  'discard webhooks',
  'register webhooks',
  'create endpoint',
  'change endpoint',
  'rotate endpoint secret',
  'enable endpoint',
  'disable endpoint',
  'remove endpoint',
  'send test event',
  'replay deliveries',
  'replay delivery',
  'acknowledge alert',
  'acknowledge alerts',
  'create alert rule',
  'change alert rule',
  'remove alert rule',
  'create alert channel',
  'change alert channel',
  'remove alert channel',
  'send test message',
  'replay alert message',
] as const;
export type AuditedActionName = (typeof auditedActions)[number];

/** What an action was done to. */
export const auditedSubjects = [
  'person',
  'session',
  'entry',
  'webhook',
  'webhooks',
  'registrations',
  'endpoint',
  'delivery',
  'alert',
  'alert-rule',
  'alert-channel',
  'alert-message',
] as const;
export type AuditedSubject = `${(typeof auditedSubjects)[number]} ${string}`;
