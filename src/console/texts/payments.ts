// Texts of the pages of charges, transfers, bills, refunds and operations.
import type { OperationKindName } from '../../bank-contract/operation-kinds.js';
import type { Texts, TextsOf } from './languages.js';

export const paymentsTexts = {
  'action.request refund': ['Pediu uma devolução', 'Requested a refund'],
  'action.void charge': ['Pediu o cancelamento de uma cobrança', 'Requested to void a charge'],
  'action.resend operation': ['Reenviou uma operação', 'Resent an operation'],
  'subject.line': ['lançamento', 'statement line'],
  'subject.charge': ['cobrança', 'charge'],
  'subject.operation': ['operação', 'operation'],

  'payment.charge': ['Cobrança {id}', 'Charge {id}'],
  'payment.transfer': ['Transferência de {amount}', 'Transfer of {amount}'],
  'payment.bill': ['Pagamento de conta de {amount}', 'Bill payment of {amount}'],
  'payment.refundOf': ['Devolução de {amount}', 'Refund of {amount}'],
  'payment.operationTitle': ['Operação: {kind}', 'Operation: {kind}'],

  'payment.identifiers': ['Identificadores', 'Identifiers'],
  'payment.related': ['Registros ligados', 'Related records'],
  'payment.steps': ['O que fazer', 'What you can do'],
  'payment.request': ['Pedido ao banco', 'Request to the bank'],
  'payment.openAmount': ['escolhido por quem paga', 'chosen by the payer'],
  'payment.earlierDueDate': ['Vencimento anterior', 'Earlier due date'],
  'payment.dueUntil': ['{day}, até {until}', '{day}, until {until}'],
  'payment.endedAt': ['Encerrado em', 'Ended at'],
  'payment.scheduledFor': ['Agendado para', 'Scheduled for'],
  'payment.id': ['Identificador (id)', 'Id'],
  'payment.endToEndId': ['Id do Pix', 'endToEndId'],
  'payment.bankId': ['Identificador no banco', "The bank's id"],
  'payment.bankReference': ['Referência no banco', "The bank's reference"],
  'payment.bankStatus': ['Status no banco', "The bank's status"],
  'payment.errorCode': ['Código de erro do banco', "The bank's error code"],
  'payment.responseStatus': ['Código da resposta', 'HTTP status of the response'],
  'payment.attempts': ['Tentativas de envio', 'Attempts'],
  'payment.through': ['Pedido através de', 'Requested through'],
  'payment.byUs': ['nós', 'us'],
  'payment.byBank': ['o banco', 'the bank'],

  'payment.debit': ['Lançamento do débito', 'Line of the debit'],
  'payment.reversal': ['Lançamento do estorno', 'Line of the reversal'],
  'payment.original': ['Pix recebido', 'Received Pix'],
  'payment.record.charge': ['Cobrança', 'Charge'],
  'payment.record.transfer': ['Transferência', 'Transfer'],
  'payment.record.bill': ['Pagamento de conta', 'Bill payment'],
  'payment.record.refund': ['Devolução', 'Refund'],

  'payment.see.operation': ['Ver a operação', 'See the operation'],
  'payment.see.line': ['Ver o lançamento', 'See the statement line'],
  'payment.see.break': ['Ver a divergência', 'See the break'],
  'payment.see.refund': ['Ver a devolução', 'See the refund'],
  'payment.see.approval': ['Ver a aprovação', 'See the approval'],
  'payment.see.webhook': ['Ver o webhook', 'See the webhook'],
  'payment.see.endpoint': ['Ver o destino', 'See the endpoint'],
  'payment.see.duplicate': ['Ver o outro pedido', 'See the other request'],
  'payment.see.more': ['Ver mais', 'See more'],

  'payment.payments': ['Pagamentos recebidos', 'Payments received'],
  'payment.payments.empty': [
    'Nenhum pagamento ainda. Um pagamento aparece aqui quando o extrato do banco o mostra.',
    "No payment yet. A payment appears here when the bank's statement shows it.",
  ],
  'payment.newestOf': [
    'Mostrando os {shown} mais recentes de {count}.',
    'Showing the newest {shown} of {count}.',
  ],
  'payment.response': ['Resposta do banco', "The bank's response"],
  'payment.sent': ['O que é enviado ao banco', 'What is sent to the bank'],

  'payment.codes': ['Como pagar', 'How to pay'],
  'payment.billCode': ['Código da conta', 'Code of the bill'],
  'payment.digitableLine': ['Linha digitável', 'Digitable line'],
  'payment.qrCode': ['QR Code Pix', 'Pix QR code'],
  'payment.pixCode': ['Pix copia e cola', 'Pix code to copy'],
  'payment.copyHint': [
    'Para copiar: clique no código, selecione tudo (Ctrl+A) e copie (Ctrl+C).',
    'To copy: click the code, select all of it (Ctrl+A) and copy it (Ctrl+C).',
  ],

  'payment.notice.unknown': [
    'O resultado ainda não é conhecido: o banco pode ter executado o pedido. O Concilia está verificando. Não peça de novo.',
    'The outcome is not known yet: the bank may have executed the request. Concilia is finding out. Do not request it again.',
  ],
  'payment.notice.needs_operator': [
    'O resultado não é conhecido, e uma pessoa precisa decidir. Isto não quer dizer que o pedido falhou: veja a divergência.',
    'The outcome is not known, and a person must decide. This does not mean that the request failed: see the break.',
  ],
  'payment.notice.awaiting_approval': [
    'Nada foi enviado ao banco ainda: o pedido aguarda aprovação.',
    'Nothing was sent to the bank yet: the request awaits approval.',
  ],

  'payment.refund': ['Devolver…', 'Refund…'],
  'payment.refundTitle': ['Devolver um Pix recebido', 'Refund a received Pix'],
  'payment.refundable': ['Pode ser devolvido', 'Refundable'],
  'payment.refundAmountHint': ['em reais, como 10,50', 'in reais, such as 10,50'],
  'payment.confirmRefund': [
    'O dinheiro sai da sua conta e volta para quem pagou. Uma devolução não pode ser desfeita.',
    'The money leaves your account and returns to the payer. A refund cannot be undone.',
  ],
  'payment.otherAmount': ['Outro valor', 'Another amount'],
  'payment.reasonHint': [
    'fica na auditoria; não é enviado ao banco',
    'is stored in the audit; the bank does not get it',
  ],
  'payment.sendAnyway': [
    'Não é uma repetição: enviar mesmo assim',
    'It is no repeat: send it anyway',
  ],

  'payment.void': ['Cancelar a cobrança…', 'Void the charge…'],
  'payment.voidTitle': ['Cancelar uma cobrança', 'Void a charge'],
  'payment.confirmVoid': [
    'A cobrança não poderá mais ser paga. Se alguém pagar mesmo assim, o banco credita o dinheiro e isso vira uma divergência.',
    'The charge cannot be paid any more. If somebody pays it anyway, the bank credits the money and a break is opened.',
  ],
  'payment.voidNow': [
    'Cancelar a cobrança de {amount} de {payer}',
    'Void the charge of {amount} of {payer}',
  ],

  'payment.resend': ['Enviar de novo', 'Send again'],
  'payment.resendWhat': [
    'O mesmo pedido é enviado com a mesma chave. O banco trata a repetição como o mesmo pedido, e o dinheiro sai uma vez só.',
    'The same request is sent with the same key. The bank treats the repeat as the same request, and the money leaves once.',
  ],

  'payment.problem.other': [
    'O pedido foi recusado e nada foi enviado. Código:',
    'The request was refused, and nothing was sent. Code:',
  ],
  'payment.problem.refund_frozen': [
    'O extrato mostra uma devolução a este pagador sem dizer de qual Pix. Concilie essa devolução primeiro.',
    'The statement shows a refund to this payer without the id of its Pix. Match that refund first.',
  ],
  'payment.problem.refund_exceeds_original': [
    'O valor passa do que ainda pode ser devolvido deste Pix.',
    'The amount exceeds what can still be refunded of this Pix.',
  ],
  'payment.problem.disputed': [
    'O Pix está contestado, e o banco pode devolvê-lo. Resolva primeiro a divergência da contestação.',
    'The Pix is disputed, and the bank may return it. Resolve the break of the dispute first.',
  ],
  'payment.problem.refund_window_closed': [
    'Um Pix pode ser devolvido até 90 dias depois de recebido.',
    'A Pix can be refunded up to 90 days after its receipt.',
  ],
  'payment.problem.not_refundable': [
    'Só um Pix recebido pode ser devolvido.',
    'Only a received Pix can be refunded.',
  ],
  'payment.problem.possible_duplicate': [
    'Outro pedido parece ser o mesmo, e o resultado dele não é conhecido. Nada foi enviado.',
    'Another request looks the same, and its outcome is not known. Nothing was sent.',
  ],
  'payment.problem.idempotency_key_reused': [
    'Este formulário já foi enviado com outro valor. Abra a página de novo.',
    'This form was already sent with another amount. Open the page again.',
  ],
  'problem.account_stopped': [
    'A conta está parada: nada é enviado ao banco.',
    'The account is stopped: nothing is sent to the bank.',
  ],
  'problem.account_is_reconcile_only': [
    'A conta só concilia: nada é enviado ao banco.',
    'The account is reconcile-only: nothing is sent to the bank.',
  ],
  'problem.limit_exceeded': [
    'O pagamento passa de um limite da conta.',
    'The payment exceeds a limit of the account.',
  ],
  'payment.problem.bank_unreachable': [
    'O banco não pôde ser alcançado, e o pedido não foi enviado.',
    'The bank could not be reached, and the request was not sent.',
  ],
  'payment.problem.not_safe_to_resend': [
    'Não está provado que um reenvio é seguro. Nada foi enviado.',
    'It is not proven that resending is safe. Nothing was sent.',
  ],

  'payment.answer.succeeded': ['aceitou', 'accepted'],
  'payment.answer.rejected': ['recusou', 'rejected'],
  'payment.answer.unknown': ['resultado desconhecido', 'outcome unknown'],
  'payment.answer.received': ['não foi enviado', 'it was not sent'],
  'payment.answer.not_executed': ['não foi enviado', 'it was not sent'],
  'payment.answer.needs_operator': ['precisa de uma pessoa', 'needs a person'],

  'payment.kind.create_charge': ['cobrança', 'charge'],
  'payment.kind.create_static_qr': ['QR Code Pix', 'Pix QR code'],
  'payment.kind.void_charge': ['cancelamento de cobrança', 'void of a charge'],
  'payment.kind.change_charge_due_date': [
    'novo vencimento de cobrança',
    'new due date of a charge',
  ],
  'payment.kind.create_transfer': ['transferência', 'transfer'],
  'payment.kind.create_transfer_batch': ['lote de transferências', 'batch of transfers'],
  'payment.kind.create_ted': ['TED', 'TED'],
  'payment.kind.pay_bill': ['pagamento de conta', 'bill payment'],
  'payment.kind.refund_pix': ['devolução', 'refund'],
  'payment.kind.create_customer': ['cadastro de cliente', 'onboarding of a customer'],

  'payment.source.api': ['API', 'API'],
  'payment.source.bulk': ['arquivo', 'a file'],
  'payment.source.policy': ['política de devolução', 'a refund policy'],
  'payment.source.break': ['divergência', 'a break'],
  'payment.source.console': ['console', 'the console'],

  'payment.reason.not_sent': ['Nenhum byte foi enviado.', 'No byte was sent.'],
  'payment.reason.never_sent': ['Nunca foi enviado ao banco.', 'It was never sent to the bank.'],
  'payment.reason.no_response': ['O banco não respondeu.', 'The bank did not respond.'],
  'payment.reason.too_late': ['A resposta veio tarde demais.', 'The response came too late.'],
  'payment.reason.unreadable_response': [
    'A resposta do banco não pôde ser lida.',
    "The bank's response could not be read.",
  ],
  'payment.reason.unexpected_response': [
    'A resposta do banco não confirma o pedido.',
    "The bank's response does not confirm the request.",
  ],
  'payment.reason.redirected': [
    'O banco mandou a outro endereço, que não é seguido.',
    'The bank named another address, which is not followed.',
  ],
  'payment.reason.refused_for_now': [
    'O banco não decidiu sobre o pedido.',
    'The bank did not decide on the request.',
  ],
  'payment.reason.bank_error': ['Erro do banco.', "An error of the bank's."],
  'payment.reason.refused_a_repeat': [
    'O banco recusou a repetição; isso nada diz do primeiro envio.',
    'The bank refused the repeat, which shows nothing about the first attempt.',
  ],
  'payment.reason.restored': [
    'O banco de dados voltou a um momento anterior.',
    'The database was set back to an earlier time.',
  ],
  'payment.reason.interrupted': [
    'O processo parou durante o envio.',
    'The process ended during the attempt.',
  ],
  'payment.reason.looked_up': [
    'Encontrado no banco pela consulta.',
    'Found at the bank by a look-up.',
  ],
  'payment.reason.seen_without_effect': [
    'O banco mostra que não teve efeito.',
    'The bank shows that it had no effect.',
  ],
  'payment.reason.seen_on_statement': ['Visto no extrato.', 'Seen on the statement.'],
  'payment.reason.seen_in_part': ['Visto em parte no extrato.', 'Seen in part on the statement.'],
  'payment.reason.absent_from_statement': [
    'O extrato conferido prova que não foi executado.',
    'The closed statement proves that it was not executed.',
  ],

  'payment.rule.manual': ['Ligados por uma pessoa.', 'Linked by a person.'],
  'payment.rule.reference': [
    'O lançamento traz um identificador deste pagamento.',
    'The line carries an id of this payment.',
  ],
  'payment.rule.original': [
    'O lançamento nomeia o Pix original.',
    'The line names the original Pix.',
  ],
  'payment.rule.counterparty': [
    'Mesma contraparte e mesmo valor, sem outro candidato.',
    'Same counterparty and same amount, without another candidate.',
  ],
  'payment.rule.declared': ['Por uma regra da conta.', 'By a rule of the account.'],
  'payment.rule.reversal': [
    'O lançamento desfaz um débito ou crédito deste pagamento.',
    'The line reverses a debit or credit of this payment.',
  ],

  'payment.resolution.accept': ['Aceita por uma pessoa.', 'Accepted by a person.'],
  'payment.resolution.link': ['Ligada por uma pessoa.', 'Linked by a person.'],
  'payment.resolution.refund': ['Devolvida.', 'Refunded.'],
  'payment.resolution.automatic': ['A causa deixou de existir.', 'The cause is gone.'],

  'payment.fact.rejected': ['O banco recusou o pagamento', 'The bank rejected the payment'],
  'payment.fact.failed': ['O banco informou que falhou', 'The bank reported that it failed'],
  'payment.fact.absence_proven': ['Provado que não foi executado', 'Proven not executed'],
  'payment.fact.absence_revoked': [
    'A prova de que não foi executado foi revogada',
    'The proof that it was not executed was revoked',
  ],
  'payment.fact.given_up': ['Não é mais esperado', 'Not expected any more'],
  'payment.fact.expected_again': ['Esperado de novo', 'Expected again'],
  'payment.fact.cancelled': [
    'O pagamento previsto foi cancelado',
    'The expected payment was cancelled',
  ],

  'payment.delivery.delivered': ['Evento entregue a {host}', 'Event delivered to {host}'],
  'payment.delivery.pending': [
    'Entrega do evento a {host} pendente; tentativas: {attempts}; último status: {status}',
    'Delivery of the event to {host} pending; attempts: {attempts}; last status: {status}',
  ],
  'payment.delivery.dead': [
    'Evento não entregue a {host}; tentativas: {attempts}; último status: {status}',
    'Event not delivered to {host}; attempts: {attempts}; last status: {status}',
  ],

  'payment.story': ['Histórico', 'Story'],
  'payment.awaits.approval': ['Aguardando aprovação', 'Awaiting approval'],
  'payment.awaits.outcome': [
    'Aguardando o resultado no banco',
    'Waiting for the outcome at the bank',
  ],
  'payment.awaits.person': [
    'Aguardando a decisão de uma pessoa',
    "Waiting for a person's decision",
  ],
  'payment.awaits.payment': ['Aguardando o pagamento', 'Waiting for the payment'],
  'payment.awaits.line': [
    'Aguardando o lançamento no extrato',
    'Waiting for the line on the statement',
  ],
  'payment.by': ['Por {name}', 'By {name}'],
  'payment.atBank': ['No relógio do banco: {time}', "By the bank's clock: {time}"],
  'payment.story.requested': [
    'Pedido: {kind}, por meio de: {source}',
    'Requested: {kind}, through {source}',
  ],
  'payment.story.requestedForApproval': [
    'Pedido: {kind}, por meio de: {source}. Aprovações necessárias: {needed}, até {until}',
    'Requested: {kind}, through {source}. Approvals needed: {needed}, until {until}',
  ],
  'payment.story.approval': ['Aprovado por uma pessoa', 'Approval given'],
  'payment.story.refusal': ['Aprovação recusada', 'Approval declined'],
  'payment.story.approved': ['Aprovado: pode ser enviado', 'Approved: it may be sent'],
  'payment.story.sent': [
    'Enviado ao banco (tentativa {number})',
    'Sent to the bank (attempt {number})',
  ],
  'payment.story.sentAgain': [
    'Enviado de novo ao banco (tentativa {number})',
    'Sent to the bank again (attempt {number})',
  ],
  'payment.story.answer': [
    'O banco respondeu com o código {status}: {outcome}',
    'The bank responded with HTTP {status}: {outcome}',
  ],
  'payment.story.noAnswer': [
    'Sem resposta do banco: {outcome}',
    'No response of the bank: {outcome}',
  ],
  'payment.story.ended': ['Resultado estabelecido: {state}', 'Outcome established: {state}'],
  'payment.story.webhook': ['Webhook recebido do banco', 'Webhook received from the bank'],
  'payment.story.webhooks': [
    'Webhook recebido do banco ({copies} vezes)',
    'Webhook received from the bank ({copies} times)',
  ],
  'payment.story.credit': [
    'Crédito de {amount} no extrato (NSU {nsu})',
    'Credit of {amount} on the statement (NSU {nsu})',
  ],
  'payment.story.debit': [
    'Débito de {amount} no extrato (NSU {nsu})',
    'Debit of {amount} on the statement (NSU {nsu})',
  ],
  'payment.story.matched': [
    'Conciliado: {amount} do lançamento {nsu}',
    'Matched: {amount} of line {nsu}',
  ],
  'payment.story.reversed': [
    'Estorno conciliado: {amount} do lançamento {nsu}',
    'Reversal matched: {amount} of line {nsu}',
  ],
  'payment.story.unlinked': [
    'Conciliação desfeita: {amount} do lançamento {nsu}',
    'Match ended: {amount} of line {nsu}',
  ],
  'payment.story.break': ['Divergência aberta: {kind}', 'Break opened: {kind}'],
  'payment.story.resolved': ['Divergência resolvida: {kind}', 'Break resolved: {kind}'],
  'payment.story.refund': ['Devolução de {amount} pedida', 'Refund of {amount} requested'],
  'payment.story.event': ['Evento registrado', 'Event recorded'],

  'payment.omitted.attempts': [
    'Só as tentativas mais recentes estão aqui.',
    'Only the newest attempts are shown.',
  ],
  'payment.omitted.matches': [
    'Só as conciliações mais recentes estão aqui.',
    'Only the newest matches are shown.',
  ],
  'payment.omitted.breaks': [
    'Só as divergências mais recentes estão aqui.',
    'Only the newest breaks are shown.',
  ],
  'payment.omitted.webhooks': [
    'Só os webhooks mais recentes estão aqui.',
    'Only the newest webhooks are shown.',
  ],
  'payment.omitted.events': [
    'Só os eventos mais recentes estão aqui.',
    'Only the newest events are shown.',
  ],
} as const satisfies Texts & TextsOf<'payment.kind', OperationKindName>;
