// A request to the console, and what its page and their elements ask of it and of its person.
import { createContext, h, type ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import { render } from 'preact-render-to-string';
import type { Caller } from '../access/accounts/api-keys.service.js';
import { personActor } from '../access/accounts/actor.js';
import { scopes, type Scope } from '../access/accounts/scope.decorator.js';
import type { Action } from '../access/people/roles.js';
import type { Session } from '../access/people/sessions.service.js';
import { AppError, invariant } from '../platform/errors.js';
import { readUuid } from '../platform/http/listing.js';
import type { FormFile } from '../platform/files/multipart-form.js';
import type { Translate } from './texts.js';
import type { Language } from './texts/languages.js';
import { typedDay } from './typed-day.js';

const maxReasonLength = 500;

/** A request to the console, with the person who sends it. */
export interface Visit {
  path: string;
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  cookies: ReadonlyMap<string, string>;
  /**
   * The page of the console on which the form stood at first: as the browser says, or as the form
   * says that is shown again after it was refused.
   */
  cameFrom: string;
  /** Whether a form was sent. The answer has an address that cannot be opened. */
  isForm: boolean;
  form: URLSearchParams;
  /** Why the form was refused: its page shows it, beside what was typed. */
  problem: AppError | null;
  /** The file of a form that brings one. Whatever its handler leaves unread is dropped. */
  file: FormFile | null;
  language: Language;
  t: Translate;
  /** Date and time in São Paulo, as the reader writes them; a dash for none. */
  time: (at: Date | null | undefined) => string;
  /** Of the scripts of this response. */
  nonce: string;
  /** The identity provider's, to which the form of a sign-out leads; empty without one. */
  ssoSite: string;
  /** Whether the person confirms actions there, and not with a code. */
  confirmsAtProvider: boolean;
  session: Session | null;
  /** Throws, as the next two do, on a page that is of no account. */
  readonly accountId: number;
  /** The address of a page of the account: `charges/7` → `/console/accounts/main/charges/7`. */
  to: (page: string) => string;
  /** Whether the person's role in the account allows the action. */
  may: (action: Action) => boolean;
  /** What forms must send; empty without a session. */
  csrfToken: string;
  address: string;
  /** Whether a proxy has sent the request for somebody else. */
  isForwarded: boolean;
  userAgent: string;
  /** Whether a part of an open page is asked for again. That is no use of the session. */
  isRefresh: boolean;
}

/** The scopes that an action of a role gives, as if an API key had them. */
const scopesOfActions: Partial<Record<Action, readonly Scope[]>> = {
  view: ['read'],
  'see personal data': ['personal-data'],
  'resolve breaks': ['reconcile'],
  'request payments': ['charge', 'transfer', 'pay', 'refund'],
  'manage expected payments': ['expect'],
  'manage rules': ['reconcile'],
  'send again': ['webhooks'],
  'acknowledge alerts': ['alerts'],
  'approve payments': ['approve'],
  'manage connections': ['webhooks', 'alerts'],
};

const VisitContext = createContext<Visit | null>(null);

/** The request that the page answers, for the elements of the page. */
export function useVisit(): Visit {
  const visit = useContext(VisitContext);
  invariant(visit, 'an element is rendered for no visit');
  return visit;
}

/** Elements for another request: of another address, or without what was typed. */
export function ForVisit({ visit, children }: { visit: Visit; children: ComponentChildren }) {
  return h(VisitContext.Provider, { value: visit }, children);
}

/** Elements as text. */
export function renderFor(visit: Visit, element: ComponentChildren): string {
  return render(h(ForVisit, { visit, children: element }));
}

/** Throws for a page that needs no session: it has no person. */
export function sessionOf({ session }: Visit): Session {
  invariant(session?.isComplete, 'the page needs a session');
  return session;
}

/** The account of the page, with the person's role in it. */
export function accountOf({ session }: Visit): NonNullable<Session['account']> {
  invariant(session?.account, 'the page is of an account');
  return session.account;
}

/** The person as a caller of the services that the API calls. */
export function callerOf(visit: Visit): Caller {
  const granted = Object.entries(scopesOfActions)
    .filter(([action]) => visit.may(action as Action))
    .flatMap(([, given]) => given);
  return {
    accountId: visit.accountId,
    actor: personActor(sessionOf(visit).operatorId),
    scopes: scopes.filter((scope) => granted.includes(scope)),
    weight: 1,
  };
}

/** An id of the path. Throws `not_found` for what cannot be one. */
export function pathId({ params }: Visit, name = 'id'): string {
  return readUuid(params[name] ?? '');
}

/** The page that the person sees, or the one on which its form stood: an address that opens. */
export function openAddress({ isForm, cameFrom, path, query }: Visit): string {
  if (isForm) return cameFrom;
  return query.size > 0 ? `${path}?${query.toString()}` : path;
}

/** Why the person does what the form asks for. Throws `validation_failed` without a reason. */
export function requireReason(visit: Visit): string {
  const reason = typed(visit, 'reason').slice(0, maxReasonLength);
  if (reason === '') throw new AppError('validation_failed');
  return reason;
}

/** The text of a field of the form, without control characters; '' for a field that is missing. */
export function typed({ form }: Visit, name: string): string {
  // PostgreSQL stores no zero byte.
  return (form.get(name) ?? '').replace(/\p{Cc}/gu, ' ').trim();
}

/** What the audit may hold of a field: a word or a day; a dash for anything else. */
export function auditedWord({ form }: Visit, name: string): string {
  return /^[\w-]{1,20}$/.exec(typedDay(form.get(name) ?? ''))?.[0] ?? '-';
}
