// Texts of breaks.
import type { Texts } from './languages.js';

export const breaksTexts = {
  'break.unexpected': ['Lançamento inesperado', 'Unexpected line'],
  'break.ambiguous': ['Mais de uma origem possível', 'Ambiguous'],
  'break.duplicate_payment': ['Pagamento em duplicidade', 'Duplicate payment'],
  'break.amount_mismatch': ['Valor diferente do esperado', 'Amount mismatch'],
  'break.underpaid': ['Pago a menor', 'Underpaid'],
  'break.overpaid': ['Pago a maior', 'Overpaid'],
  'break.paid_after_cancellation': ['Pago depois de cancelado', 'Paid after cancellation'],
  'break.paid_after_expiry': ['Pago depois de vencido o prazo', 'Paid after expiry'],
  'break.missing': ['Esperado e não recebido', 'Missing'],
  'break.late_line': ['Lançamento tardio', 'Late line'],
  'break.failed_but_debited': ['Falhou, mas foi debitado', 'Failed but debited'],
  'break.unknown_outcome': ['Desfecho desconhecido', 'Unknown outcome'],
  'break.unreadable_line': ['Lançamento ilegível', 'Unreadable line'],
  'break.broken_balance_chain': ['Saldos que não se encadeiam', 'Broken balance chain'],
  'break.disputed': ['Pix contestado', 'Disputed Pix'],
  'break.balance_mismatch': ['Saldo diferente do informado', 'Balance mismatch'],
} as const satisfies Texts;
