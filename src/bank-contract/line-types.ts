// The types of statement lines, declared once. The bank's list is open: a line of another type is
// read and stored, is shown by the bank's own name, and follows from its direction, its ids and the
// words of its name, in English or Portuguese.

interface LineTypeDeclaration {
  name: readonly [pt: string, en: string];
  /**
   * Whether we register webhooks that carry an id of such a line. Those of internal transfers and
   * TEDs carry no id that the statement shows, so that a missing one cannot be detected.
   */
  isNotified: boolean;
  /**
   * Whether it is received money. The two legs of a Pix or transfer between our own accounts share
   * one id: such a line is the incoming leg, and no reversal, unless it undoes a debit.
   */
  isReceived: boolean;
}

const other = { isNotified: false, isReceived: false } as const;
const notified = { ...other, isNotified: true } as const;

export const lineTypes = {
  CREDIT_PIX: { name: ['Pix recebido', 'Pix received'], isNotified: true, isReceived: true },
  DEBIT_PIX: { name: ['Pix enviado', 'Pix sent'], ...notified },
  CREDIT_PIX_REFUND: { name: ['Devolução de Pix recebida', 'Pix refund received'], ...notified },
  DEBIT_PIX_REFUND: { name: ['Devolução de Pix enviada', 'Pix refund sent'], ...notified },
  CREDIT_PIX_REVERSAL: { name: ['Estorno de Pix', 'Pix reversal'], ...other },
  CREDIT_PIX_REFUND_REVERSAL: {
    name: ['Estorno de devolução de Pix', 'Reversal of a Pix refund'],
    ...other,
  },
  CREDIT_BANKSLIP: { name: ['Boleto recebido', 'Bank slip received'], ...notified },
  DEBIT_BANKSLIP_REVERSAL: { name: ['Estorno de boleto recebido', 'Bank slip reversal'], ...other },
  DEBIT_BILL_PAYMENT: { name: ['Pagamento de conta', 'Bill payment'], ...other },
  CREDIT_BILL_PAYMENT_REVERSAL: {
    name: ['Estorno de pagamento de conta', 'Bill payment reversal'],
    ...other,
  },
  CREDIT_TRANSFER_INTERNAL: {
    name: ['Transferência recebida no mesmo banco', 'Transfer received within the bank'],
    isNotified: false,
    isReceived: true,
  },
  DEBIT_TRANSFER_INTERNAL: {
    name: ['Transferência enviada no mesmo banco', 'Transfer sent within the bank'],
    ...other,
  },
  CREDIT_TRANSFER_EXTERNAL: { name: ['Transferência recebida', 'Transfer received'], ...other },
  DEBIT_TRANSFER_EXTERNAL: { name: ['Transferência enviada', 'Transfer sent'], ...other },
  DEBIT_FEE: { name: ['Tarifa do banco', 'Fee of the bank'], ...other },
} as const satisfies Record<`${'CREDIT' | 'DEBIT'}_${string}`, LineTypeDeclaration>;

export type LineType = keyof typeof lineTypes;

export function isLineType(name: string): name is LineType {
  return Object.hasOwn(lineTypes, name);
}

/** Whether the type is known as one of received money. */
export const isReceivedType = (name: string): boolean =>
  isLineType(name) && lineTypes[name].isReceived;

export const notifiedTypes = Object.keys(lineTypes).filter(
  (name) => isLineType(name) && lineTypes[name].isNotified,
);

/** Of received money that is returned to its payer. */
const refundWords = ['REFUND', 'DEVOL'] as const;
/**
 * Of an entry that the bank undoes, or of sent money that is returned. An endToEndId is not enough:
 * the reversal of a failed Pix that we sent also has an id that begins with `E`.
 */
const reversalWords = ['REVERSAL', 'RETURN', 'CHARGEBACK', 'ESTORNO'] as const;
export const slipWords = ['BANKSLIP', 'BOLETO'] as const;
export const billWords = ['BILL'] as const;
/** Of what the bank charges for its services. */
export const feeWords = ['FEE', 'TARIFF', 'TARIFA', 'TAXA'] as const;

/** A regular expression of PostgreSQL and of JavaScript, without regard to case. */
export const undoingPattern = [...refundWords, ...reversalWords].join('|');
/** No Pix: such a line refunds none. */
export const otherThanPixPattern = [...slipWords, ...billWords, ...feeWords, 'TED'].join('|');

/** Whether the type is of a fee. */
export const isFeeType = (typeName: string): boolean =>
  new RegExp(`^(?:DEBIT_)?(?:${feeWords.join('|')})`, 'i').test(typeName);

const undoing = new RegExp(undoingPattern, 'i');
const reversing = new RegExp(reversalWords.join('|'), 'i');
const otherThanPix = new RegExp(otherThanPixPattern, 'i');

/** Whether the type is of a refund or of a reversal. */
export const isUndoingType = (typeName: string): boolean => undoing.test(typeName);

/** Whether the type is of a reversal, and not only of a refund. */
export const isReversalType = (typeName: string): boolean => reversing.test(typeName);

/** Whether the type may be of a refund of a Pix. */
export const mayRefundPix = (typeName: string): boolean =>
  isUndoingType(typeName) && !otherThanPix.test(typeName);
