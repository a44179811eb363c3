// Texts of trials of rules, and of what people do with a rule.
import type { Texts } from './languages.js';

export const ruleTrialTexts = {
  'ruleTrial.title': [
    'Simulação da versão {version} de {name}',
    'Trial of version {version} of {name}',
  ],
  'ruleTrial.start': ['Simular sobre o histórico', 'Try over history'],
  'ruleTrial.startHint': [
    'Mostra o que esta versão decidiria em lançamentos passados. Não muda nada. Pode levar alguns segundos.',
    'Shows what this version would decide about past lines. It changes nothing. It may take some seconds.',
  ],
  'ruleTrial.periodHint': [
    'Sem datas: os últimos 90 dias. No máximo 400 dias.',
    'Without dates: the last 90 days. At most 400 days.',
  ],
  'ruleTrial.running': [
    'Simulando: {lines} lançamentos lidos até agora. O resultado abre sozinho.',
    'Trying: {lines} lines read so far. The result opens on its own.',
  ],
  'ruleTrial.interrupted': [
    'A simulação foi interrompida. Nada mudou: inicie-a de novo.',
    'The trial was interrupted. Nothing has changed: start it again.',
  ],
  'ruleTrial.wrongPeriod': [
    'O período não é válido: a primeira data não pode ser depois da última, e são no máximo 400 dias.',
    'The period is not valid: the first day must not be after the last, with at most 400 days.',
  ],
  'ruleTrial.version': ['Versão simulada', 'Version'],
  'ruleTrial.at': ['Simulada em', 'Tried at'],
  'ruleTrial.period': ['Período', 'Period'],
  'ruleTrial.lines': ['Lançamentos no período', 'Lines of the period'],
  'ruleTrial.tolerated': ['Diferenças toleradas', 'Tolerated differences'],
  'ruleTrial.fees': ['Taxas de liquidações líquidas', 'Fees of net settlements'],
  'ruleTrial.sum': ['{count}, soma de {amount}', '{count}, in all {amount}'],
  'ruleTrial.figures': ['O que mudaria', 'What would change'],
  'ruleTrial.figure': ['Mudança', 'Change'],
  'ruleTrial.nothing': [
    'Nada mudaria: nenhum lançamento do período teria outro resultado.',
    'Nothing would change: no line of the period would have another outcome.',
  ],
  'ruleTrial.differencesOf': ['{figure}: {count}', '{figure}: {count}'],
  'ruleTrial.firstOf': ['Os primeiros {shown} de {count}.', 'The first {shown} of {count}.'],
  'ruleTrial.noLines': ['Nenhum lançamento.', 'No lines.'],
  'ruleTrial.now': ['Hoje', 'Now'],
  'ruleTrial.then': ['Com esta versão', 'With this version'],
  'ruleTrial.unchanged': ['não muda', 'does not change'],
  'ruleFigure.matchedMore': ['Conciliados a mais', 'Newly matched'],
  'ruleFigure.classifiedMore': ['Classificados a mais', 'Newly classified'],
  'ruleFigure.changed': ['Decididos de outra forma', 'Decided otherwise'],
  'ruleFigure.less': ['Deixariam de ser decididos', 'No longer decided'],
  'ruleFigure.ambiguous': ['Ficariam ambíguos', 'Becoming ambiguous'],
  'ruleFigure.conflicts': ['Em conflito com o que já foi conciliado', 'In conflict with a match'],
  'ruleFigure.matchedMore.hint': [
    'Hoje sem resultado; esta versão os conciliaria.',
    'Without an outcome now; this version would match them.',
  ],
  'ruleFigure.classifiedMore.hint': [
    'Hoje sem resultado; esta versão os classificaria.',
    'Without an outcome now; this version would classify them.',
  ],
  'ruleFigure.changed.hint': [
    'Hoje decididos por regras; o resultado seria outro.',
    'Decided by rules now; the outcome would be another.',
  ],
  'ruleFigure.less.hint': [
    'Hoje decididos por regras; com esta versão nenhuma regra os decidiria.',
    'Decided by rules now; with this version no rule would decide them.',
  ],
  'ruleFigure.ambiguous.hint': [
    'Mais de um pagamento previsto serviria: ficariam como divergência.',
    'More than one expected payment would fit: they would stay a break.',
  ],
  'ruleFigure.conflicts.hint': [
    'Uma referência ou uma pessoa já os conciliou; a regra sozinha decidiria de outra forma. Não mudam.',
    'A reference or a person matched them; the rule alone would decide otherwise. They do not change.',
  ],
  'ruleOutcome.matched': ['Conciliado', 'Matched'],
  'ruleOutcome.payment': ['pagamento {id}', 'payment {id}'],
  'ruleOutcome.morePayments': ['e mais {count}', 'and {count} more'],
  'ruleOutcome.classified': ['Classificado: {category}', 'Classified: {category}'],
  'ruleOutcome.pending': ['Sem resultado', 'No outcome'],
  'ruleOutcome.byRule': ['pela regra {name}', 'by the rule {name}'],
  'ruleTrial.accept': ['Aceitar e ativar', 'Accept and activate'],
  'ruleTrial.acceptHint': [
    'A versão {version} passa a valer no lugar da ativa. Lançamentos em divergência e de períodos abertos são decididos de novo; períodos fechados não mudam.',
    'Version {version} takes the place of the active one. Lines in breaks and in open periods are decided again; closed periods do not change.',
  ],
  'ruleTrial.activate': ['Ativar a versão {version}', 'Activate version {version}'],
  'ruleTrial.isActive': ['Esta versão está ativa.', 'This version is active.'],
  'ruleTrial.newerTrial': [
    'Há uma simulação mais nova desta versão. Só a mais nova pode ser aceita.',
    'This version has a newer trial. Only the newest can be accepted.',
  ],
  'ruleTrial.back': ['Voltar à regra', 'Back to the rule'],

  'problem.trial_outdated': [
    'As regras mudaram, ou há outra simulação, desde o que você viu. Nada foi ativado: simule a versão de novo.',
    'The rules have changed, or there is another trial, since what you saw. Nothing was activated: try the version again.',
  ],
  'problem.trial_needed': [
    'A versão precisa de uma simulação feita depois da última ativação de qualquer regra da conta.',
    'The version needs a trial since the last activation of any rule of the account.',
  ],
  'problem.already_active': ['Esta versão já está ativa.', 'This version is active already.'],
  'problem.already_retired': [
    'Esta versão já está desativada.',
    'This version is retired already.',
  ],
  'problem.rule_limit': [
    'A conta tem o número máximo de versões que não estão desativadas. Desative as que não usa.',
    'The account has the greatest number of versions that are not retired. Retire those not in use.',
  ],
  'problem.trial_running': [
    'Outra simulação desta conta está em andamento. Espere que termine.',
    'Another trial of this account is running. Wait until it has ended.',
  ],
  'problem.period_too_long': [
    'O período tem lançamentos demais sem resultado. Simule um período mais curto.',
    'The period has too many lines without an outcome. Try a shorter period.',
  ],

  'action.declare rule': ['Criou uma regra', 'Declared a rule'],
  'action.declare rule version': ['Criou uma versão de regra', 'Declared a version of a rule'],
  'action.reorder rule': ['Mudou a prioridade de uma regra', 'Changed the priority of a rule'],
  'action.try rule': ['Simulou uma regra', 'Tried a rule'],
  'action.activate rule': ['Ativou uma regra', 'Activated a rule'],
  'action.retire rule': ['Desativou uma regra', 'Retired a rule'],
  'subject.rule': ['regra', 'rule'],
} as const satisfies Texts;
