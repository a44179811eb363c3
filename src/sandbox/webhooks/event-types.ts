/**
 * What can be registered: the union of the lists that are published of the real service (they conflict), save
 * CHARGE_PAID_V2, which is what a body calls itself.
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
