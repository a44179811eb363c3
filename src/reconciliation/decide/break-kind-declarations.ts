// Every kind of break, declared once. Queries, lists, severities, texts in both languages, exports,
// alerts and the table of docs/reference/breaks.md follow:
// src/reconciliation/decide/break-kinds.ts.

/** What opens a break of a kind, and resolves it when the cause is gone. */
export type OpenedFor =
  /** A line without an explanation. */
  | 'line'
  /** The payments of a charge or QR code, whose lines are matched. */
  | 'settlement'
  /** A payment or bill that no line has paid by its deadline. */
  | 'deadline'
  /** A payment that contradicts what was concluded about it, or about its operation. */
  | 'contradiction'
  /** An operation itself. */
  | 'operation'
  /** What the sync stores about the statement itself. */
  | 'statement'
  /** A day that is certified. */
  | 'day'
  /** The fees of a month. */
  | 'fees';

type Text = readonly [pt: string, en: string];

interface Declaration {
  opened: readonly Exclude<OpenedFor, 'line' | 'settlement'>[];
  name: Text;
  /** Why it is open. `{amount}` stands for the amount of the break. */
  why: Text;
  /** What a person does about it. */
  whatToDo: Text;
  /** When it is resolved automatically. */
  resolvedWhen: string;
  /** Above `low` where money may be lost, or the copy of the statement is unreliable. */
  severityAtLeast: 'low' | 'high' | 'critical';
  /** Whether and by whom a received Pix is refunded; `with amount`: the request says how much. */
  refund: 'by a person or policy' | 'by a person' | 'with amount' | null;
}

interface LineDeclaration extends Omit<Declaration, 'opened'> {
  opened: readonly Exclude<OpenedFor, 'settlement'>[];
  /** Whether rules may explain the line after all. */
  decidedByRules: 'always' | 'among their candidates' | 'never';
}

interface SettlementDeclaration extends Omit<Declaration, 'opened'> {
  opened: readonly Exclude<OpenedFor, 'line'>[];
  /** Of several findings about one line, the one with the lowest number: the likeliest refund. */
  precedence: number;
}

type LineAndSettlementDeclaration = Omit<LineDeclaration & SettlementDeclaration, 'opened'> & {
  opened: readonly OpenedFor[];
};

export type BreakKindDeclaration =
  Declaration | LineDeclaration | SettlementDeclaration | LineAndSettlementDeclaration;

