import type { FaultEndpoint } from '../faults/fault.js';

/** The types of the bank's lines with their descriptions: the contract's and the bank's own. */
const descriptions = {
  DEBIT_TRANSFER_INTERNAL: 'Transferência interna enviada',
  CREDIT_TRANSFER_INTERNAL: 'Transferência interna recebida',
  DEBIT_TRANSFER_EXTERNAL: 'TED enviada',
  CREDIT_TRANSFER_EXTERNAL: 'TED recebida',
  DEBIT_PIX: 'Pix enviado',
  CREDIT_PIX: 'Pix recebido',
  DEBIT_PIX_REFUND: 'Devolução de Pix enviada',
  CREDIT_PIX_REVERSAL: 'Estorno de Pix enviado',
  CREDIT_PIX_REFUND: 'Devolução de Pix recebida',
  CREDIT_PIX_REFUND_REVERSAL: 'Estorno de devolução de Pix enviada',
  CREDIT_BANKSLIP: 'Boleto recebido',
  DEBIT_BANKSLIP_REVERSAL: 'Estorno de boleto recebido',
  DEBIT_BILL_PAYMENT: 'Pagamento de conta',
  CREDIT_BILL_PAYMENT_REVERSAL: 'Estorno de pagamento de conta',
  DEBIT_FEE: 'Tarifa',
} as const;

/** The endpoints whose calls write lines of a type. No endpoint writes any other type. */
const endpoints: Partial<Record<keyof typeof descriptions, readonly FaultEndpoint[]>> = {
  DEBIT_TRANSFER_INTERNAL: ['transfers', 'batch'],
  CREDIT_TRANSFER_INTERNAL: ['transfers', 'batch'],
  DEBIT_TRANSFER_EXTERNAL: ['transfers'],
  DEBIT_PIX: ['transfers'],
  CREDIT_PIX: ['charges', 'qrcode'],
  CREDIT_BANKSLIP: ['charges'],
  DEBIT_PIX_REFUND: ['refunds'],
  DEBIT_BILL_PAYMENT: ['bill-payments'],
};

export function endpointsOfType(name: string): readonly FaultEndpoint[] {
  return isTransactionTypeName(name) ? (endpoints[name] ?? []) : [];
}

export type TransactionTypeName = keyof typeof descriptions;

export function isTransactionTypeName(name: string): name is TransactionTypeName {
  return Object.hasOwn(descriptions, name);
}

/** The description on a line. A name that a test chose is its own description. */
export function describeTransactionType(name: string): string {
  return isTransactionTypeName(name) ? descriptions[name] : name;
}
