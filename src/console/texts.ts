// Every text of the console, in Portuguese and in English. A text that is missing in one language
// does not compile, and a page without a key in this list does not either.

export const languages = ['pt', 'en'] as const;
export type Language = (typeof languages)[number];

/** Each text in the order of `languages`. `{name}` stands for a value. */
export const texts = {
  'app.skip': ['Ir para o conteúdo', 'Skip to the content'],
  'app.menu': ['Páginas', 'Pages'],
  'app.language': ['Idioma', 'Language'],
  'app.changeAccount': ['Trocar de conta', 'Change account'],
  'app.signOut': ['Sair', 'Sign out'],
  'app.you': ['Você', 'You'],
  'app.next': ['Próxima página', 'Next page'],
  'app.back': ['Voltar', 'Back'],
  'app.continue': ['Continuar', 'Continue'],
  'app.reason': ['Motivo', 'Reason'],
  'app.save': ['Salvar', 'Save'],
  'app.none': ['—', '—'],
  'app.updated': ['Atualizado às {time}', 'Updated at {time}'],

  'error.title': ['Não foi possível concluir', 'This did not work'],
  'error.400': ['O pedido não pôde ser lido.', 'The request could not be read.'],
  'error.401': ['Entre para continuar.', 'Sign in to continue.'],
  'error.403': [
    'O seu papel nesta conta não permite esta ação.',
    'Your role in this account does not allow this action.',
  ],
  'error.404': [
    'Esta página não existe, ou você não tem acesso a ela.',
    'This page does not exist, or you have no access to it.',
  ],
  'error.409': [
    'O estado mudou enquanto isso. Abra a página de novo.',
    'The state changed meanwhile. Open the page again.',
  ],
  'error.413': ['O envio é grande demais.', 'The request is too large.'],
  'error.422': ['Uma regra impede esta ação.', 'A rule forbids this action.'],
  'error.429': [
    'Tentativas demais. Espere um pouco e tente de novo.',
    'Too many attempts. Wait a moment and try again.',
  ],
  'error.500': ['Ocorreu um erro inesperado.', 'An unexpected error occurred.'],
  'error.503': [
    'O serviço não está pronto. Tente de novo em instantes.',
    'The service is not ready. Try again in a moment.',
  ],
  'error.form': [
    'O formulário expirou ou veio de outro site. Abra a página de novo.',
    'The form has expired or came from another site. Open the page again.',
  ],
  'error.trace': [
    'Informe este código ao suporte: {traceId}',
    'Give this code to support: {traceId}',
  ],

  'signIn.title': ['Entrar', 'Sign in'],
  'signIn.email': ['E-mail', 'E-mail'],
  'signIn.password': ['Senha', 'Password'],
  'signIn.submit': ['Entrar', 'Sign in'],
  'signIn.refused': ['E-mail ou senha incorretos.', 'The e-mail or the password is wrong.'],
  'signIn.throttled': [
    'Tentativas demais. Tente de novo em {seconds} s.',
    'Too many attempts. Try again in {seconds} s.',
  ],
  'signIn.first': [
    'Ainda não há ninguém cadastrado? Abra o link que o serviço mostrou ao iniciar, ou execute npm run operator.',
    'Nobody is known yet? Open the link that the service printed at its start, or run npm run operator.',
  ],

  'code.title': ['Código do autenticador', 'Code of the authenticator'],
  'code.label': [
    'Código de 6 dígitos, ou um código de recuperação',
    'Code of 6 digits, or a recovery code',
  ],
  'code.labelOnly': ['Código de 6 dígitos', 'Code of 6 digits'],
  'code.submit': ['Confirmar', 'Confirm'],
  'code.wrong': [
    'Código incorreto ou já usado. Espere o próximo código.',
    'The code is wrong or was used. Wait for the next one.',
  ],

  'stepUp.title': ['Confirme com um código', 'Confirm with a code'],
  'stepUp.why': [
    'Aprovações, chaves e pessoas exigem um código dos últimos cinco minutos.',
    'Approvals, keys and people need a code of the last five minutes.',
  ],
  'stepUp.needed': [
    'Antes de alterar, confirme com um código do autenticador.',
    'Before a change, confirm with a code of the authenticator.',
  ],

  'link.title': ['Crie a sua senha', 'Set your password'],
  'link.firstTitle': ['Primeira pessoa', 'First person'],
  'link.firstWhy': [
    'Você será a primeira pessoa e poderá administrar todas as contas.',
    'You will be the first person, and may administer every account.',
  ],
  'link.for': ['Convite para {email}', 'Invitation for {email}'],
  'link.submit': ['Salvar a senha', 'Save the password'],
  'link.noEmail': ['Informe um e-mail válido.', 'Give a valid e-mail.'],

  'password.title': ['Trocar a senha', 'Change the password'],
  'password.current': ['Senha atual', 'Current password'],
  'password.next': ['Nova senha', 'New password'],
  'password.hint': ['Pelo menos 12 caracteres.', 'At least 12 characters.'],
  'password.submit': ['Trocar a senha', 'Change the password'],
  'password.changed': [
    'Senha trocada. As outras sessões foram encerradas.',
    'The password was changed. Your other sessions have ended.',
  ],
  'password.wrong': ['A senha atual está incorreta.', 'The current password is wrong.'],
  'password.too_short': [
    'A senha precisa de pelo menos 12 caracteres.',
    'The password needs at least 12 characters.',
  ],
  'password.too_long': [
    'A senha pode ter no máximo 200 caracteres.',
    'The password may have at most 200 characters.',
  ],
  'password.contains_email': [
    'A senha não pode conter o e-mail.',
    'The password must not contain the e-mail.',
  ],

  'authenticator.title': ['Configure o autenticador', 'Set up the authenticator'],
  'authenticator.why': [
    'Leia o código QR com um aplicativo autenticador e informe o código que ele mostra.',
    'Scan the QR code with an authenticator app, and enter the code that it shows.',
  ],
  'authenticator.qr': ['Código QR para o autenticador', 'QR code for the authenticator'],
  'authenticator.secret': ['Ou digite esta chave:', 'Or type this key:'],
  'recovery.title': ['Códigos de recuperação', 'Recovery codes'],
  'recovery.why': [
    'Guarde estes códigos em lugar seguro. Cada um vale uma vez, no lugar do autenticador. Eles não serão mostrados de novo.',
    'Store these codes in a safe place. Each works once, in place of the authenticator. They are not shown again.',
  ],

  'sessions.title': ['Suas sessões', 'Your sessions'],
  'sessions.browser': ['Navegador', 'Browser'],
  'sessions.since': ['Desde', 'Since'],
  'sessions.lastUsed': ['Último uso', 'Last used'],
  'sessions.this': ['Esta sessão', 'This session'],
  'sessions.end': ['Encerrar', 'End'],
  'sessions.of': ['Sessões de {email}', 'Sessions of {email}'],
  'sessions.empty': ['Nenhuma sessão aberta.', 'No open session.'],

  'accounts.title': ['Contas bancárias', 'Bank accounts'],
  'accounts.empty': [
    'Você ainda não tem papel em nenhuma conta. Peça a um administrador.',
    'You have no role in any account yet. Ask an administrator.',
  ],

  'role.viewer': ['Leitura', 'Viewer'],
  'role.analyst': ['Análise', 'Analyst'],
  'role.approver': ['Aprovação', 'Approver'],
  'role.admin': ['Administração', 'Admin'],

  'people.title': ['Pessoas', 'People'],
  'people.email': ['E-mail', 'E-mail'],
  'people.role': ['Papel', 'Role'],
  'people.roleHere': ['Papel nesta conta', 'Role in this account'],
  'people.where': ['Onde', 'Where'],
  'people.here': ['Nesta conta', 'In this account'],
  'people.everywhere': ['Em todas as contas', 'In every account'],
  'people.noRole': ['Nenhum', 'None'],
  'people.state': ['Situação', 'State'],
  'people.state.active': ['Ativa', 'Active'],
  'people.state.invited': ['Convidada', 'Invited'],
  'people.state.disabled': ['Desativada', 'Disabled'],
  'people.actions': ['Ações', 'Actions'],
  'people.invite': ['Convidar', 'Invite'],
  'people.invited': [
    'Envie este link à pessoa. Ele vale uma vez, por três dias, e não será mostrado de novo:',
    'Send this link to the person. It works once, within three days, and is not shown again:',
  ],
  'people.granted': ['O papel foi salvo.', 'The role was saved.'],
  'people.disable': ['Desativar', 'Disable'],
  'people.reset': ['Redefinir acesso', 'Reset access'],
  'people.sessions': ['Sessões', 'Sessions'],
  'people.you': ['(você)', '(you)'],

  'audit.title': ['Auditoria', 'Audit'],
  'audit.at': ['Quando', 'When'],
  'audit.person': ['Quem', 'Who'],
  'audit.server': ['Comando no servidor', 'Command on the server'],
  'audit.action': ['Ação', 'Action'],
  'audit.subject': ['Sobre', 'Subject'],
  'audit.shown': ['O que via', 'What they saw'],
  'audit.account': ['Conta', 'Account'],
  'audit.csv': ['Baixar CSV', 'Download CSV'],
  'audit.ndjson': ['Baixar NDJSON', 'Download NDJSON'],
  'audit.all': ['Todas as contas', 'All accounts'],
  'audit.one': ['Só esta conta', 'This account only'],
  'audit.empty': [
    'Nada foi feito ainda. Cada ação de uma pessoa aparece aqui.',
    'Nothing was done yet. Each action of a person appears here.',
  ],

  'action.create first person': ['Criou a primeira pessoa', 'Created the first person'],
  'action.invite': ['Convidou', 'Invited'],
  'action.accept invitation': ['Aceitou o convite', 'Accepted the invitation'],
  'action.give role viewer': ['Deu o papel Leitura', 'Gave the role viewer'],
  'action.give role analyst': ['Deu o papel Análise', 'Gave the role analyst'],
  'action.give role approver': ['Deu o papel Aprovação', 'Gave the role approver'],
  'action.give role admin': ['Deu o papel Administração', 'Gave the role admin'],
  'action.take role': ['Retirou o papel', 'Took the role away'],
  'action.disable': ['Desativou', 'Disabled'],
  'action.reset': ['Redefiniu o acesso', 'Reset the access'],
  'action.sign in': ['Entrou', 'Signed in'],
  'action.sign in by recovery': [
    'Entrou com código de recuperação',
    'Signed in by a recovery code',
  ],
  'action.set up authenticator': ['Configurou o autenticador', 'Set up the authenticator'],
  'action.step up': ['Confirmou com um código', 'Confirmed with a code'],
  'action.change password': ['Trocou a senha', 'Changed the password'],
  'action.sign out': ['Saiu', 'Signed out'],
  'action.end session': ['Encerrou uma sessão', 'Ended a session'],
  'subject.person': ['pessoa', 'person'],
  'subject.session': ['sessão', 'session'],

  'today.title': ['Hoje', 'Today'],
  'today.explained': [
    'Tudo explicado: cada lançamento do extrato está conciliado ou classificado.',
    'Everything is explained: each line of the statement is matched or classified.',
  ],
  'today.noLines': [
    'O extrato ainda não tem lançamentos. Eles aparecem com a primeira sincronização.',
    'The statement has no lines yet. They appear with the first sync.',
  ],
  'today.incomplete': [
    'O extrato está incompleto: faltam lançamentos na cadeia de saldos.',
    'The statement is incomplete: lines are missing in the balance chain.',
  ],
  'today.balanceDiffers': [
    'O saldo do banco difere do saldo do extrato.',
    "The bank's balance differs from the balance of the statement.",
  ],
  'today.openBreaks': [
    'Nem tudo está explicado. Divergências abertas: {count}.',
    'Not everything is explained. Open breaks: {count}.',
  ],
  'today.unknown': [
    'Operações sem resultado conhecido: {count}.',
    'Operations without a known outcome: {count}.',
  ],
  'today.pending': [
    'Lançamentos ainda em análise: {count}.',
    'Lines that are still being decided: {count}.',
  ],
  'today.overdue': [
    'Pagamentos previstos e atrasados: {count}.',
    'Expected payments that are overdue: {count}.',
  ],
  'today.stopped': [
    'A conta não envia pedidos ao banco: {reason}',
    'The account sends no requests to the bank: {reason}',
  ],
  'today.statement': ['Extrato', 'Statement'],
  'today.lastNsu': ['Último NSU', 'Last NSU'],
  'today.balance': ['Saldo do extrato', 'Balance of the statement'],
  'today.bankBalance': ['Saldo informado pelo banco', "Balance by the bank's word"],
  'today.agrees': ['confere', 'agrees'],
  'today.differs': ['difere', 'differs'],
  'today.closedUntil': ['Conferido até', 'Closed until'],
  'today.syncedAt': ['Última sincronização', 'Last sync'],
  'today.lines': ['Lançamentos', 'Lines'],
  'today.total': ['Total', 'Total'],
  'today.matched': ['Conciliados', 'Matched'],
  'today.classified': ['Classificados', 'Classified'],
  'today.inBreak': ['Em divergência', 'In a break'],
  'today.pendingLines': ['Em análise', 'Pending'],
  'today.breaks': ['Divergências abertas', 'Open breaks'],
  'today.noBreaks': ['Nenhuma divergência aberta.', 'No open break.'],
  'today.kind': ['Tipo', 'Kind'],
  'today.severity': ['Gravidade', 'Severity'],
  'today.urgent': ['alta ou crítica', 'high or critical'],
  'today.byAmount': ['pelo valor e pela idade', 'by amount and age'],
  'today.count': ['Quantidade', 'Count'],
  'today.operations': ['Operações', 'Operations'],
  'today.sending': ['Em envio', 'Being sent'],
  'today.unknownOperations': ['Resultado desconhecido', 'Unknown outcome'],
  'today.needsOperator': ['Precisam de uma pessoa', 'Need a person'],
  'today.webhooks': ['Webhooks', 'Webhooks'],
  'today.received': ['Recebidos', 'Received'],
  'today.pendingWebhooks': ['Pendentes', 'Pending'],
  'today.quarantined': ['Em quarentena', 'Quarantined'],
  'today.lost': ['Perdidos nas últimas 24 h', 'Lost in the last 24 h'],
  'today.delay': ['Atraso mediano (24 h)', 'Median delay (24 h)'],
  'today.deliveries': ['Entregas aos seus sistemas', 'Deliveries to your systems'],
  'today.dead': ['Não entregues', 'Dead'],

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
} as const satisfies Record<string, readonly [pt: string, en: string]>;

