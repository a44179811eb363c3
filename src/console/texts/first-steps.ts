// Texts of the first visit.
import type { Texts } from './languages.js';

export const firstStepsTexts = {
  'firstSteps.title': ['Primeiros passos', 'First steps'],
  'firstSteps.intro': [
    'Três passos até o primeiro pagamento conciliado na tela.',
    'Three steps to the first reconciled payment on screen.',
  ],
  'firstSteps.one': ['1. A conexão com o banco funciona', '1. The connection to the bank works'],
  'firstSteps.connected': [
    'O banco respondeu: o extrato foi lido pela última vez em {time}.',
    'The bank has answered: the statement was last read at {time}.',
  ],
  'firstSteps.notConnected': [
    'O banco ainda não respondeu. Esta página confere de novo a cada segundo. Se demorar, confira o endereço e a chave em Conta.',
    'The bank has not answered yet. This page checks again each second. If it takes long, check address and key on the page Account.',
  ],
  'firstSteps.stopped': [
    'A conta não está ativa: cobranças não são enviadas. Um administrador muda o modo em Conta.',
    'The account is not live: charges are not sent. An admin changes the mode on the page Account.',
  ],
  'firstSteps.two': ['2. Crie uma cobrança', '2. Create a charge'],
  'firstSteps.twoWhy': [
    'Um boleto com QR Code Pix, como um sistema da empresa o emite. O exemplo já está preenchido.',
    'A bank slip with a Pix QR code, as a business system issues it. The example is filled in.',
  ],
  'firstSteps.payerDocument': ['CPF/CNPJ do pagador', 'CPF or CNPJ of the payer'],
  'firstSteps.amount': ['Valor em reais', 'Amount in reais'],
  'firstSteps.create': ['Criar a cobrança', 'Create the charge'],
  'firstSteps.curl': ['O mesmo pela API, no terminal:', 'The same by the API, in a terminal:'],
  'firstSteps.yourKey': ['a-sua-chave', 'your-key'],
  'firstSteps.created': ['A cobrança {id} foi criada.', 'The charge {id} was created.'],
  'firstSteps.open': ['Abrir a cobrança', 'Open the charge'],
  'firstSteps.another': ['Criar outra cobrança', 'Create another charge'],
  'firstSteps.newest': ['Acompanhar a cobrança mais nova', 'Follow the newest charge'],
  'firstSteps.notAllowed': [
    'Criar uma cobrança exige o papel Análise.',
    'To create a charge needs the role analyst.',
  ],
  'firstSteps.problem': [
    'A cobrança não foi criada: {problem}',
    'The charge was not created: {problem}',
  ],
  'firstSteps.refused': ['o banco recusou o pedido.', 'the bank rejected the request.'],
  'firstSteps.three': ['3. Pague', '3. Pay it'],
  'firstSteps.payWhy': [
    'O banco de testes tem um pagador. Ele paga quando você pedir.',
    'The sandbox bank has a payer, who pays when you ask.',
  ],
  'firstSteps.pay': ['Pagar como o pagador', 'Pay as the payer'],
  'firstSteps.payByApp': [
    'Pague no aplicativo do seu banco, com o código Pix abaixo ou o boleto. Esta página acompanha sozinha.',
    "Pay in your bank's app, with the Pix code below or the slip. This page follows it.",
  ],
  'firstSteps.pixCode': ['Pix copia e cola', 'Pix code'],
  'firstSteps.payProblem': [
    'O banco de testes não aceitou o pagamento: {problem}',
    'The sandbox bank did not accept the payment: {problem}',
  ],
  'firstSteps.followed': ['O caminho do pagamento', 'The way of the payment'],
  'firstSteps.requested': ['Cobrança enviada ao banco', 'Charge sent to the bank'],
  'firstSteps.webhook': ['Webhook do banco recebido', "The bank's webhook received"],
  'firstSteps.line': ['Lançamento lido no extrato', 'Line synced from the statement'],
  'firstSteps.match': ['Lançamento conciliado com a cobrança', 'Line matched with the charge'],
  'firstSteps.event': ['Evento gravado para os seus sistemas', 'Event recorded for your systems'],
  'firstSteps.awaited': ['aguardando', 'awaited'],
  'firstSteps.paid': ['O pagamento está no extrato.', 'The payment is on the statement.'],
  'firstSteps.notNeeded': [
    'não chegou; o lançamento foi encontrado sem ele',
    'has not arrived; the line was found without it',
  ],
  'firstSteps.done': [
    'Conciliado: {amount} no extrato, explicado pela cobrança {id}.',
    'Reconciled: {amount} on the statement, explained by the charge {id}.',
  ],
  'firstSteps.next': [
    'Agora crie uma chave para cada sistema, convide colegas e cadastre um destino de eventos.',
    'Now create a key for each system, invite colleagues, and add an endpoint for events.',
  ],
  'firstSteps.demo': ['Ou veja um mês pronto', 'Or look at a whole month'],
  'firstSteps.demoWhy': [
    'Uma loja com 45 dias de extrato no banco de testes: quase tudo conciliado, e de cada tipo de divergência um pouco. Leva até um minuto.',
    'A shop with 45 days of statement at the sandbox bank: nearly all reconciled, and some of each kind of break. It takes up to a minute.',
  ],
  'firstSteps.openDemo': ['Abrir a demonstração', 'Open the demonstration'],
  'firstSteps.openingDemo': [
    'A demonstração está sendo aberta',
    'The demonstration is being opened',
  ],
  'firstSteps.demoLines': [
    'O banco de testes gera os lançamentos de 45 dias…',
    'The sandbox bank generates the lines of 45 days…',
  ],
  'firstSteps.demoBooks': [
    'A loja declara o que espera: {declared} de {due} pagamentos. A página abre sozinha.',
    'The shop declares what it expects: {declared} of {due} payments. Its page opens on its own.',
  ],
  'firstSteps.link': [
    'Primeira visita? Três passos levam ao primeiro pagamento conciliado.',
    'First visit? Three steps lead to the first reconciled payment.',
  ],

  'action.create first charge': ['Criou uma cobrança de teste', 'Created a first charge'],
  'action.pay first charge': ['Pagou como o pagador de testes', 'Paid as the payer of the sandbox'],
} as const satisfies Texts;
