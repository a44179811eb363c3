// Computes the changes at the bank after which each event type is registered at our address. Only
// registrations under our own address are created or changed. Foreign registrations are only
// reported.
import type { WebhookRegistration } from '../../bank-contract/webhook-registrations.js';
import { registeredEventTypes } from '../processing/webhook-body.js';
import { webhookKeyHeader } from '../inbox/authentication.js';

const loopbackNames = ['127.0.0.1', 'localhost', '[::1]'];

export type WantedRegistration = {
  eventType: string;
  url: string;
  authorizationScheme: 'HEADER';
  authorization: string;
};

export interface RegistrationPlan {
  create: WantedRegistration[];
  update: { id: string; wanted: WantedRegistration }[];
  /** Event types that are registered only at a foreign address. */
  foreign: string[];
}

export interface WebhookAddress {
  /** The service's public address, without a trailing slash. */
  publicUrl: string;
  slug: string;
  secret: string;
  /**
   * Whether any loopback address with our webhook path is ours. In development the address changes
   * with the port.
   */
  allowsLoopback: boolean;
}

export function planRegistrations(
  address: WebhookAddress,
  existing: readonly WebhookRegistration[],
): RegistrationPlan {
  const plan: RegistrationPlan = { create: [], update: [], foreign: [] };
  for (const eventType of registeredEventTypes) {
    const wanted = wantedRegistration(address, eventType);
    const same = existing.filter((registration) => registration.eventType === eventType);
    const ours = same.filter(({ url }) => isOurs(address, url));
    for (const { id } of ours.filter((registration) => !isUpToDate(registration, wanted)))
      plan.update.push({ id, wanted });
    if (ours.length > 0) continue;
    if (same.length > 0) plan.foreign.push(eventType);
    else plan.create.push(wanted);
  }
  return plan;
}

/** How an event type is registered at the bank. */
export interface RegisteredEventType {
  eventType: string;
  /** `foreign`: only at an address of another system, whose host is `host`. */
  state: 'registered' | 'outdated' | 'foreign' | 'missing';
  host: string | null;
}

/** Each event type with what the bank has registered for it. */
export function describeRegistrations(
  address: WebhookAddress,
  existing: readonly WebhookRegistration[],
): RegisteredEventType[] {
  const { create, update, foreign } = planRegistrations(address, existing);
  const missing = new Set(create.map(({ eventType }) => eventType));
  const outdated = new Set(update.map(({ wanted }) => wanted.eventType));
  return registeredEventTypes.map((eventType) => {
    const found = existing.find((registration) => registration.eventType === eventType);
    const host = found && URL.canParse(found.url) ? new URL(found.url).host : null;
    if (missing.has(eventType)) return { eventType, state: 'missing', host };
    if (foreign.includes(eventType)) return { eventType, state: 'foreign', host };
    return { eventType, state: outdated.has(eventType) ? 'outdated' : 'registered', host };
  });
}

function wantedRegistration(
  { publicUrl, slug, secret }: WebhookAddress,
  eventType: string,
): WantedRegistration {
  return {
    eventType,
    url: `${publicUrl}/webhooks/bank/${slug}/${eventType}`,
    authorizationScheme: 'HEADER',
    authorization: `${webhookKeyHeader}: ${secret}`,
  };
}

function isOurs({ publicUrl, slug, allowsLoopback }: WebhookAddress, url: string): boolean {
  const path = `/webhooks/bank/${slug}/`;
  if (url.startsWith(`${publicUrl}${path}`)) return true;
  if (!allowsLoopback || !URL.canParse(url)) return false;
  const { hostname, pathname } = new URL(url);
  return loopbackNames.includes(hostname) && pathname.startsWith(path);
}

/**
 * False if the bank does not return the registered secret: such a bank gets the secret again at
 * every check.
 */
function isUpToDate(existing: WebhookRegistration, wanted: WantedRegistration): boolean {
  return (
    existing.url === wanted.url &&
    existing.authorizationScheme?.toUpperCase() === wanted.authorizationScheme &&
    existing.authorization === wanted.authorization
  );
}

/** An address, other than ours, that has registrations with our path. */
interface OtherAddress {
  url: string;
  /** The bank shows our secret there, or none. */
  hasSecret: boolean;
  isLoopback: boolean;
}

export function addressesElsewhere(
  { publicUrl, slug, secret }: WebhookAddress,
  existing: readonly WebhookRegistration[],
): OtherAddress[] {
  const found = new Map<string, OtherAddress>();
  for (const { url: registered, authorization = null, eventType } of existing) {
    const path = `/webhooks/bank/${slug}/${eventType}`;
    const url = registered.slice(0, -path.length);
    if (!registered.endsWith(path) || url === publicUrl) continue;
    const isSame = authorization === null || authorization === `${webhookKeyHeader}: ${secret}`;
    const hasSecret = isSame || found.get(url)?.hasSecret === true;
    found.set(url, { url, hasSecret, isLoopback: isLoopback(url) });
  }
  return [...found.values()];
}

/**
 * Of these addresses, those of another service. A loopback address changes with each start, so one
 * that is known was our own, unless another service answers there now. Elsewhere, the first look
 * under a new address of ours may be that of a copy: it reports known addresses too.
 */
export function addressesOfOthers(
  publicUrl: string,
  known: readonly string[],
  elsewhere: readonly OtherAddress[],
): string[] {
  const isMoved = known.length > 0 && !known.includes(publicUrl);
  return elsewhere.flatMap(({ url, hasSecret, isLoopback: mayBeOurs }) => {
    const isOther = mayBeOurs
      ? known.length > 0 && !known.includes(url)
      : isMoved || !known.includes(url);
    return hasSecret && isOther ? [url] : [];
  });
}

function isLoopback(url: string): boolean {
  return URL.canParse(url) && loopbackNames.includes(new URL(url).hostname);
}
