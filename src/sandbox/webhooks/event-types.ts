import type { FaultEndpoint } from '../faults/fault.js';

/**
 * The event types that can be registered: the union of the lists that are published for the real
 * service, which conflict. CHARGE_PAID_V2 is left out, because it is only the name in a body.
 */
export const webhookEventTypes = [
  'CHARGE_PAID',
  'CHARGE_OVERDUE',
  'CHARGE_CANCELLED',
  'CHARGE_VOIDED',
  'PIX_RECEIVED',
  'PIX_REFUNDED',
  'PIX_TRANSFERRED',
  'PIX_TRANSFER_FAILED',
  'PIX_PAYMENT_UPDATED',
  'PIX_REFUND_PAYMENT_UPDATED',
  'TRANSFER_INTERNAL_CREDITED',
  'TRANSFER_INTERNAL_DEBITED',
  'TRANSFER_EXTERNAL_CREDITED',
  'TRANSFER_EXTERNAL_DEBITED',
  'TRANSACTION_CREATED',
  'MED_REQUESTED',
  'MED_ACCEPTED',
  'MED_REJECTED',
  'INFRACTION_NOTIFICATION_CREATED',
  'WHITELABEL_CUSTOMER_DOCUMENTATION_REJECTED',
  'WHITELABEL_CUSTOMER_APPROVED',
] as const;

export type WebhookEventType = (typeof webhookEventTypes)[number];

export function isWebhookEventType(text: string): text is WebhookEventType {
  return (webhookEventTypes as readonly string[]).includes(text);
}

const endpointsByPrefix: readonly (readonly [string, readonly FaultEndpoint[]])[] = [
  ['CHARGE_', ['charges', 'qrcode']],
  ['PIX_RECEIVED', ['charges', 'qrcode']],
  ['PIX_PAYMENT_', ['transfers', 'batch']],
  ['TRANSFER_INTERNAL_', ['transfers', 'batch']],
  ['TRANSFER_EXTERNAL_', ['transfers']],
  ['PIX_REFUND', ['refunds']],
];

/** The endpoints of faults that apply to this event's webhook. */
export function faultEndpointsOf(eventType: WebhookEventType): readonly FaultEndpoint[] {
  const found = endpointsByPrefix.find(([prefix]) => eventType.startsWith(prefix));
  return ['webhooks', ...(found?.[1] ?? [])];
}
