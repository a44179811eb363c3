// Texts of the approval policy and of the payment controls.
import type { Texts } from './languages.js';

export const paymentRulesTexts = {
  'policy.title': ['Política de aprovação', 'Approval policy'],
  'policy.inForce': ['Política em vigor', 'Policy in force'],
  'policy.off': [
    'Nenhum pagamento precisa de aprovação: cada um é enviado na hora.',
    'No payment needs approval: each is sent at once.',
  ],
  'policy.every': ['Todo pagamento precisa de aprovação.', 'Every payment needs approval.'],
  'policy.above': [
    'Pagamentos acima de {amount} precisam de aprovação.',
    'Payments above {amount} need approval.',
  ],
  'policy.newBeneficiary': [
    'Pagamentos a quem nunca recebeu desta conta precisam de aprovação.',
    'Payments to somebody whom the account never paid need approval.',
  ],
  'policy.onlyKinds': ['Só para: {names}.', 'Only for: {names}.'],
  'policy.onlySources': ['Só quando a origem é: {names}.', 'Only where the source is: {names}.'],
  'policy.approvals.1': ['Uma aprovação basta.', 'One approval is enough.'],
  'policy.approvals.2': [
    'Duas pessoas diferentes aprovam cada pagamento.',
    'Two different people approve each payment.',
  ],
  'policy.expires': [
    'Sem aprovação em {hours} h, o pagamento expira e não é enviado.',
    'Without its approvals within {hours} h, a payment expires and is not sent.',
  ],
  'policy.proposed': ['Propostas que esperam confirmação', 'Proposals that wait for confirmation'],
  'policy.proposedWhy': [
    'Uma mudança que afrouxa a política só vale quando outra pessoa (ou outra chave) a confirma, em até 72 horas. Outra mudança que entra em vigor encerra as propostas.',
    'A change that weakens the policy takes effect when another person (or another key) confirms it, within 72 hours. Another change that takes effect ends the proposals.',
  ],
  'policy.noProposals': ['Nenhuma proposta espera.', 'No proposal waits.'],
  'policy.confirm': ['Confirmar a proposta', 'Confirm the proposal'],
  'policy.ownProposal': [
    'Sua proposta: outra pessoa a confirma.',
    'Your proposal: another person confirms it.',
  ],
  'policy.change': ['Mudar a política', 'Change the policy'],
  'policy.aboveAmount': ['Pedir aprovação acima de', 'Ask for approval above'],
  'policy.aboveHint': [
    'Em reais. 0: todo valor. Vazio: nenhum valor.',
    'In reais. 0: every amount. Empty: no amount.',
  ],
  'policy.newField': ['Pedir aprovação para recebedor novo', 'Ask for approval for a new payee'],
  'policy.kinds': ['Só para estes tipos', 'Only for these kinds'],
  'policy.sources': ['Só para estas origens', 'Only for these sources'],
  'policy.noneIsAll': ['Nenhum marcado: todos.', 'None chosen: all.'],
  'policy.approvals': ['Aprovações por pagamento', 'Approvals of each payment'],
  'policy.hours': ['Horas até expirar', 'Hours until it expires'],
  'policy.saved': ['A política está em vigor.', 'The policy is in force.'],
  'policy.waiting': [
    'A mudança afrouxa a política. Ela espera a confirmação de outra pessoa.',
    'The change weakens the policy. It waits for the confirmation of another person.',
  ],
  'policy.noHistory': [
    'A política nunca foi mudada. Cada mudança aparece aqui.',
    'The policy was never changed. Each change appears here.',
  ],
  'policy.what': ['Política', 'Policy'],
  'policy.entered': ['Entrou em vigor', 'Took effect'],
  'policy.onlyProposed': ['Proposta', 'Proposed'],
  'policy.needsRole': [
    'Quem muda a política e os controles tem o papel Administração nesta conta.',
    'Who changes the policy and the controls has the role admin in this account.',
  ],

  'controls.title': ['Controles de pagamento', 'Payment controls'],
  'controls.limits': ['Limites', 'Limits'],
  'controls.noLimits': [
    'A conta não tem limite de pagamento.',
    'The account has no payment limit.',
  ],
  'controls.usedLeft': ['Usado: {used}. Resta: {left}.', 'Used: {used}. Left: {left}.'],
  'controls.limit.perOperation': ['Por pagamento', 'For each payment'],
  'controls.limit.perHour': ['Por hora', 'For each hour'],
  'controls.limit.perNight': ['Por noite', 'For each night'],
  'controls.limit.perDay': ['Por dia', 'For each day'],
  'controls.limit.perKeyPerDay': [
    'Por dia, de cada pessoa ou chave',
    'For each day, of each person or key',
  ],
  'controls.limit.perCounterpartyPerDay': [
    'Por dia, para cada recebedor',
    'For each day, to each payee',
  ],
  'controls.checksPayee': [
    'Conferir o documento do dono da chave Pix',
    'Check the document of the holder of a Pix key',
  ],
  'controls.allowList': ['Pagar só os beneficiários da lista', 'Pay only the listed beneficiaries'],
  'controls.includesBills': ['A lista vale também para contas', 'The list holds for bills, too'],
  'controls.coolingOff': [
    'Carência de um beneficiário novo, em horas',
    'Cooling-off time of a new beneficiary, in hours',
  ],
  'controls.night': ['Noite', 'Night'],
  'controls.nightHours': ['das {from} h às {until} h', 'from {from}:00 until {until}:00'],
  'controls.nightFrom': ['A noite começa (hora)', 'The night begins (hour)'],
  'controls.nightUntil': ['A noite termina (hora)', 'The night ends (hour)'],
  'controls.guardInterval': [
    'Conta guardada: ler a cada (segundos)',
    'Guarded: read every (seconds)',
  ],
  'controls.guardInterval.hint': [
    'Por exemplo 3. Vazio: a conta não é guardada.',
    'Such as 3. Empty: the account is not guarded.',
  ],
  'controls.bankContact': ['Contato de emergência do banco', 'Emergency contact of the bank'],
  'controls.alarmAbove': ['Alarme acima de', 'Alarm above'],
  'controls.alarmAbove.hint': [
    'De débitos sem explicação, um ou os de 24 horas. Vazio: cada um é alarme.',
    'Of debits without an explanation, one or those of 24 hours. Empty: each is an alarm.',
  ],
  'controls.alarmAlways': ['cada débito sem explicação', 'each debit without an explanation'],
  'controls.declaredDebits': ['Débitos declarados', 'Declared debits'],
  'controls.declaredDebits.hint': [
    'Um por linha: tipo; máximo em 24 horas; e, se quiser, quem recebe (ISPB/agência/conta).',
    'One a line: type; maximum in 24 hours; and, if you like, the payee (ISPB/branch/account).',
  ],
  'controls.change': ['Mudar os controles', 'Change the controls'],
  'controls.changeWhy': [
    'A mudança vale na hora, também para pagamentos que esperam aprovação. Limites em reais; vazio: sem limite.',
    'A change takes effect at once, also for payments that await approval. Limits in reais; empty: no limit.',
  ],
  'controls.saved': ['Os controles estão em vigor.', 'The controls are in force.'],
  'controls.beneficiaries': ['Beneficiários', 'Beneficiaries'],
  'controls.noBeneficiaries': [
    'Nenhum beneficiário. Quando a lista está ligada, só quem está aqui recebe pagamentos.',
    'No beneficiary. While the list is on, only those listed here are paid.',
  ],
  'controls.account': ['Conta ou código de barras', 'Account or bar code'],
  'controls.usableFrom': ['Pode receber desde', 'Can be paid from'],
  'controls.removeOf': ['Motivo para remover {name}', 'Reason to remove {name}'],
  'controls.add': ['Adicionar beneficiário', 'Add a beneficiary'],
  'controls.addWhy': [
    'Preencha um dos três: conta de outra instituição, conta do mesmo banco ou boleto.',
    'Fill in one of three: an account at an institution, an account of the same bank, or a bill.',
  ],
  'controls.accountNumber': ['Conta do mesmo banco', 'Account of the same bank'],
  'controls.bill': ['Linha digitável ou código de barras', 'Digitable line or bar code'],
  'controls.history': ['Mudanças', 'Changes'],
  'controls.noHistory': [
    'Os controles nunca foram mudados. Cada mudança aparece aqui.',
    'The controls were never changed. Each change appears here.',
  ],
  'controls.action.controls_set': ['Mudou os controles', 'Changed the controls'],
  'controls.action.beneficiary_added': ['Adicionou beneficiário', 'Added a beneficiary'],
  'controls.action.beneficiary_removed': ['Removeu beneficiário', 'Removed a beneficiary'],

  'action.approve payment': ['Aprovou um pagamento', 'Approved a payment'],
  'action.decline payment': ['Recusou um pagamento', 'Declined a payment'],
  'action.change approval policy': ['Mudou a política de aprovação', 'Changed the approval policy'],
  'action.change payment controls': [
    'Mudou os controles de pagamento',
    'Changed the payment controls',
  ],
  'action.add beneficiary': ['Adicionou um beneficiário', 'Added a beneficiary'],
  'action.remove beneficiary': ['Removeu um beneficiário', 'Removed a beneficiary'],
  'subject.beneficiary': ['beneficiário', 'beneficiary'],
} as const satisfies Texts;
