// Texts that all pages have in common: the frame, errors, roles.
import type { Texts } from './languages.js';

export const appTexts = {
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
  'app.yes': ['Sim', 'Yes'],
  'app.no': ['Não', 'No'],
  'app.filter': ['Filtrar', 'Filter'],
  'app.clearFilters': ['Limpar filtros', 'Clear the filters'],
  'app.any': ['Todos', 'Any'],
  'app.wrongFilters': [
    'Filtros ignorados, porque o valor não é válido: {names}.',
    'Filters left out, because their value is not valid: {names}.',
  ],
  'app.firstPage': ['Primeira página', 'First page'],
  'app.confirm': ['Confirmar', 'Confirm'],
  'app.cancel': ['Cancelar', 'Cancel'],
  'app.sandbox': [
    'Banco de teste: nenhum dinheiro real se move',
    'Sandbox bank: no real money moves',
  ],
  'app.updated': ['Atualizado às {time}', 'Updated at {time}'],

  'section.today': ['Hoje', 'Today'],
  'section.breaks': ['Divergências', 'Breaks'],
  'section.payments': ['Pagamentos', 'Payments'],
  'section.statement': ['Extrato', 'Statement'],
  'section.files': ['Arquivos', 'Files'],
  'section.approvals': ['Aprovações', 'Approvals'],
  'section.connections': ['Conexões', 'Connections'],
  'section.settings': ['Configurações', 'Settings'],

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
  'error.502': [
    'O banco não pôde ser alcançado ou recusou o pedido. Tente de novo em instantes.',
    'The bank could not be reached, or refused the request. Try again in a moment.',
  ],
  'error.503': [
    'O serviço não está pronto. Tente de novo em instantes.',
    'The service is not ready. Try again in a moment.',
  ],
  'error.504': [
    'O banco não respondeu a tempo. Tente de novo em instantes.',
    'The bank did not respond in time. Try again in a moment.',
  ],
  'fieldError.summary': [
    'Há campos a corrigir. Nada foi gravado.',
    'Some fields need correction. Nothing was stored.',
  ],
  'problem.foreign_form': [
    'O formulário expirou ou veio de outro site. Abra a página de novo.',
    'The form has expired or came from another site. Open the page again.',
  ],
  'error.trace': [
    'Informe este código ao suporte: {traceId}',
    'Give this code to support: {traceId}',
  ],

  'actor.service': ['Concilia', 'Concilia'],
  'actor.policy': ['Política automática', 'Automatic policy'],
  'actor.key': ['Chave de API {name}', 'API key {name}'],
  'actor.settingsKey': ['Chave de API da configuração', 'API key of the settings'],
  'actor.person': ['Uma pessoa', 'A person'],

  'role.viewer': ['Leitura', 'Viewer'],
  'role.analyst': ['Análise', 'Analyst'],
  'role.approver': ['Aprovação', 'Approver'],
  'role.admin': ['Administração', 'Admin'],
} as const satisfies Texts;
