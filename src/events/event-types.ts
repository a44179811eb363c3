// Every type of event, declared once. Subscriptions, the names in the console and `webhooks` of the
// API reference follow. docs/reference/events.md says what identifies a business system's record.

interface EventTypeDeclaration {
  name: readonly [pt: string, en: string];
  /** When an event of the type is recorded, for the API reference. */
  when: string;
}

export const eventTypeDeclarations = {
  'charge.paid': {
    name: ['Cobrança paga', 'Charge paid'],
    when: 'a line pays a charge or a static QR code',
  },
  'charge.partially_paid': {
    name: ['Cobrança paga em parte', 'Charge partially paid'],
    when: 'a line pays a part of a charge',
  },
  'charge.overpaid': {
    name: ['Cobrança paga a maior', 'Charge overpaid'],
    when: 'with this line, more was paid than was owed',
  },
  'charge.refunded': {
    name: ['Cobrança devolvida', 'Charge refunded'],
    when: 'a line refunds a payment of a charge in full, whoever ordered it; `refundId` if we did',
  },
  'charge.partially_refunded': {
    name: ['Cobrança devolvida em parte', 'Charge partially refunded'],
    when: 'a line refunds a part of a payment of a charge, whoever ordered it; `refundId` if we did',
  },
  'transaction.unexpected': {
    name: ['Lançamento inesperado', 'Unexpected line'],
    when: 'a line without a match opens a break',
  },
  'match.unlinked': {
    name: ['Conciliação desfeita', 'Match ended'],
    when: 'a match ends, because another decision or a person took its place',
  },
  'charge.cancelled': {
    name: ['Cobrança cancelada', 'Charge cancelled'],
    when: 'the bank, read by id, reports that a charge was cancelled',
  },
  'charge.expired': {
    name: ['Cobrança vencida', 'Charge expired'],
    when: 'the bank, read by id, reports that a charge expired',
  },
  'operation.unknown': {
    name: ['Operação sem resultado conhecido', 'Operation outcome unknown'],
    when: 'the outcome of an operation is unknown for the first time',
  },
  'operation.succeeded': {
    name: ['Operação aceita', 'Operation succeeded'],
    when: 'an operation succeeds whose caller did not wait',
  },
  'operation.rejected': {
    name: ['Operação recusada', 'Operation rejected'],
    when: 'the bank rejects an operation whose caller did not wait',
  },
  'operation.not_executed': {
    name: ['Operação não executada', 'Operation not executed'],
    when: 'an operation is proven not executed, or that is revoked',
  },
  'operation.needs_operator': {
    name: ['Operação precisa de uma pessoa', 'Operation needs a person'],
    when: 'a person must find out the outcome of an operation',
  },
  'operation.awaiting_approval': {
    name: ['Operação aguarda aprovação', 'Operation awaits approval'],
    when: 'an operation needs [approval](../how-to/approvals.md)',
  },
  'operation.approved': {
    name: ['Operação aprovada', 'Operation approved'],
    when: 'the last approval of an operation was given',
  },
  'operation.declined': {
    name: ['Operação não aprovada', 'Operation declined'],
    when: 'an approver has declined the operation',
  },
  'operation.expired': {
    name: ['Aprovação expirada', 'Approval expired'],
    when: 'the operation was not approved in time',
  },
  'transfer.effective': {
    name: ['Transferência efetivada', 'Transfer effective'],
    when: 'the bank reports that a transfer was executed',
  },
  'transfer.failed': {
    name: ['Transferência falhou', 'Transfer failed'],
    when: 'the bank reports that a transfer failed',
  },
  'transfer.settled': {
    name: ['Transferência liquidada', 'Transfer settled'],
    when: 'a line shows the money of a transfer',
  },
  'transfer.reversed': {
    name: ['Transferência estornada', 'Transfer reversed'],
    when: 'a line reverses a transfer, in whole or in part',
  },
  'bill_payment.scheduled': {
    name: ['Pagamento de conta agendado', 'Bill payment scheduled'],
    when: 'a bill payment is scheduled',
  },
  'bill_payment.failed': {
    name: ['Pagamento de conta falhou', 'Bill payment failed'],
    when: 'a bill payment has failed',
  },
  'bill_payment.settled': {
    name: ['Pagamento de conta liquidado', 'Bill payment settled'],
    when: 'a line shows the money of a bill payment',
  },
  'bill_payment.reversed': {
    name: ['Pagamento de conta estornado', 'Bill payment reversed'],
    when: 'a line reverses a bill payment, in whole or in part',
  },
  'refund.settled': {
    name: ['Devolução liquidada', 'Refund settled'],
    when: 'a line shows the money of a refund that we ordered',
  },
  'refund.reversed': {
    name: ['Devolução estornada', 'Refund reversed'],
    when: 'a line reverses a refund that we ordered, in whole or in part',
  },
  'expected_payment.paid': {
    name: ['Previsto pago', 'Expected payment paid'],
    when: 'a line pays a [payment that another system declared](../how-to/expected-payments.md)',
  },
  'expected_payment.partially_paid': {
    name: ['Previsto pago em parte', 'Expected payment partially paid'],
    when: 'a line pays a part of it',
  },
  'expected_payment.overpaid': {
    name: ['Previsto pago a maior', 'Expected payment overpaid'],
    when: 'with this line, more was paid than was expected',
  },
  'expected_payment.refunded': {
    name: ['Previsto devolvido', 'Expected payment refunded'],
    when: 'a line refunds what it was paid, in whole or in part',
  },
  'expected_payment.reversed': {
    name: ['Previsto estornado', 'Expected payment reversed'],
    when: 'a line reverses what was paid, in whole or in part',
  },
  'expected_payment.missing': {
    name: ['Previsto faltante', 'Expected payment missing'],
    when: 'no line came by its deadline',
  },
  'expected_payment.amended': {
    name: ['Previsto alterado', 'Expected payment amended'],
    when: 'the system that declared it changes its terms: with `reason`',
  },
  'expected_payment.cancelled': {
    name: ['Previsto cancelado', 'Expected payment cancelled'],
    when: 'the system that declared it expects it no more: with `reason`',
  },
  'customer.approved': {
    name: ['Cliente aprovado', 'Customer approved'],
    when: 'the bank reports that it approved a customer',
  },
  'customer.refused': {
    name: ['Cliente recusado', 'Customer refused'],
    when: 'the bank reports that it refused a customer',
  },
  'dispute.reported': {
    name: ['Contestação aberta', 'Dispute reported'],
    when: 'the bank reports a dispute of a received Pix',
  },
  'dispute.accepted': {
    name: ['Contestação aceita', 'Dispute accepted'],
    when: 'the bank reports that it accepted a dispute',
  },
  'dispute.rejected': {
    name: ['Contestação rejeitada', 'Dispute rejected'],
    when: 'the bank reports that it rejected a dispute',
  },
  'break.opened': {
    name: ['Divergência aberta', 'Break opened'],
    when: 'a break is opened or reopened',
  },
  'break.resolved': {
    name: ['Divergência resolvida', 'Break resolved'],
    when: 'a break is resolved',
  },
  'reconciliation.finished': {
    name: ['Conciliação concluída', 'Reconciliation finished'],
    when: 'a reconciliation run ends',
  },
  'reconciliation.failed': {
    name: ['Conciliação falhou', 'Reconciliation failed'],
    when: 'a reconciliation run fails',
  },
  'day_close.certified': {
    name: ['Dia certificado', 'Day certified'],
    when: 'a day gets a certificate',
  },
  'day_close.amended': {
    name: ['Certificado retificado', 'Certificate amended'],
    when: 'a day gets another revision of its certificate',
  },
  'month.closed': {
    name: ['Mês fechado', 'Month closed'],
    when: 'a [month](../how-to/month-end.md) is closed',
  },
  'month.amended': {
    name: ['Mês fechado retificado', 'Closed month amended'],
    when: 'lines of a closed month come or change: `lines` since the event before',
  },
  'month.reopened': {
    name: ['Mês reaberto', 'Month reopened'],
    when: 'a closed month is reopened',
  },
  'alarm.raised': {
    name: ['Alarme de débito', 'Alarm about a debit'],
    when: 'a rule raises an [alarm](../how-to/guarded-accounts.md) about a debit',
  },
  'account.stopped': {
    name: ['Conta parada', 'Account stopped'],
    when: 'an operator stops the account ([mode](../how-to/account-modes.md)): `mode`, `actor`, `reason`',
  },
  'account.released': {
    name: ['Conta liberada', 'Account released'],
    when: 'an operator releases the account: `mode`, `actor`, `reason`',
  },
  'account.reconcile_only': {
    name: ['Conta só concilia', 'Account reconciles only'],
    when: 'an operator makes the account reconcile-only: `mode`, `actor`, `reason`',
  },
} as const satisfies Record<`${string}.${string}`, EventTypeDeclaration>;

export type EventType = keyof typeof eventTypeDeclarations;
export const eventTypes = Object.keys(eventTypeDeclarations) as [EventType, ...EventType[]];
