// Texts of the form that builds a rule.
import type { Texts } from './languages.js';

export const ruleBuilderTexts = {
  'ruleBuilder.titleVersion': ['Nova versão de {name}', 'New version of {name}'],
  'ruleBuilder.fromLine': [
    'Preenchida com os dados do lançamento {nsu}. Confira cada condição.',
    'Filled from the statement line {nsu}. Check each condition.',
  ],
  'ruleBuilder.sentence': ['Esta regra diz:', 'This rule says:'],
  'ruleBuilder.conditionsUnfinished': [
    '(há uma condição a completar)',
    '(a condition is not complete)',
  ],
  'ruleBuilder.outcomeUnfinished': [
    '— falta completar o que acontece com esses lançamentos.',
    '— what happens to these lines is not complete.',
  ],
  'ruleBuilder.whichRule': ['A regra', 'The rule'],
  'ruleBuilder.priorityHint': [
    'De 0 a 100.000; a menor é aplicada primeiro.',
    'From 0 to 100,000; the lowest is applied first.',
  ],
  'ruleBuilder.conditions': ['Quais lançamentos', 'Which lines'],
  'ruleBuilder.conditionsHint': [
    'Todas as condições devem valer; de vários tipos, um basta. Linhas vazias não contam.',
    'All conditions must hold; of several types, one is enough. Empty rows do not count.',
  ],
  'ruleBuilder.condition': ['Condição {number}', 'Condition {number}'],
  'ruleBuilder.value': ['Valor da condição {number}', 'Value of condition {number}'],
  'ruleBuilder.noCondition': ['(escolha)', '(choose)'],
  'ruleBuilder.addCondition': ['Adicionar condição', 'Add a condition'],
  'ruleBuilder.removeCondition': ['Remover a condição {number}', 'Remove condition {number}'],
  'ruleBuilder.outcome': ['O que acontece com eles', 'What happens to them'],
  'ruleBuilder.action.classify': [
    'Classificar: não precisam de conciliação',
    'Classify: they need no match',
  ],
  'ruleBuilder.action.match': ['Conciliar com pagamentos previstos', 'Match to expected payments'],
  'ruleBuilder.codingHint': [
    'Vale para os lançamentos da regra, acima do que diz o pagamento previsto.',
    'Of the lines of the rule; stands above what the expected payment says.',
  ],
  'ruleBuilder.classification': ['Classificação', 'Classification'],
  'ruleBuilder.categoryReason': ['Por que não precisam de conciliação', 'Why they need no match'],
  'ruleBuilder.finish': ['Guardar o rascunho', 'Store the draft'],
  'ruleBuilder.reasonHint': [
    'Fica no histórico da regra.',
    'It stands in the history of the rule.',
  ],
  'ruleBuilder.draftHint': [
    'Nada muda ainda: um rascunho é simulado sobre o histórico e só depois ativado.',
    'Nothing changes yet: a draft is tried over history, and activated after that.',
  ],

  'ruleCondition.credit': ['É um crédito', 'Is a credit'],
  'ruleCondition.debit': ['É um débito', 'Is a debit'],
  'ruleCondition.type': ['Tipo: é', 'Type: is'],
  'ruleCondition.typePrefix': ['Tipo: começa com', 'Type: begins with'],
  'ruleCondition.amountFrom': ['Valor: no mínimo (R$)', 'Amount: at least (R$)'],
  'ruleCondition.amountTo': ['Valor: no máximo (R$)', 'Amount: at most (R$)'],
  'ruleCondition.document': ['CPF/CNPJ: é', 'Tax id (CPF or CNPJ): is'],
  'ruleCondition.account': [
    'Conta da contraparte: é (ISPB/agência/conta)',
    'Account of the counterparty: is (ISPB/branch/account)',
  ],
  'ruleCondition.notesContain': ['Observação: contém', 'Notes: contain'],
  'ruleCondition.notesMatch': [
    'Observação: corresponde ao padrão (RE2)',
    'Notes: match the pattern (RE2)',
  ],

  'ruleMatch.by': ['O que deve ser igual', 'What must agree'],
  'ruleMatch.byHint': [
    'O CPF/CNPJ ou o identificador, e o valor ou a data.',
    'The tax id or the reference, and the amount or the date.',
  ],
  'ruleMatch.by.document': ['CPF/CNPJ', 'Tax id (CPF or CNPJ)'],
  'ruleMatch.by.amount': ['Valor', 'Amount'],
  'ruleMatch.by.window': ['Data, perto do vencimento', 'Date, near the due date'],
  'ruleMatch.by.notes': [
    'Identificador do pagamento, citado na observação',
    'Reference of the payment, in the notes of the line',
  ],
  'ruleMatch.window': ['Data', 'Date'],
  'ruleMatch.windowHint': [
    'Só quando a data é comparada: quantos dias antes e depois do vencimento.',
    'Only where the date is compared: how many days before and after the due date.',
  ],
  'ruleMatch.daysBefore': ['Dias antes', 'Days before'],
  'ruleMatch.daysAfter': ['Dias depois', 'Days after'],
  'ruleMatch.parts': ['Quantos pagam quantos', 'How many pay how many'],
  'ruleParts.one': [
    'Um lançamento paga um pagamento previsto',
    'One line pays one expected payment',
  ],
  'ruleParts.combines': [
    'Um lançamento pode pagar vários pagamentos previstos por inteiro',
    'One line may pay several expected payments in full',
  ],
  'ruleParts.instalments': [
    'Vários lançamentos podem pagar um pagamento previsto em partes',
    'Several lines may pay one expected payment in parts',
  ],
  'ruleParts.plan': [
    'Parcelas em dias próprios, cada uma uma parte igual do valor',
    'Instalments on days of their own, each an equal part of the amount',
  ],
  'ruleParts.netSettlement': [
    'Liquidação líquida: um crédito paga muitas vendas, menos a taxa',
    'Net settlement: one credit pays many sales, less a fee',
  ],
  'ruleMatch.tolerance': ['Diferença tolerada', 'Tolerated difference'],
  'ruleMatch.toleranceHint': [
    'Vazio: o valor deve ser exato. Vale a maior entre valor e percentual, até o máximo.',
    'Empty: the amount must be exact. The larger of amount and percentage counts, up to the cap.',
  ],
  'ruleMatch.toleranceAmount': ['Até (R$)', 'Up to (R$)'],
  'ruleMatch.tolerancePercent': ['Até (%)', 'Up to (%)'],
  'ruleMatch.toleranceMax': ['Nunca mais de (R$)', 'Never more than (R$)'],
  'ruleMatch.plan': ['Plano de parcelas', 'Instalment plan'],
  'ruleMatch.planHint': [
    'A primeira vence na data do pagamento previsto. Sem intervalo, uma por mês.',
    'The first is due on the date of the expected payment. Without an interval, one a month.',
  ],
  'ruleMatch.planCount': ['Número de parcelas', 'Number of instalments'],
  'ruleMatch.planInterval': ['Intervalo em dias', 'Interval in days'],
  'ruleMatch.planToleranceDays': ['Dias de tolerância', 'Days of tolerance'],
  'ruleMatch.netSettlement': ['Liquidação líquida', 'Net settlement'],
  'ruleMatch.netSettlementHint': [
    'Limites estreitos são seguros: com limites largos, uma venda alheia pode passar por taxa.',
    'Narrow bounds are safe: with wide ones, a sale that is not part of it can pass as fee.',
  ],
  'ruleMatch.groupBy': ['As vendas pagas juntas são', 'The sales that are paid together are'],
  'ruleMatch.groupBy.day': ['todas as que vencem no mesmo dia', 'all that are due on one day'],
  'ruleMatch.groupBy.window': [
    'todas as que vencem no período comparado',
    'all that are due in the compared window',
  ],
  'ruleMatch.groupBy.notes': [
    'todas as que a observação cita',
    'all whose references the notes contain',
  ],
  'ruleMatch.feePercentMin': ['Taxa mínima (%)', 'Least fee (%)'],
  'ruleMatch.feePercentMax': ['Taxa máxima (%)', 'Greatest fee (%)'],
  'ruleMatch.feePerSaleMin': ['Mínimo por venda (R$)', 'Least for each sale (R$)'],
  'ruleMatch.feePerSaleMax': ['Máximo por venda (R$)', 'Greatest for each sale (R$)'],
} as const satisfies Texts;
