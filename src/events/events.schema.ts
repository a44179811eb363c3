// Webhook endpoints, events and deliveries as business systems see them.
import { z } from 'zod';
import { route } from '../contract/route.js';
import { filledText, integer, text, timestamp } from '../contract/wire.js';
import { listOf, listQuery } from '../platform/listing.js';
import { eventTypes } from './events.service.js';

const eventType = z.enum(eventTypes, `Must be one of ${eventTypes.join(', ')}.`);
const base = { chapter: 'Notifications', authentication: 'api-key' } as const;
const params = z.object({ id: text(100) });

export const endpointView = z.object({
  id: z.string(),
  url: z.string(),
  /** Empty means all. */
  eventTypes: z.array(z.string()),
  description: z.string().nullable(),
  isEnabled: z.boolean(),
  createdAt: timestamp,
  updatedAt: timestamp,
});

const endpointFields = z.object({
  url: filledText(2000),
  eventTypes: z.array(eventType).max(eventTypes.length).default([]),
  description: text(200).nullish(),
  isEnabled: z.boolean('Must be true or false.').default(true),
});

export const createEndpoint = route({
  ...base,
  name: 'createWebhookEndpoint',
  summary: 'Registers an address for events; the answer tells its secret, once.',
  method: 'POST',
  path: '/v1/webhook-endpoints',
  idempotencyKey: 'accepted',
  successStatus: 201,
  body: endpointFields,
  response: endpointView.extend({ secret: z.string() }),
});

export const listEndpoints = route({
  ...base,
  name: 'listWebhookEndpoints',
  summary: 'The addresses that get events, newest first.',
  method: 'GET',
  path: '/v1/webhook-endpoints',
  query: listQuery({}),
  response: listOf(endpointView),
});

export const getEndpoint = route({
  ...base,
  name: 'getWebhookEndpoint',
  summary: 'One address.',
  method: 'GET',
  path: '/v1/webhook-endpoints/{id}',
  params,
  response: endpointView,
});

export const updateEndpoint = route({
  ...base,
  name: 'updateWebhookEndpoint',
  summary: 'Changes an address; what is left out stays.',
  method: 'PATCH',
  path: '/v1/webhook-endpoints/{id}',
  idempotencyKey: 'accepted',
  params,
  body: z.object({
    url: filledText(2000).optional(),
    eventTypes: z.array(eventType).max(eventTypes.length).optional(),
    description: text(200).nullish(),
    isEnabled: z.boolean('Must be true or false.').optional(),
  }),
  response: endpointView,
});

export const deleteEndpoint = route({
  ...base,
  name: 'deleteWebhookEndpoint',
  summary: 'Removes an address; what it was still to get is not sent.',
  method: 'DELETE',
  path: '/v1/webhook-endpoints/{id}',
  idempotencyKey: 'accepted',
  params,
  response: z.object({ id: z.string() }),
});

export const listEvents = route({
  ...base,
  name: 'listEvents',
  summary: 'What happened, newest first.',
  method: 'GET',
  path: '/v1/events',
  query: listQuery({ type: eventType.optional() }),
  response: listOf(
    z.object({ id: z.string(), type: z.string(), createdAt: timestamp, data: z.unknown() }),
  ),
});

const deliveryStates = ['pending', 'delivered', 'dead'] as const;

const deliveryView = z.object({
  id: z.string(),
  eventId: z.string(),
  endpointId: z.string(),
  state: z.enum(deliveryStates),
  attempts: integer,
  nextAttemptAt: timestamp.nullable(),
  lastStatus: integer.nullable(),
  lastError: z.string().nullable(),
  createdAt: timestamp,
  deliveredAt: timestamp.nullable(),
});

export const replayDelivery = route({
  ...base,
  name: 'replayDelivery',
  summary: 'Sends an event to its address once more, whether it arrived or was given up.',
  method: 'POST',
  path: '/v1/deliveries/{id}/replay',
  idempotencyKey: 'accepted',
  successStatus: 202,
  params,
  response: deliveryView,
});

export const listDeliveries = route({
  ...base,
  name: 'listDeliveries',
  summary: 'Which event went to which address, and how it fared, newest first.',
  method: 'GET',
  path: '/v1/deliveries',
  query: listQuery({
    state: z.enum(deliveryStates).optional(),
    endpointId: z.uuid('Must be an endpoint’s id.').optional(),
    eventId: z.uuid('Must be an event’s id.').optional(),
  }),
  response: listOf(deliveryView),
});
