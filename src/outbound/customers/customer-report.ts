// Reads what a webhook of the bank reports about a customer. The bank publishes only the names of
// these events, so every field may be missing.
import { parseTaxId } from '../../brazil/tax-id.js';
import type { ReportedCustomerStatus } from '../../generated/service/client.js';

/** The event types of customers, with what each reports. */
export const customerEventTypes = {
  WHITELABEL_CUSTOMER_APPROVED: 'approved',
  WHITELABEL_CUSTOMER_DOCUMENTATION_REJECTED: 'refused',
} as const satisfies Record<string, ReportedCustomerStatus>;

export type CustomerEventType = keyof typeof customerEventTypes;

export function isCustomerEventType(eventType: string): eventType is CustomerEventType {
  return eventType in customerEventTypes;
}

/**
 * The texts that may be the bank's id of the customer, and the whole document; null where it is
 * masked or missing.
 */
export function customerIdsOf(fields: Readonly<Record<string, unknown>>): {
  bankIds: string[];
  document: string | null;
} {
  const bankIds = [fields.customerId, fields.id].filter(
    (value): value is string => typeof value === 'string' && /^[\x21-\x7e]{1,200}$/.test(value),
  );
  const document = typeof fields.document === 'string' ? parseTaxId(fields.document) : null;
  return { bankIds, document: document?.number ?? null };
}
