// Registration of webhooks at the bank. The contract only says that notifications exist. The routes
// and fields are those publicly known of the real service. A registration has one event type and
// one URL.
import { z } from 'zod';
import { route } from './route.js';
import {
  answeredId,
  filledText,
  text,
  timestamp,
  unneeded,
  unneededText,
  nameSchemas,
  ofTheBank,
} from './wire.js';

/**
 * How the bank authenticates its webhooks. `authorization` is "name: value" for HEADER, and
 * base64(login:password) for BASIC.
 */
export const authorizationSchemes = ['HEADER', 'BEARER', 'BASIC', 'NONE'] as const;

// Current HTTP clients do not send a user and a password from a URL, so a URL must not have them.
// The scheme and its secret are separate fields.
const registrationUrl = text(2000).refine((value) => {
  if (value.trim() !== value || !URL.canParse(value)) return false;
  const { protocol, username, password, hostname } = new URL(value);
  return /^https?:$/.test(protocol) && !username && !password && hostname.length <= 256;
}, 'Must be an http or https URL without a user and password.');

const registrationRequest = z.looseObject({
  eventType: filledText(100).describe('Such as `CHARGE_PAID`; the bank refuses unknown ones.'),
  url: registrationUrl,
  authorizationScheme: z.enum(authorizationSchemes),
  authorization: text(2000).nullish(),
});

export const webhookRegistration = z.looseObject({
  id: answeredId,
  eventType: z.string(),
  url: z.string(),
  authorizationScheme: unneededText,
  authorization: unneededText,
  createdAt: unneeded(timestamp),
  updatedAt: unneeded(timestamp),
});

/** The response to a change is publicly known to be text, too. Nothing of it is needed. */
const changedRegistration = {
  response: unneeded(webhookRegistration),
  mayRespondText: true,
} as const;

export type WebhookRegistration = z.output<typeof webhookRegistration>;

const registrationRoute = {
  chapter: 'Webhooks',
  authentication: 'api-key',
  isBeyondContract: true,
} as const;
const path = '/baas/api/v1/webhooks';
const oneRegistration = {
  ...registrationRoute,
  path: `${path}/{id}`,
  params: z.object({ id: text(100) }),
} as const;

export const createWebhookRegistration = route({
  ...registrationRoute,
  name: 'createWebhookRegistration',
  summary: 'Registers a URL for one event type.',
  method: 'POST',
  path,
  body: registrationRequest,
  ...changedRegistration,
});

export const listWebhookRegistrations = route({
  ...registrationRoute,
  name: 'listWebhookRegistrations',
  summary: 'Lists the registrations of the account.',
  method: 'GET',
  path,
  /** Null stands for one that cannot be read. */
  response: z.array(unneeded(webhookRegistration)),
});

export const getWebhookRegistration = route({
  ...oneRegistration,
  name: 'getWebhookRegistration',
  summary: 'Returns a registration.',
  method: 'GET',
  response: unneeded(webhookRegistration),
});

export const updateWebhookRegistration = route({
  ...oneRegistration,
  name: 'updateWebhookRegistration',
  summary: 'Changes a registration.',
  method: 'PATCH',
  body: registrationRequest.partial(),
  ...changedRegistration,
});

export const deleteWebhookRegistration = route({
  ...oneRegistration,
  name: 'deleteWebhookRegistration',
  summary: 'Removes a registration.',
  method: 'DELETE',
  response: ofTheBank,
});

nameSchemas({
  WebhookRegistrationRequest: registrationRequest,
  WebhookRegistration: webhookRegistration,
});
