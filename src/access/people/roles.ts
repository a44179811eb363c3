// What each role may do, declared once: the console and the approvals ask this table.
import { settableRoles } from '../../platform/settings/sso-settings.js';

/** Each role may do what the earlier ones may. */
export const roleNames = settableRoles;
export type PersonRole = (typeof roleNames)[number];

/** Actions in an account, and the least role that may do each. */
export const leastRoles = {
  view: 'viewer',
  'see personal data': 'analyst',
  'resolve breaks': 'analyst',
  'request payments': 'analyst',
  'manage expected payments': 'analyst',
  'manage rules': 'analyst',
  'take files': 'analyst',
  'upload files': 'analyst',
  'send again': 'analyst',
  'acknowledge alerts': 'analyst',
  'play the payer': 'analyst',
  'see the audit': 'analyst',
  'prepare months': 'analyst',
  'approve payments': 'approver',
  'close months': 'approver',
  'manage month limits': 'admin',
  'manage payment rules': 'admin',
  'manage connections': 'admin',
  'manage keys': 'admin',
  'manage people': 'admin',
} as const satisfies Record<string, PersonRole>;
export type Action = keyof typeof leastRoles;

/** Actions for which a code of the authenticator must have been given within five minutes. */
export const stepUpActions: readonly Action[] = [
  'approve payments',
  'close months',
  'manage month limits',
  'manage payment rules',
  'manage connections',
  'manage keys',
  'manage people',
];

/** Whether a person with this role may do it. Without a role, nothing is allowed. */
export function isAllowed(role: PersonRole | null, action: Action): boolean {
  if (role === null) return false;
  return roleNames.indexOf(role) >= roleNames.indexOf(leastRoles[action]);
}

/** The higher one: a person has the role of the account, or the one of every account. */
export function higherRole(one: PersonRole | null, other: PersonRole | null): PersonRole | null {
  const rank = (role: PersonRole | null) => (role === null ? -1 : roleNames.indexOf(role));
  return rank(one) >= rank(other) ? one : other;
}
