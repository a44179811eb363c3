// The `/v1` routes of webhook endpoints, events and deliveries.
import { z } from 'zod';
import { route } from '../bank-contract/route.js';
import {
  bigInteger,
  filledText,
  instant,
  integer,
  queryInteger,
  text,
  integerBetween,
  nameSchemas,
  describeAs,
} from '../bank-contract/wire.js';
import { DeliveryState } from '../generated/service/enums.js';
import { isUuid, listOf, listQuery, orderedListQuery } from '../platform/http/listing.js';
import { eventFields, eventForms } from './event-fields.schema.js';
import { eventTypes } from './event-types.js';

const eventType = z.enum(eventTypes);
const base = { chapter: 'Notifications', authentication: 'api-key' } as const;
const params = z.object({ id: text(100) });

export const endpointView = z.object({
  id: z.string(),
  url: z.string(),
  eventTypes: z.array(z.string()).describe('Empty for all event types.'),
  description: z.string().nullable(),
  isEnabled: z.boolean(),
  includesPersonalData: z.boolean().describe('Whether its events show who paid unmasked.'),
  /** When the secret before the last rotation ends; null without one. */
  previousSecretUntil: instant.nullable(),
  createdAt: instant,
  updatedAt: instant,
});

const endpointWithSecretView = endpointView.extend({ secret: z.string() });

const endpointFields = z.object({
  url: filledText(2000),
  eventTypes: z.array(eventType).max(eventTypes.length).default([]),
  description: text(200).nullish(),
  isEnabled: z.boolean().default(true),
  includesPersonalData: z.boolean().default(false).describe('Needs the scope `personal-data`.'),
});

export const createEndpoint = route({
  ...base,
  name: 'createWebhookEndpoint',
  summary:
    'Creates a webhook endpoint. Only this response contains its secret. 409 with the code ' +
    '`endpoint_limit` where the account has as many endpoints as the settings allow.',
  method: 'POST',
  path: '/v1/webhook-endpoints',
  idempotencyKey: 'accepted',
  successStatus: 201,
  body: endpointFields,
  response: endpointWithSecretView,
});

export const listEndpoints = route({
  ...base,
  name: 'listWebhookEndpoints',
  summary: 'Lists webhook endpoints, newest first.',
  method: 'GET',
  path: '/v1/webhook-endpoints',
  query: listQuery({}),
  response: listOf(endpointView),
});

export const getEndpoint = route({
  ...base,
  name: 'getWebhookEndpoint',
  summary: 'Returns one webhook endpoint.',
  method: 'GET',
  path: '/v1/webhook-endpoints/{id}',
  params,
  response: endpointView,
});

export const updateEndpoint = route({
  ...base,
  name: 'updateWebhookEndpoint',
  summary:
    'Changes a webhook endpoint. Omitted fields stay unchanged. An endpoint that includes personal ' +
    'data is changed under the scope `personal-data` only; without it, the request must end that.',
  method: 'PATCH',
  path: '/v1/webhook-endpoints/{id}',
  idempotencyKey: 'accepted',
  params,
  body: z.object({
    url: filledText(2000).optional(),
    eventTypes: z.array(eventType).max(eventTypes.length).optional(),
    description: text(200).nullish(),
    isEnabled: z.boolean().optional(),
    includesPersonalData: z.boolean().optional(),
  }),
  response: endpointView,
});

export const deleteEndpoint = route({
  ...base,
  name: 'deleteWebhookEndpoint',
  summary:
    'Removes a webhook endpoint. Its pending deliveries are dead with the error ' +
    '`endpoint_removed`; each can be replayed to another endpoint.',
  method: 'DELETE',
  path: '/v1/webhook-endpoints/{id}',
  idempotencyKey: 'accepted',
  params,
  response: z.object({
    id: z.string(),
    deadDeliveries: integer.describe('How many deliveries were pending, and are dead now.'),
  }),
});

const maxOverlapSeconds = 7 * 86_400;

export const rotateEndpointSecret = route({
  ...base,
  name: 'rotateWebhookEndpointSecret',
  summary:
    'Replaces the secret of a webhook endpoint. Only this response contains the new one. Until ' +
    'the overlap ends (a day, unless `overlapSeconds` is given), requests are signed with both ' +
    'secrets. 409 with the code `secret_overlap` while an earlier overlap lasts, unless ' +
    '`overlapSeconds` is 0: then only the new secret is valid at once.',
  method: 'POST',
  path: '/v1/webhook-endpoints/{id}/rotate-secret',
  idempotencyKey: 'accepted',
  params,
  body: z
    .object({
      overlapSeconds: integerBetween(0, maxOverlapSeconds).optional(),
    })
    .optional(),
  response: endpointWithSecretView,
});

