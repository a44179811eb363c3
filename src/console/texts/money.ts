// Texts of the confirmation before money moves.
import type { Texts } from './languages.js';

export const moneyTexts = {
  'money.payee': ['Quem recebe', 'Payee'],
  'money.payees': ['Quem recebe', 'Payees'],
  'money.unnamed': ['Nome não conhecido', 'Name not known'],
  'money.payer': ['quem pagou', 'the payer'],
  'money.key': ['Chave Pix ou código', 'Pix key or code'],
  'money.total': ['Total de {count} pagamentos', 'Total of {count} payments'],
  'money.balance': ['Saldo, lido em {at}', 'Balance, as of {at}'],
  'money.noBalance': ['o saldo ainda não é conhecido', 'the balance is not known yet'],
  'money.askedBy': ['{name}, em {at}', '{name}, at {at}'],
  'money.changed': [
    'Nada foi enviado. Isto mudou desde que você conferiu:',
    'Nothing was sent. This has changed since you checked:',
  ],
  'money.change': ['{name}: era {before}, agora é {now}', '{name}: was {before}, is now {now}'],

  'money.refund': ['Devolver {amount} a {payee}', 'Refund {amount} to {payee}'],
  'money.refundAll': ['Devolver {amount} a {count} pagadores', 'Refund {amount} to {count} payers'],
  'money.send': ['Gravar e enviar {amount} a {payee}', 'Store and send {amount} to {payee}'],
  'money.sendAll': [
    'Gravar e enviar {count} pagamentos, {amount} no total',
    'Store and send {count} payments, {amount} in total',
  ],
  'money.resend': ['Enviar de novo {amount} a {payee}', 'Send {amount} to {payee} again'],
  'money.link': [
    'Conciliar {amount} de {payee} e deixar o resto aberto',
    'Link {amount} of {payee} and leave the rest open',
  ],
  'money.approve': ['Aprovar {amount} a {payee}', 'Approve {amount} to {payee}'],
  'money.approveAll': [
    'Aprovar {count} pagamentos, {amount} no total',
    'Approve {count} payments, {amount} in total',
  ],
} as const satisfies Texts;
