import type { FaultEndpoint } from '../faults/fault.js';
import type { WebhookEventType } from './event-types.js';

const endpointsByBeginning: readonly (readonly [string, readonly FaultEndpoint[]])[] = [
  ['CHARGE_', ['charges', 'qrcode']],
  ['PIX_RECEIVED', ['charges', 'qrcode']],
  ['PIX_PAYMENT_', ['transfers', 'batch']],
  ['TRANSFER_INTERNAL_', ['transfers', 'batch']],
  ['PIX_REFUND', ['refunds']],
];

/** The endpoints at which a fault of an event's notification can be aimed. */
export function faultEndpointsOf(eventType: WebhookEventType): readonly FaultEndpoint[] {
  const found = endpointsByBeginning.find(([beginning]) => eventType.startsWith(beginning));
  return ['webhooks', ...(found?.[1] ?? [])];
}