export const breakKinds = {
  unexpected: {
    opened: ['line'],
    name: ['Lançamento inesperado', 'Unexpected line'],
    why: [
      'O extrato mostra {amount} que nenhuma cobrança, transferência ou pagamento previsto explica.',
      'The statement shows {amount} that no charge, transfer or expected payment explains.',
    ],
    whatToDo: [
      'Concilie com um candidato, devolva o Pix, ou aceite.',
      'Link a candidate, refund the Pix, or accept it.',
    ],
    resolvedWhen:
      'An id that becomes known later references it, or a rule or an own account explains it.',
    severityAtLeast: 'low',
    refund: 'by a person',
    decidedByRules: 'always',
  },
  unrequested_debit: {
    opened: ['line'],
    name: ['Débito não solicitado', 'Unrequested debit'],
    why: [
      'Saíram {amount} da conta, e nenhuma operação daqui poderia explicar o débito.',
      '{amount} left the account, and no operation of the service could explain the debit.',
    ],
    whatToDo: [
      'Pergunte já ao banco quem pediu, e troque a chave se ninguém pediu. Concilie, ou aceite.',
      'Ask the bank at once who requested it; replace the key if nobody did. Link it, or accept it.',
    ],
    resolvedWhen: 'An operation, a declared payment or a rule explains it.',
    severityAtLeast: 'critical',
    refund: null,
    decidedByRules: 'always',
  },
  ambiguous: {
    opened: ['line'],
    name: ['Lançamento ambíguo', 'Ambiguous line'],
    why: [
      'O lançamento de {amount} poderia pagar mais de uma coisa, e nada decide qual.',
      'The line of {amount} could pay several things, and nothing decides which.',
    ],
    whatToDo: ['Concilie com o candidato certo.', 'Link the right candidate.'],
    resolvedWhen: 'An id that becomes known later decides it.',
    severityAtLeast: 'low',
    refund: 'by a person',
    decidedByRules: 'among their candidates',
  },
  duplicate_payment: {
    opened: ['line', 'settlement'],
    name: ['Pagamento em duplicidade', 'Duplicate payment'],
    why: [
      'A mesma cobrança, transferência ou conta foi paga outra vez: {amount} a mais.',
      'The same charge, transfer or bill was paid again: {amount} in addition.',
    ],
    whatToDo: [
      'Devolva o Pix recebido; de outro modo, reclame ao banco e depois aceite.',
      'Refund the received Pix; otherwise claim it at the bank, then accept.',
    ],
    resolvedWhen: 'The second payment is refunded or matched elsewhere.',
    severityAtLeast: 'low',
    refund: 'by a person or policy',
    decidedByRules: 'never',
    precedence: 2,
  },
  amount_mismatch: {
    opened: ['line'],
    name: ['Valor divergente', 'Amount mismatch'],
    why: [
      'Um débito de {amount} cita um pagamento nosso que tem outro valor.',
      'A debit of {amount} references a payment of ours that has another amount.',
    ],
    whatToDo: [
      'Concilie com o pagamento certo; ou pergunte ao banco e depois aceite.',
      'Link the payment that it pays; or ask the bank, then accept.',
    ],
    resolvedWhen: 'An id that becomes known later references another payment.',
    severityAtLeast: 'low',
    refund: null,
    decidedByRules: 'never',
  },
  // The amount of the break is the unpaid part.
  underpaid: {
    opened: ['settlement'],
    name: ['Pago a menor', 'Underpaid'],
    why: [
      'Foi pago menos do que era devido. Faltam {amount}.',
      'Less was paid than was owed. {amount} is outstanding.',
    ],
    whatToDo: [
      'Concilie o lançamento que paga o resto, ou aceite.',
      'Link the line that pays the rest, or accept.',
    ],
    resolvedWhen: 'The rest is paid.',
    severityAtLeast: 'low',
    refund: 'with amount',
    precedence: 4,
  },
  overpaid: {
    opened: ['settlement'],
    name: ['Pago a maior', 'Overpaid'],
    why: [
      'Foi pago mais do que era devido. O excesso é de {amount}.',
      'More was paid than was owed. The excess is {amount}.',
    ],
    whatToDo: ['Devolva o excesso, ou aceite.', 'Refund the excess, or accept.'],
    resolvedWhen: 'The excess is refunded.',
    severityAtLeast: 'low',
    refund: 'by a person or policy',
    precedence: 3,
  },
  paid_after_cancellation: {
    opened: ['settlement'],
    name: ['Pago após cancelamento', 'Paid after cancellation'],
    why: [
      'Uma cobrança cancelada foi paga depois do cancelamento: {amount}.',
      'A cancelled charge was paid after its cancellation: {amount}.',
    ],
    whatToDo: ['Devolva, ou aceite o pagamento.', 'Refund, or accept the payment.'],
    resolvedWhen: 'The payment is refunded.',
    severityAtLeast: 'low',
    refund: 'by a person or policy',
    precedence: 1,
  },
  paid_after_expiry: {
    opened: ['settlement'],
    name: ['Pago após vencimento', 'Paid after expiry'],
    why: [
      'Uma cobrança sem multa nem juros foi paga depois do prazo: {amount}.',
      'A charge without fine or interest was paid after its expiry: {amount}.',
    ],
    whatToDo: ['Devolva, ou aceite o pagamento.', 'Refund, or accept the payment.'],
    resolvedWhen: 'The payment is refunded.',
    severityAtLeast: 'low',
    refund: 'by a person or policy',
    precedence: 5,
  },
  missing: {
    opened: ['deadline'],
    name: ['Pagamento não localizado', 'Missing payment'],
    why: [
      'Um pagamento previsto de {amount} não apareceu no extrato até o prazo.',
      'An expected payment of {amount} did not appear on the statement by its deadline.',
    ],
    whatToDo: [
      'Concilie o lançamento que o paga; aceite se nada virá.',
      'Link the line that pays it; accept if nothing will come.',
    ],
    resolvedWhen: 'Its line comes, or it is withdrawn.',
    severityAtLeast: 'low',
    refund: null,
  },
  late_line: {
    opened: ['contradiction', 'day'],
    name: ['Lançamento tardio', 'Late line'],
    why: [
      'Um lançamento de {amount} apareceu depois de concluído que não viria, ou pertence a um dia já certificado.',
      'A line of {amount} came after it was concluded that it would not, or belongs to a certified day.',
    ],
    whatToDo: [
      'Avise quem agiu pela primeira conclusão, e depois aceite.',
      'Inform everyone who acted on the first conclusion, then accept.',
    ],
    resolvedWhen: "The day's certificate is amended, or the line is matched otherwise.",
    severityAtLeast: 'low',
    refund: null,
  },
  over_refunded: {
    opened: ['contradiction'],
    name: ['Devolvido a maior', 'Over-refunded'],
    why: [
      'Foi devolvido mais do que o Pix recebido: {amount} a mais.',
      'More was refunded than the received Pix: {amount} in addition.',
    ],
    whatToDo: [
      'Desfaça a conciliação errada; ou reclame ao banco e depois aceite.',
      'Undo the wrong link; or claim it at the bank, then accept.',
    ],
    resolvedWhen: 'A refund is reversed, or the link of one is undone.',
    severityAtLeast: 'critical',
    refund: null,
  },
  failed_but_debited: {
    opened: ['contradiction'],
    name: ['Falhou mas debitou', 'Failed but debited'],
    why: [
      'O banco diz que a transferência falhou, mas o extrato mostra o débito de {amount}.',
      'The bank reports the transfer as failed, but the statement shows the debit of {amount}.',
    ],
    whatToDo: ['Reclame ao banco, e depois aceite.', 'Claim it at the bank, then accept.'],
    resolvedWhen: 'The money is reversed.',
    severityAtLeast: 'high',
    refund: null,
  },
  unknown_outcome: {
    opened: ['deadline', 'operation'],
    name: ['Resultado desconhecido', 'Unknown outcome'],
    why: [
      'Não se sabe se o banco executou a operação de {amount}.',
      'It is not known whether the bank executed the operation of {amount}.',
    ],
    whatToDo: [
      'Reenvie onde for seguro; senão, pergunte ao banco e depois aceite.',
      'Resend where that is safe; otherwise ask the bank, then accept.',
    ],
    resolvedWhen: 'Its line comes, or the bank reports it by id.',
    severityAtLeast: 'high',
    refund: null,
  },
  unreadable_line: {
    opened: ['statement'],
    name: ['Lançamento ilegível', 'Unreadable line'],
    why: [
      'O banco mandou um lançamento que não pôde ser lido, ou que mudou de conteúdo.',
      'The bank sent a line that could not be read, or that came again with other content.',
    ],
    whatToDo: [
      'Veja o que o banco mudou, e depois aceite.',
      'See what the bank changed, then accept.',
    ],
    resolvedWhen: 'It can be read, or comes again with its first content.',
    severityAtLeast: 'low',
    refund: null,
  },
  broken_balance_chain: {
    opened: ['statement', 'day'],
    name: ['Cadeia quebrada', 'Broken balance chain'],
    why: [
      'Os saldos do extrato não se encadeiam: há uma diferença de {amount} entre dois lançamentos.',
      'The balances of the statement do not follow from each other: two lines differ by {amount}.',
    ],
    whatToDo: [
      'Pergunte ao banco. Nenhuma política age na conta até lá.',
      'Ask the bank. No policy acts on the account until then.',
    ],
    resolvedWhen: 'The missing lines come.',
    severityAtLeast: 'critical',
    refund: null,
  },
  disputed: {
    opened: ['statement'],
    name: ['Pix contestado', 'Disputed Pix'],
    why: [
      'O banco informou uma contestação de um Pix recebido de {amount}.',
      'The bank reported a dispute of a received Pix of {amount}.',
    ],
    whatToDo: [
      'Responda ao banco antes do prazo; aceite quando ele rejeitar a contestação.',
      'Answer the bank before the deadline; accept when it has rejected the dispute.',
    ],
    resolvedWhen: 'The statement shows that the bank returned the disputed amount.',
    severityAtLeast: 'high',
    refund: null,
  },
  balance_mismatch: {
    opened: ['statement'],
    name: ['Saldo divergente', 'Balance mismatch'],
    why: [
      'O saldo informado pelo banco difere em {amount} do último lançamento.',
      "The account's balance at the bank differs by {amount} from the last line.",
    ],
    whatToDo: ['Pergunte ao banco.', 'Ask the bank.'],
    resolvedWhen: 'Both agree again.',
    severityAtLeast: 'critical',
    refund: null,
  },
  fee_mismatch: {
    opened: ['fees'],
    name: ['Tarifa divergente', 'Fee mismatch'],
    why: [
      'O banco cobrou uma tarifa que difere em {amount} da tabela de preços.',
      'The bank charged a fee that differs by {amount} from the price list.',
    ],
    whatToDo: [
      'Reclame a diferença ao banco, e depois aceite; ou corrija a tabela de preços.',
      'Claim the difference at the bank, then accept; or correct the price list.',
    ],
    resolvedWhen: 'The price list, or the items that it prices, agree with the fee.',
    severityAtLeast: 'low',
    refund: null,
  },
} as const satisfies Record<string, BreakKindDeclaration>;

export type BreakKind = keyof typeof breakKinds;
