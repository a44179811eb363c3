// The calls whose faults a line follows, by its type.
import { isLineType, type LineType } from '../../bank-contract/line-types.js';
import type { FaultEndpoint } from '../faults/fault.js';

/** The endpoints whose calls write lines of a type. */
const endpoints: Readonly<Record<LineType, readonly FaultEndpoint[]>> = {
  DEBIT_TRANSFER_INTERNAL: ['transfers', 'batch'],
  CREDIT_TRANSFER_INTERNAL: ['transfers', 'batch'],
  DEBIT_TRANSFER_EXTERNAL: ['transfers'],
  CREDIT_TRANSFER_EXTERNAL: [],
  DEBIT_PIX: ['transfers'],
  CREDIT_PIX: ['charges', 'qrcode'],
  CREDIT_PIX_REFUND: [],
  DEBIT_PIX_REFUND: ['refunds'],
  CREDIT_PIX_REVERSAL: [],
  CREDIT_PIX_REFUND_REVERSAL: [],
  CREDIT_BANKSLIP: ['charges'],
  DEBIT_BANKSLIP_REVERSAL: [],
  DEBIT_BILL_PAYMENT: ['bill-payments'],
  CREDIT_BILL_PAYMENT_REVERSAL: [],
  DEBIT_FEE: [],
};

/** None for a type that a test chose. */
export function endpointsOfType(name: string): readonly FaultEndpoint[] {
  return isLineType(name) ? endpoints[name] : [];
}
