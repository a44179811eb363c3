// Texts of the days of the statement and of their certificates.
import type { Texts } from './languages.js';

export const daysTexts = {
  'days.title': ['Dias', 'Days'],
  'days.one': ['Dia {day}', 'Day {day}'],
  'days.empty': [
    'Nenhum dia certificado neste período. Cada dia encerrado recebe um certificado quando se prova que nenhum lançamento falta e todos estão explicados ou em divergência.',
    'No certified day in this period. Each finished day gets a certificate once it is proven that no line is missing and each line has an outcome.',
  ],
  'days.certified': ['Dias certificados', 'Certified days'],
  'days.opening': ['Saldo inicial', 'Opening balance'],
  'days.closing': ['Saldo final', 'Closing balance'],
  'days.certificate': ['Certificado', 'Certificate'],
  'days.state.certified': ['Certificado', 'Certified'],
  'days.state.amended': ['Retificado ({revision}ª versão)', 'Amended (revision {revision})'],
  'days.differences': ['Diferenças', 'Differences'],

  'days.waiting.not_started': [
    'Nenhum dia foi certificado ainda. O primeiro certificado vem depois do primeiro lançamento e do primeiro dia encerrado.',
    'No day is certified yet. The first certificate follows the first line and the first finished day.',
  ],
  'days.waiting.not_over': [
    'Todos os dias encerrados estão certificados. O próximo é {day}, que ainda não terminou.',
    'Every finished day is certified. The next one is {day}, which is not over yet.',
  ],
  'days.waiting.first': [
    'O primeiro dia a certificar é {day}, que ainda não terminou.',
    'The first day to certify is {day}, which is not over yet.',
  ],
  'days.waiting.not_closed': [
    'O dia {day} aguarda: ainda não está provado que nenhum lançamento dele falta no extrato. O extrato é lido duas vezes, e as leituras precisam concordar.',
    'The day {day} waits: it is not proven yet that no line of it is missing. The statement is read twice, and the reads must agree.',
  ],
  'days.waiting.differs': [
    'O dia {day} não pode ser certificado: os lançamentos não somam o saldo do banco.',
    "The day {day} cannot be certified: its lines do not add up to the bank's balance.",
  ],
  'days.waiting.undecided': [
    'O dia {day} aguarda: um lançamento ainda está em análise.',
    'The day {day} waits: a line is still pending.',
  ],
  'days.waiting.due': ['O dia {day} está sendo certificado.', 'The day {day} is being certified.'],
  'days.waiting.amendment': [
    'Um lançamento tardio muda um dia já certificado: o certificado será retificado.',
    'A late line changes a day that is certified: the certificate will be amended.',
  ],
  'days.waiting.count': [
    'Dias encerrados sem certificado: {count}.',
    'Finished days without a certificate: {count}.',
  ],
  'days.showBreak': ['Ver a divergência', 'Show the break'],
  'days.showPending': ['Ver os lançamentos em análise', 'Show the pending lines'],
  'days.showStatement': ['Ver o extrato', 'Show the statement'],

  'days.run': ['Conciliar agora', 'Reconcile now'],
  'days.runHint': [
    'Lê o extrato, decide os lançamentos e fecha os dias que podem ser fechados.',
    'Reads the statement, decides its lines and closes the days that can be closed.',
  ],
  'days.runStarted': [
    'A conciliação começou. Abra a página de novo em instantes.',
    'The reconciliation has started. Open the page again in a moment.',
  ],

  'days.files': ['Baixar o extrato', 'Download the statement'],
  'days.format.csv': ['CSV', 'CSV'],
  'days.format.xlsx': ['Planilha (XLSX)', 'Spreadsheet (XLSX)'],
  'days.format.ofx': ['OFX', 'OFX'],
  'days.format.cnab240': ['CNAB 240', 'CNAB 240'],
  'days.report': ['Relatório do mês', 'Report of the month'],

  'days.notCertifiedYet': [
    'Este dia ainda não tem certificado. Os dias são certificados em ordem.',
    'This day has no certificate yet. Days are certified in their order.',
  ],
  'days.figures': ['Saldos do dia', 'Balances of the day'],
  'days.outcomes': ['Lançamentos por resultado', 'Lines by outcome'],
  'days.noLines': ['Nenhum lançamento neste dia.', 'No line on this day.'],
  'days.category.before_go_live': [
    'Classificado: antes do início',
    'Classified: before the go-live',
  ],
  'days.category.fee': ['Classificado: tarifa', 'Classified: fee'],
  'days.category.tariff': ['Classificado: tarifa bancária', 'Classified: tariff'],
  'days.category.own_account_transfer': [
    'Classificado: transferência entre contas próprias',
    'Classified: own-account transfer',
  ],
  'days.category.ignored': ['Classificado: ignorado', 'Classified: ignored'],
  'days.category.accepted': ['Classificado: aceito', 'Classified: accepted'],
  'days.category.refunded': ['Classificado: devolvido', 'Classified: refunded'],

  'days.chain': ['Lugar na cadeia', 'Place in the chain'],
  'days.sequence': ['Número na cadeia', 'Number in the chain'],
  'days.revision': ['Versão', 'Revision'],
  'days.madeAt': ['Emitido em', 'Made at'],
  'days.firstNsu': ['Primeiro NSU', 'First NSU'],
  'days.hash': ['Hash do certificado', 'Hash of the certificate'],
  'days.previousHash': ['Hash do certificado anterior', 'Hash of the certificate before'],
  'days.linesRoot': ['Raiz dos lançamentos', 'Root of the lines'],
  'days.json': ['Baixar o certificado (JSON)', 'Download the certificate (JSON)'],
  'days.previous': ['Dia anterior', 'Day before'],
  'days.next': ['Dia seguinte', 'Next day'],
  'days.check': ['Verificar agora', 'Check now'],
  'days.checkHint': [
    'Recalcula os hashes e compara o certificado com os lançamentos guardados.',
    'Computes the hashes again and compares the certificate with the stored lines.',
  ],
  'days.checked': [
    'O certificado confere: hashes, lugar na cadeia e {lines} lançamentos com seus resultados.',
    'The certificate holds: hashes, place in the chain, and {lines} lines with their outcomes.',
  ],
  'days.checkedChain': [
    'Os hashes e o lugar na cadeia conferem. Os lançamentos são muitos para conferir aqui: execute concilia verify.',
    'The hashes and the place in the chain hold. The lines are too many to compare here: run concilia verify.',
  ],
  'days.differsFrom': [
    'O certificado não confere em «{field}»: esperado {expected}, encontrado {found}.',
    'The certificate does not hold in “{field}”: expected {expected}, found {found}.',
  ],

  'days.items': ['Diferenças declaradas no certificado', 'Differences stated in the certificate'],
  'days.item.straddling_line': [
    'Lançamento numerado em outro dia',
    'Line that is numbered in another day',
  ],
  'days.item.accepted_difference': [
    'Diferença de saldo aceita por uma pessoa',
    'Difference of the balance that a person accepted',
  ],
  'days.revisions': ['Versões do certificado', 'Revisions of the certificate'],
  'days.changes': [
    'Resultados que mudaram antes deste certificado',
    'Outcomes that changed before this certificate',
  ],
  'days.changesHint': [
    'Lançamentos de dias já certificados cujo resultado mudou depois do certificado anterior da cadeia.',
    'Lines of certified days whose outcome changed after the certificate before it in the chain.',
  ],
  'days.noChanges': ['Nenhum resultado mudou.', 'No outcome has changed.'],
} as const satisfies Texts;
