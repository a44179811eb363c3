// What the claims of an identity provider say of a person. Providers differ in where they say it.
import type { GroupRole } from '../../platform/settings/sso-settings.js';
import { readEmail } from './email.js';
import { higherRole, type PersonRole } from './roles.js';

export type Claims = Readonly<Record<string, unknown>>;

export interface SsoIdentity {
  issuer: string;
  /** Identifies the person at the issuer, for ever. */
  subject: string;
  /** Null for none, or for a text that is no e-mail. */
  email: string | null;
  isEmailVerified: boolean;
  /** By what others know the person who has no e-mail. */
  name: string;
  groups: string[];
  /** When the person last gave their credentials, in seconds; null where the provider is silent. */
  authenticatedAt: number | null;
}

/** Whether the ID token leaves something to the userinfo endpoint. */
export function lacksClaims(claims: Claims, groupsClaim: string): boolean {
  const isComplete = claims.email !== undefined && claims.email_verified !== undefined;
  return !isComplete || find(claims, groupsClaim) === undefined;
}

/** `more`: of the userinfo endpoint. The signed claims of the ID token win. */
export function readIdentity(
  claims: Claims & { iss: string; sub: string },
  more: Claims,
  { groupsClaim, trustsEmails }: { groupsClaim: string; trustsEmails: boolean },
): SsoIdentity {
  // Whether an e-mail is verified is said beside it, and not of another one.
  const ofEmail = claims.email_verified === undefined && more.email !== undefined ? more : claims;
  const verified = ofEmail.email_verified;
  const names = [claims, more]
    .flatMap((of) => [of.preferred_username, of.upn, of.name])
    .filter((one): one is string => typeof one === 'string' && one !== '');
  const groups = find(claims, groupsClaim) ?? find(more, groupsClaim);
  const email = typeof ofEmail.email === 'string' ? readEmail(ofEmail.email) : null;
  return {
    ...{ issuer: claims.iss, subject: claims.sub, email },
    isEmailVerified: verified === true || verified === 'true' || (trustsEmails && email !== null),
    name: (names[0] ?? claims.sub).slice(0, 200),
    groups: [groups].flat().filter((group) => typeof group === 'string'),
    authenticatedAt: typeof claims.auth_time === 'number' ? claims.auth_time : null,
  };
}

/** A claim by its name, which may have points, or by the way to it inside other claims. */
function find(claims: Claims, path: string): unknown {
  const ownOf = (value: unknown, name: string) =>
    typeof value === 'object' && value !== null && Object.hasOwn(value, name)
      ? (value as Claims)[name]
      : undefined;
  return ownOf(claims, path) ?? path.split('.').reduce<unknown>(ownOf, claims);
}

/** The highest role of the groups, by slug; `null` is every account. Other groups give none. */
export function rolesOf(
  groups: readonly string[],
  groupRoles: readonly GroupRole[],
): Map<string | null, PersonRole> {
  const roles = new Map<string | null, PersonRole>();
  for (const { group, role, slug } of groupRoles) {
    if (!groups.includes(group)) continue;
    roles.set(slug, higherRole(roles.get(slug) ?? null, role) ?? role);
  }
  return roles;
}
