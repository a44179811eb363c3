// The settings of single sign-on: the identity provider, and which of its groups have which role.
import { z } from 'zod';
import { count, secret, urlOf, yesOrNo } from './setting-values.js';

/** The roles of people, as src/access/people/roles.ts has them. */
export const settableRoles = ['viewer', 'analyst', 'approver', 'admin'] as const;

/** What the people of a group may do: in every account, or in that with the slug. */
export interface GroupRole {
  group: string;
  role: (typeof settableRoles)[number];
  slug: string | null;
}

const groupRoleText = new RegExp(`^(.+)= ?(${settableRoles.join('|')})(?:@([a-z0-9-]+))?$`);
const groupRolesProblem =
  'OIDC_ROLES must be group=role or group=role@account, with ; between two. ' +
  `The roles are ${settableRoles.join(', ')}.`;

function readGroupRoles(text: string): GroupRole[] | null {
  const parts = text.split(';').map((part) => part.trim());
  const read = parts.filter(Boolean).flatMap((part) => {
    const [, group = '', role, slug = null] = groupRoleText.exec(part) ?? [];
    return role ? [{ group: group.trim(), role: role as GroupRole['role'], slug }] : [];
  });
  return read.length > 0 && read.length === parts.filter(Boolean).length ? read : null;
}

/** How a person who came by the provider confirms an action that needs it. */
export const ssoStepUps = ['provider', 'code'] as const;

export const ssoSchemas = {
  OIDC_ISSUER: urlOf('OIDC_ISSUER', /^https?:$/, 'https://login.example/realms/company').optional(),
  OIDC_CLIENT_ID: secret('OIDC_CLIENT_ID', 1).optional(),
  OIDC_CLIENT_SECRET: secret('OIDC_CLIENT_SECRET', 1).optional(),
  OIDC_SCOPES: z
    .string()
    .regex(/(^| )openid( |$)/, 'OIDC_SCOPES must be scopes with spaces between, openid among them.')
    .default('openid profile email'),
  OIDC_GROUPS_CLAIM: z.string().default('groups'),
  OIDC_ROLES: z
    .string()
    .refine((text) => readGroupRoles(text) !== null, groupRolesProblem)
    .transform((text) => readGroupRoles(text) ?? [])
    .optional(),
  OIDC_TRUST_EMAILS: yesOrNo('OIDC_TRUST_EMAILS').default(false),
  OIDC_STEP_UP: z
    .enum(ssoStepUps, `OIDC_STEP_UP must be one of ${ssoStepUps.join(', ')}.`)
    .default('provider'),
  OIDC_SESSION_MINUTES: count('OIDC_SESSION_MINUTES', 5).default(480),
} as const;

export interface SsoSettings {
  issuer: string;
  clientId: string;
  /** Null for a public client, which PKCE alone protects. */
  clientSecret: string | null;
  scopes: string;
  /** The name of a claim, or the way to one inside others: `realm_access.roles`. */
  groupsClaim: string;
  groupRoles: readonly GroupRole[];
  /** Whether an e-mail is taken for verified where the provider does not say so. */
  trustsEmails: boolean;
  stepUp: (typeof ssoStepUps)[number];
  sessionMinutes: number;
}

type SsoValues = z.output<z.ZodObject<typeof ssoSchemas>>;

/** Null: people sign in with a password and a code. Adds to `problems` what is wrong. */
export function readSso(
  values: SsoValues,
  isSandbox: boolean,
  problems: string[],
): SsoSettings | null {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_ROLES: groupRoles } = values;
  if (!issuer && !clientId && !groupRoles) return null;
  if (!issuer || !clientId || !groupRoles) {
    problems.push('OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_ROLES must be set together.');
    return null;
  }
  const { protocol, hostname } = new URL(issuer);
  if (protocol === 'http:' && !isSandbox && !/^(localhost|127\..*|\[::1\])$/.test(hostname))
    problems.push('OIDC_ISSUER must be an https URL: only the sandbox bank goes without.');
  return {
    ...{ issuer, clientId, groupRoles },
    clientSecret: values.OIDC_CLIENT_SECRET ?? null,
    scopes: values.OIDC_SCOPES,
    groupsClaim: values.OIDC_GROUPS_CLAIM,
    trustsEmails: values.OIDC_TRUST_EMAILS,
    stepUp: values.OIDC_STEP_UP,
    sessionMinutes: values.OIDC_SESSION_MINUTES,
  };
}