export type TextKey = keyof typeof texts;

/** The text of a key, with its values filled in. */
export type Translate = (key: TextKey, values?: Record<string, string | number>) => string;

export function translateInto(language: Language): Translate {
  const index = languages.indexOf(language) as 0 | 1;
  return (key, values = {}) =>
    texts[key][index].replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''));
}

/** The key of a value that comes from the database, such as the kind of a break. */
export function findTextKey(key: string): TextKey | null {
  return Object.hasOwn(texts, key) ? (key as TextKey) : null;
}

/**
 * The language that a person chose, or the first of `Accept-Language` that the console has.
 * Portuguese where no language is named: the bank's customers are in Brazil.
 */
export function chooseLanguage(chosen: string | undefined, accepted: string): Language {
  const known = languages.find((language) => language === chosen);
  if (known) return known;
  const ranked = accepted
    .split(',')
    .map((part, index) => {
      const [tag = '', ...parameters] = part.trim().toLowerCase().split(';');
      const quality = parameters
        .find((one) => one.trim().startsWith('q='))
        ?.trim()
        .slice(2);
      return { tag: tag.split('-')[0] ?? '', quality: quality ? Number(quality) || 0 : 1, index };
    })
    .filter(({ quality }) => quality > 0)
    .sort((one, other) => other.quality - one.quality || one.index - other.index);
  for (const { tag } of ranked) {
    const language = languages.find((one) => one === tag);
    if (language) return language;
  }
  return ranked.some(({ tag }) => tag !== '' && tag !== '*') ? 'en' : 'pt';
}