export const testEndpoint = route({
  ...base,
  name: 'testWebhookEndpoint',
  summary:
    'Sends a signed event of the type `endpoint.test` to a webhook endpoint at once, also while ' +
    'it is disabled, and returns how the endpoint responded. The event is sent once and stored ' +
    'nowhere: it has no position and is not in `GET /v1/events`. 429 for another test of the ' +
    'endpoint within ten seconds, and while two tests of the account are under way.',
  method: 'POST',
  path: '/v1/webhook-endpoints/{id}/test',
  idempotencyKey: 'accepted',
  params,
  response: z.object({
    eventId: z.string().describe('The `webhook-id` of the request.'),
    status: integer.nullable().describe('The HTTP status of the response; null without one.'),
    error: z.string().nullable().describe('Null for 2xx; otherwise as `lastError` of a delivery.'),
    durationMs: integer,
  }),
});

const listedEvent = z.object({
  id: z.string(),
  position: bigInteger.describe('1, 2, 3 … of the account.'),
  type: eventType,
  ...eventFields,
  createdAt: instant,
  data: z.unknown().describe('With the `counterparty` of the line that it reports.'),
});
const shownEvent: z.ZodType = z.discriminatedUnion(
  'type',
  eventForms.map(([data, types]) => listedEvent.extend({ type: z.enum(types), data })) as never,
);
describeAs(listedEvent, shownEvent);

export const listEvents = route({
  ...base,
  name: 'listEvents',
  summary:
    'Lists events in the order in which they were committed, newest first. With `after`, oldest ' +
    'first from that position on: a caller that continues after its last event misses none. 410 ' +
    'with the code `events_deleted` when events after that position are deleted.',
  method: 'GET',
  path: '/v1/events',
  query: listQuery({
    type: eventType.optional(),
    /** The position of the last event that the caller has; 0 for none. */
    after: queryInteger(0).optional(),
  }),
  response: listOf(listedEvent),
});

const endpointId = z.uuid('Must be the id of a webhook endpoint.');

const deliveryView = z.object({
  id: z.string(),
  eventId: z.string(),
  endpointId: z.string(),
  state: z.enum(DeliveryState),
  attempts: integer,
  nextAttemptAt: instant.nullable(),
  lastStatus: integer.nullable(),
  lastError: z.string().nullable(),
  createdAt: instant,
  deliveredAt: instant.nullable(),
});

export const replayDelivery = route({
  ...base,
  name: 'replayDelivery',
  summary:
    'Delivers an event once more, whether the delivery succeeded or is dead: to its endpoint, or ' +
    'to the one that `endpointId` names.',
  method: 'POST',
  path: '/v1/deliveries/{id}/replay',
  idempotencyKey: 'accepted',
  successStatus: 202,
  params,
  body: z.object({ endpointId: endpointId.optional() }).optional(),
  response: deliveryView,
});

/** How many deliveries one request makes due. */
export const maxReplayed = 10_000;

export const replayDeliveries = route({
  ...base,
  name: 'replayDeliveries',
  summary:
    'Delivers many events once more to an endpoint: its dead deliveries, the newest first; with ' +
    '`after`, every event after that position, also those that it never got. At most 10,000 at ' +
    'a time: repeat with `after` of `lastPosition` until `isComplete`. Events keep their ids.',
  method: 'POST',
  path: '/v1/webhook-endpoints/{id}/replay',
  idempotencyKey: 'accepted',
  successStatus: 202,
  params,
  body: z
    .strictObject({
      type: eventType.optional(),
      /** The position of the last event that the receiver has; 0 for none. */
      after: bigInteger.refine((position) => position >= 0n, 'Must be from 0.').optional(),
    })
    .optional(),
  response: z.object({
    replayed: integer.describe('How many deliveries are due, with those that were pending before.'),
    lastPosition: bigInteger.nullable().describe('The last one examined; null without `after`.'),
    isComplete: z.boolean(),
  }),
});

/** The order of the list: an event's id increases with time, a delivery's own id is random. */
export interface DeliveryPlace {
  eventId: string;
  endpointId: string;
}

export function placeOf({ eventId, endpointId }: DeliveryPlace): string {
  return `${eventId} ${endpointId}`;
}

/** Whether a text is what `placeOf` writes. */
export function isDeliveryPlace(text: string): boolean {
  const ids = text.split(' ');
  return ids.length === 2 && ids.every(isUuid);
}

export const listDeliveries = route({
  ...base,
  name: 'listDeliveries',
  summary: 'Lists deliveries of events to webhook endpoints, with their state, newest first.',
  method: 'GET',
  path: '/v1/deliveries',
  query: orderedListQuery({
    state: z.enum(DeliveryState).optional(),
    endpointId: endpointId.optional(),
    eventId: z.uuid('Must be the id of an event.').optional(),
    eventType: eventType.optional(),
  }),
  response: listOf(deliveryView),
});

nameSchemas({
  EventType: eventType,
  Event: shownEvent,
  WebhookEndpoint: endpointView,
  WebhookEndpointWithSecret: endpointWithSecretView,
  Delivery: deliveryView,
});
