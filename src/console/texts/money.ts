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
  'balance.statement': [
    'Saldo do extrato: {amount}, do último lançamento ({at}). O banco ainda não informou o seu.',
    'Balance of the statement: {amount}, of the newest line ({at}). The bank has not said its own yet.',
  ],
  'balance.agrees': [
    'Saldo do extrato: {amount}, do último lançamento ({at}). O banco confirma, lido em {bankAt}.',
    'Balance of the statement: {amount}, of the newest line ({at}). The bank agrees, read at {bankAt}.',
  ],
  'balance.notCompared': [
    'Saldo do extrato: {amount}, do último lançamento ({at}). O banco informou {bank} em {bankAt}, ainda não comparado com esse lançamento.',
    'Balance of the statement: {amount}, of the newest line ({at}). The bank said {bank} at {bankAt}, which is not compared with that line yet.',
  ],
  'balance.differs': [
    'O banco informa um saldo de {bank} (lido em {bankAt}); o extrato termina em {amount} (lançamento de {at}). Diferença: {difference}.',
    'The bank says that the balance is {bank} (read at {bankAt}); the statement ends with {amount} (line of {at}). Difference: {difference}.',
  ],
  'balance.broken': [
    'O extrato está incompleto: faltam lançamentos na cadeia de saldos, e os saldos mostrados podem estar errados.',
    'The statement is incomplete: lines are missing in the balance chain, and the balances shown may be wrong.',
  ],
  'balance.see': ['Ver a divergência', 'See the break'],
  'balance.ofMonthEnd': [
    'ao fim do mês, pelo último lançamento',
    'at the end of the month, by its last line',
  ],
  'balance.ofMonthStart': [
    'antes do primeiro lançamento do mês',
    'before the first line of the month',
  ],
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
