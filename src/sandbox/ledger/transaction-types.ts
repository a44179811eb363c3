// The calls whose faults a line follows, by its type.
import type { FaultEndpoint } from '../faults/fault.js';
import { isTransactionTypeName, type TransactionTypeName } from '../presets/presets.js';

/** The endpoints whose calls write lines of a type. No endpoint writes any other type. */
const endpoints: Partial<Record<TransactionTypeName, readonly FaultEndpoint[]>> = {
  DEBIT_TRANSFER_INTERNAL: ['transfers', 'batch'],
  CREDIT_TRANSFER_INTERNAL: ['transfers', 'batch'],
  DEBIT_TRANSFER_EXTERNAL: ['transfers'],
  DEBIT_PIX: ['transfers'],
  CREDIT_PIX: ['charges', 'qrcode'],
  CREDIT_BANKSLIP: ['charges'],
  DEBIT_PIX_REFUND: ['refunds'],
  DEBIT_BILL_PAYMENT: ['bill-payments'],
};

/** None for a type that a test chose. */
export function endpointsOfType(name: string): readonly FaultEndpoint[] {
  return isTransactionTypeName(name) ? (endpoints[name] ?? []) : [];
}
