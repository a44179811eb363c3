// The names that banks give to movements that undo another one, declared once. A type name is open
// text, in English or Portuguese. An endToEndId is not enough: the reversal of a failed Pix that we
// sent also has an id that begins with `E`.

/** Of received money that is returned to its payer. */
const refundWords = ['REFUND', 'DEVOL'] as const;
/** Of an entry that the bank undoes, or of sent money that is returned. */
const reversalWords = ['REVERSAL', 'RETURN', 'CHARGEBACK', 'ESTORNO'] as const;
/** No Pix: such a line refunds none. */
const otherWords = ['BANKSLIP', 'BOLETO', 'BILL', 'FEE', 'TARIF', 'TAXA', 'TED'] as const;

/** A regular expression of PostgreSQL and of JavaScript, without regard to case. */
export const undoingPattern = [...refundWords, ...reversalWords].join('|');
export const otherThanPixPattern = otherWords.join('|');

const undoing = new RegExp(undoingPattern, 'i');
const reversing = new RegExp(reversalWords.join('|'), 'i');

/** Whether the type is of a refund or of a reversal. */
export const isUndoingType = (typeName: string): boolean => undoing.test(typeName);

/** Whether the type is of a reversal, and not only of a refund. */
export const isReversalType = (typeName: string): boolean => reversing.test(typeName);
