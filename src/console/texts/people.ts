// Texts of signing in, of people and of the audit.
import type { Texts } from './languages.js';

export const peopleTexts = {
  'signIn.title': ['Entrar', 'Sign in'],
  'signIn.password': ['Senha', 'Password'],
  'signIn.refused': ['E-mail ou senha incorretos.', 'The e-mail or the password is wrong.'],
  'signIn.throttled': [
    'Tentativas demais. Tente de novo em {seconds} s.',
    'Too many attempts. Try again in {seconds} s.',
  ],
  'signIn.first': [
    'Ainda não há ninguém cadastrado? Abra o link que o serviço mostrou ao iniciar, ou execute concilia people.',
    'Nobody is known yet? Open the link that the service printed at its start, or run concilia people.',
  ],

  'sso.signIn': ['Entrar com a conta da empresa', 'Sign in with the company account'],
  'sso.withPassword': ['Emergência: entrar com senha', 'Emergency: sign in with a password'],
  'sso.local': [
    'Só para quem administra todas as contas. Cada entrada com senha gera um alerta.',
    'Only for admins of every account. Each sign-in with a password raises an alert.',
  ],
  'sso.noPassword': [
    'Entre com a conta da empresa: a senha é só para quem administra todas as contas.',
    'Sign in with the company account: passwords are for admins of every account.',
  ],
  'sso.unavailable': [
    'O provedor de identidade não responde. Tente de novo em instantes.',
    'The identity provider does not answer. Try again in a moment.',
  ],
  'sso.denied': [
    'O provedor de identidade não autorizou a entrada.',
    'The identity provider did not authorize the sign-in.',
  ],
  'sso.invalid': [
    'A resposta do provedor de identidade não é válida. Avise quem administra o sistema.',
    'The response of the identity provider is not valid. Ask who administers the system.',
  ],
  'sso.expired': [
    'Esta tentativa venceu ou já foi usada. Comece de novo.',
    'This attempt has expired or was used. Begin again.',
  ],
  'sso.not_authenticated_again': [
    'O provedor não confirmou que você acaba de entrar de novo nele.',
    'The provider did not confirm that you have just signed in there again.',
  ],
  'sso.no_group': [
    'Você não está em nenhum grupo com acesso. Peça acesso a quem administra o sistema.',
    'You are in no group that has access. Ask who administers the system.',
  ],
  'sso.disabled': ['O seu acesso está desativado.', 'Your access is disabled.'],
  'sso.email_unverified': [
    'Já existe uma pessoa com este e-mail, e o provedor não o confirma como verificado.',
    'A person with this e-mail exists, and the provider does not say that it is verified.',
  ],
  'sso.email_taken': [
    'Este e-mail é de outra identidade. Peça a um administrador que redefina o acesso.',
    'This e-mail belongs to another identity. Ask an administrator to reset the access.',
  ],
  'sso.other_person': [
    'Quem entrou no provedor não é a pessoa desta sessão.',
    'Who signed in at the provider is not the person of this session.',
  ],
  'sso.confirm': ['Confirmar com a conta da empresa', 'Confirm with the company account'],
  'sso.confirmTitle': ['Confirme a sua identidade', 'Confirm your identity'],
  'sso.confirmWhy': [
    'Aprovações, chaves e pessoas exigem que você entre de novo no provedor de identidade.',
    'Approvals, keys and people need another sign-in at the identity provider.',
  ],

  'code.title': ['Código do autenticador', 'Code of the authenticator'],
  'code.label': [
    'Código de 6 dígitos, ou um código de recuperação',
    'Code of 6 digits, or a recovery code',
  ],
  'code.labelOnly': ['Código de 6 dígitos', 'Code of 6 digits'],
  'code.wrong': [
    'Código incorreto ou já usado. Espere o próximo código.',
    'The code is wrong or was used. Wait for the next one.',
  ],

  'stepUp.title': ['Confirme com um código', 'Confirm with a code'],
  'stepUp.why': [
    'Aprovações, chaves e pessoas exigem um código dos últimos cinco minutos.',
    'Approvals, keys and people need a code of the last five minutes.',
  ],
  'stepUp.held': [
    'O que você preencheu está guardado e é enviado junto com um código do autenticador.',
    'What you have filled in waits, and is sent with a code of the authenticator.',
  ],
  'stepUp.heldThere': [
    'O que você preencheu está guardado. Confirme no provedor em outra aba e depois envie daqui.',
    'What you have filled in waits. Confirm at the provider in another tab, then send it from here.',
  ],
  'stepUp.confirm': ['Confirmar e enviar', 'Confirm and send'],

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
  'sessions.lastUsed': ['Último uso', 'Last used'],
  'sessions.this': ['Esta sessão', 'This session'],
  'sessions.end': ['Encerrar', 'End'],
  'sessions.of': ['Sessões de {email}', 'Sessions of {email}'],
  'sessions.empty': ['Nenhuma sessão aberta.', 'No open session.'],

  'accounts.title': ['Contas bancárias', 'Bank accounts'],
  'accounts.empty': [
    'Você ainda não tem perfil em nenhuma conta. Peça a um administrador.',
    'You have no role in any account yet. Ask an administrator.',
  ],

  'people.title': ['Pessoas', 'People'],
  'people.roleHere': ['Perfil nesta conta', 'Role in this account'],
  'people.where': ['Onde', 'Where'],
  'people.here': ['Nesta conta', 'In this account'],
  'people.everywhere': ['Em todas as contas', 'In every account'],
  'people.elsewhere': [
    'Tem perfil em outro lugar: só quem administra todas as contas desativa ou redefine.',
    'Has a role elsewhere: only an admin of every account disables or resets.',
  ],
  'people.noRole': ['Nenhum', 'None'],
  'people.state.active': ['Ativa', 'Active'],
  'people.state.invited': ['Convidada', 'Invited'],
  'people.state.disabled': ['Desativada', 'Disabled'],
  'people.invite': ['Convidar', 'Invite'],
  'people.invited': [
    'Envie este link à pessoa. Ele vale uma vez, por três dias, e não será mostrado de novo:',
    'Send this link to the person. It works once, within three days, and is not shown again:',
  ],
  'people.granted': ['O perfil foi salvo.', 'The role was saved.'],
  'people.disable': ['Desativar', 'Disable'],
  'people.reset': ['Redefinir acesso', 'Reset access'],
  'people.sessions': ['Sessões', 'Sessions'],
  'people.sso': ['Pelos grupos do provedor', 'By groups of the provider'],
  'people.you': ['(você)', '(you)'],

  'audit.title': ['Auditoria', 'Audit'],
  'audit.server': ['Comando no servidor', 'Command on the server'],
  'audit.stranger': ['Pessoa desconhecida', 'Unknown person'],
  'audit.subject': ['Sobre', 'Subject'],
  'audit.shown': ['Dados consultados', 'What they saw'],
  'audit.ndjson': ['Baixar NDJSON', 'Download NDJSON'],
  'audit.all': ['Todas as contas', 'All accounts'],
  'audit.one': ['Só esta conta', 'This account only'],
  'audit.trace': ['Rastro', 'Trace'],
  'audit.empty': [
    'Nada foi feito ainda. Cada ação de uma pessoa aparece aqui.',
    'Nothing was done yet. Each action of a person appears here.',
  ],

  'action.create first person': ['Criou a primeira pessoa', 'Created the first person'],
  'action.invite': ['Convidou', 'Invited'],
  'action.accept invitation': ['Aceitou o convite', 'Accepted the invitation'],
  'action.give role viewer': ['Deu o perfil Leitura', 'Gave the role viewer'],
  'action.give role analyst': ['Deu o perfil Análise', 'Gave the role analyst'],
  'action.give role approver': ['Deu o perfil Aprovação', 'Gave the role approver'],
  'action.give role admin': ['Deu o perfil Administração', 'Gave the role admin'],
  'action.take role': ['Retirou o perfil', 'Took the role away'],
  'action.disable': ['Desativou', 'Disabled'],
  'action.reset': ['Redefiniu o acesso', 'Reset the access'],
  'action.sign in': ['Entrou', 'Signed in'],
  'action.sign in by recovery': [
    'Entrou com código de recuperação',
    'Signed in by a recovery code',
  ],
  'action.sign in by sso': ['Entrou pelo provedor', 'Signed in at the provider'],
  'action.sign in without sso': [
    'Entrou com senha, sem o provedor',
    'Signed in with a password, not at the provider',
  ],
  'action.refuse sign in by sso': ['Entrada recusada', 'Sign-in refused'],
  'action.create person by sso': [
    'Primeira entrada pelo provedor',
    'First sign-in at the provider',
  ],
  'action.link person to sso': [
    'Passou a entrar pelo provedor',
    'Signs in at the provider from now on',
  ],
  'action.set up authenticator': ['Configurou o autenticador', 'Set up the authenticator'],
  'action.step up': ['Confirmou com um código', 'Confirmed with a code'],
  'action.change password': ['Trocou a senha', 'Changed the password'],
  'action.sign out': ['Saiu', 'Signed out'],
  'action.play the payer': ['Fez o papel do pagador', 'Played the payer'],
  'action.change the sandbox bank': ['Mudou o banco de testes', 'Changed the sandbox bank'],
  'action.refused': ['Ação recusada', 'Action refused'],
  'action.failed': ['Ação com erro', 'Action failed'],
  'action.end session': ['Encerrou uma sessão', 'Ended a session'],
  'action.start reconciliation': ['Iniciou a conciliação', 'Started a reconciliation'],
  'subject.account': ['conta', 'account'],
  'subject.entry': ['registro', 'entry'],
  'subject.person': ['pessoa', 'person'],
  'subject.sso': ['identidade', 'identity'],
  'subject.session': ['sessão', 'session'],
} as const satisfies Texts;
