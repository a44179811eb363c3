// What must change at the bank so that our webhooks are registered there, each kind once. Only registrations
// under our own address are made or changed; what others registered is told, never touched.
import type { WebhookRegistration } from '../contract/webhook-registrations.js';
import { registeredEventTypes } from './webhook-body.js';
import { proofHeader } from './authentication.js';

export type WantedRegistration = {
  eventType: string;
  url: string;
  authorizationScheme: 'HEADER';
  authorization: string;
};

export interface RegistrationPlan {
  create: WantedRegistration[];
  update: { id: string; wanted: WantedRegistration }[];
  /** Kinds that somebody else's address holds. */
  foreign: string[];
}

export interface WebhookAddress {
  /** Our address, without a slash at its end. */
  publicUrl: string;
  slug: string;
  secret: string;
  /** In development our address changes with the port: any loopback address that leads to the door is ours. */
  isOnLoopback: boolean;
}

export function planRegistrations(
  door: WebhookAddress,
  existing: readonly WebhookRegistration[],
): RegistrationPlan {
  const plan: RegistrationPlan = { create: [], update: [], foreign: [] };
  for (const eventType of registeredEventTypes) {
    const wanted = wantedFor(door, eventType);
    const same = existing.filter((registration) => registration.eventType === eventType);
    const ours = same.filter(({ url }) => isOurs(door, url));
    for (const { id } of ours.filter((one) => !isAsWanted(one, wanted)))
      plan.update.push({ id, wanted });
    if (ours.length > 0) continue;
    if (same.length > 0) plan.foreign.push(eventType);
    else plan.create.push(wanted);
  }
  return plan;
}

function wantedFor({ publicUrl, slug, secret }: WebhookAddress, eventType: string): WantedRegistration {
  return {
    eventType,
    url: `${publicUrl}/webhooks/bank/${slug}/${eventType}`,
    authorizationScheme: 'HEADER',
    authorization: `${proofHeader}: ${secret}`,
  };
}

function isOurs({ publicUrl, slug, isOnLoopback }: WebhookAddress, url: string): boolean {
  const path = `/webhooks/bank/${slug}/`;
  if (url.startsWith(`${publicUrl}${path}`)) return true;
  if (!isOnLoopback || !URL.canParse(url)) return false;
  const { hostname, pathname } = new URL(url);
  return ['127.0.0.1', 'localhost', '[::1]'].includes(hostname) && pathname.startsWith(path);
}

/** A bank that does not show what it was given is given it again. */
function isAsWanted(existing: WebhookRegistration, wanted: WantedRegistration): boolean {
  return (
    existing.url === wanted.url &&
    existing.authorizationScheme.toUpperCase() === wanted.authorizationScheme &&
    existing.authorization === wanted.authorization
  );
}
