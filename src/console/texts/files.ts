// Texts of uploads, export files and the reading of the statement.
import type { Texts } from './languages.js';

export const filesTexts = {
  'bulk.title': ['Envios em lote', 'Uploads'],
  'bulk.intro': [
    'Envie uma planilha com muitas cobranças, transferências ou previsões de uma vez. Cada linha é um pedido, com as mesmas regras de um pedido avulso.',
    'Upload a spreadsheet with many charges, transfers or expected payments at once. Each row is a request, under the same rules as a single one.',
  ],
  'bulk.upload': ['Enviar um arquivo', 'Upload a file'],
  'bulk.kind': ['O que o arquivo traz', 'What the file holds'],
  'bulk.kind.charges': ['Cobranças', 'Charges'],
  'bulk.kind.transfers': ['Transferências', 'Transfers'],
  'bulk.kind.expected_payments': ['Pagamentos previstos', 'Expected payments'],
  'bulk.file': ['Arquivo', 'File'],
  'bulk.fileHint': [
    'CSV, XLSX ou NDJSON, até 50 MB e 100.000 linhas; XLSX até 20 MB.',
    'CSV, XLSX or NDJSON, up to 50 MB and 100,000 rows; XLSX up to 20 MB.',
  ],
  'bulk.sheet': ['Planilha (aba) do XLSX', 'Sheet of the XLSX file'],
  'bulk.sheetHint': [
    'Só quando várias abas visíveis têm linhas.',
    'Only where several visible sheets have rows.',
  ],
  'bulk.hidden': ['Linhas e colunas ocultas', 'Hidden rows and columns'],
  'bulk.hidden.refuse': ['Recusar o arquivo', 'Refuse the file'],
  'bulk.hidden.include': ['Incluir', 'Include them'],
  'bulk.hidden.skip': ['Ignorar', 'Skip them'],
  'bulk.submitWhy': [
    'Conferir lê o arquivo e mostra os erros; nada é gravado nem enviado. Gravar envia as linhas válidas na hora.',
    'Checking reads the file and shows its errors; nothing is stored or sent. Storing sends the valid rows at once.',
  ],
  'bulk.check': ['Só conferir', 'Check only'],
  'bulk.store': ['Gravar e enviar', 'Store and send'],
  'bulk.checkFirst': [
    'Confira o arquivo antes: a página mostra quem recebe e quanto. Nada foi enviado.',
    'Check the file first: the page shows whom it pays, and how much. Nothing was sent.',
  ],
  'bulk.notLookedUp.other': ['Chave não consultada', 'Key not looked up'],
  'bulk.notLookedUp.rate_limited': [
    'Chave não consultada: o banco limita as consultas. Confira de novo mais tarde.',
    'Key not looked up: the bank limits look-ups. Check again later.',
  ],
  'bulk.notLookedUp.bank_timeout': [
    'Chave não consultada: o banco não respondeu a tempo.',
    'Key not looked up: the bank did not answer in time.',
  ],
  'bulk.notLookedUp.bank_unreachable': [
    'Chave não consultada: o banco não respondeu.',
    'Key not looked up: the bank did not answer.',
  ],
  'bulk.notLookedUp.not_found': [
    'O banco não conhece esta chave.',
    'The bank does not know this key.',
  ],
  'bulk.examples': ['Modelos de arquivo:', 'Example files:'],
  'bulk.noFile': ['Escolha um arquivo.', 'Choose a file.'],
  'bulk.wrongName': [
    'O nome do arquivo precisa terminar em .csv, .xlsx, .ndjson ou .jsonl.',
    'The name of the file must end with .csv, .xlsx, .ndjson or .jsonl.',
  ],
  'bulk.unreadable': [
    'O arquivo não pôde ser lido, e nada foi gravado. O leitor informa: {problem}',
    'The file could not be read, and nothing was stored. The reader says: {problem}',
  ],
  'bulk.checkedGood': [
    'Conferido: as {rows} linhas são válidas. Nada foi gravado. Para enviar, escolha o mesmo arquivo de novo e grave; outro é recusado.',
    'Checked: all {rows} rows are valid. Nothing was stored. To send them, choose the same file again and store it; another one is refused.',
  ],
  'bulk.checkedBad': [
    'Conferido: {invalid} de {rows} linhas têm erro e não seriam enviadas. Nada foi gravado.',
    'Checked: {invalid} of {rows} rows have an error and would not be sent. Nothing was stored.',
  ],
  'bulk.wouldIssue': ['O que seria enviado', 'What would be sent'],
  'bulk.sum': ['Valor total', 'Total amount'],
  'bulk.payees': ['Contrapartes', 'Counterparties'],
  'bulk.largestPayees': ['Maiores contrapartes', 'Largest counterparties'],
  'bulk.hash': ['Código da conferência', 'Hash of the check'],
  'bulk.firstErrors': ['Primeiros {count} erros', 'The first {count} errors'],
  'bulk.empty': [
    'Nenhum arquivo foi enviado ainda. Envie o primeiro acima, ou pela API.',
    'No file was uploaded yet. Upload the first one above, or by the API.',
  ],
  'bulk.emptyViewer': [
    'Nenhum arquivo foi enviado ainda. Quem faz análise envia arquivos nesta página.',
    'No file was uploaded yet. Analysts upload files on this page.',
  ],
  'bulk.one': ['Arquivo: {kind}', 'File: {kind}'],
  'bulk.createdAt': ['Enviado em', 'Uploaded at'],
  'bulk.finishedAt': ['Terminado em', 'Finished at'],
  'bulk.state.running': ['Em andamento', 'Running'],
  'bulk.state.finished': ['Terminado', 'Finished'],
  'bulk.progress': ['Andamento', 'Progress'],
  'bulk.progressOf': ['{done} de {rows} linhas', '{done} of {rows} rows'],
  'bulk.rows': ['Linhas', 'Rows'],
  'bulk.total': ['Total de linhas', 'Rows in all'],
  'bulk.row.pending': ['Na fila', 'Waiting'],
  'bulk.row.accepted': ['Aceitas', 'Accepted'],
  'bulk.row.rejected': ['Recusadas', 'Rejected'],
  'bulk.row.invalid': ['Inválidas', 'Invalid'],
  'bulk.allRows': ['Todas', 'All'],
  'bulk.line': ['Linha do arquivo', 'Line of the file'],
  'bulk.reference': ['Identificação', 'Reference'],
  'bulk.openOperation': ['Abrir', 'Open'],
  'bulk.errors': ['O que há de errado', 'What is wrong'],
  'bulk.noRows': ['Nenhuma linha nesta situação.', 'No row in this state.'],
  'bulk.result': ['Baixar o resultado (CSV)', 'Download the result (CSV)'],
  'bulk.resultWhy': [
    'Cada linha com sua situação, o código do erro e a operação, na ordem do arquivo.',
    'Each row with its state, the error code and the operation, in file order.',
  ],
  'bulk.waiting': ['Linhas que aguardam aprovação: {count}.', 'Rows that await approval: {count}.'],

  'problem.file_changed': [
    'Este não é o arquivo que foi conferido. Confira-o de novo.',
    'This is not the file that was checked. Check it again.',
  ],
  'problem.unfinished_upload_limit': [
    'A conta já tem o número máximo de arquivos em andamento. Espere um deles terminar.',
    'The account has the most unfinished uploads that it may have. Wait for one to end.',
  ],

  'rowError.validation_failed': ['Campos inválidos', 'Invalid fields'],
  'rowError.possible_duplicate': [
    'Parece repetir outro pedido recente',
    'It looks like another recent request',
  ],
  'rowError.idempotency_key_reused': [
    'Já foi pedido com outro conteúdo',
    'It was requested before with other content',
  ],
  'rowError.correlation_id_taken': [
    'Outra cobrança já tem este correlationId',
    'Another charge has this correlationId',
  ],
  'rowError.payee_mismatch': [
    'O documento informado não é o do titular da chave',
    'The given document is not that of the holder of the key',
  ],
  'rowError.payee_changed': [
    'O titular da chave mudou desde o último pagamento',
    'The holder of the key has changed since the last payment',
  ],
  'rowError.account_is_reconcile_only': [
    'A conta só concilia: nada é enviado ao banco',
    'The account is reconcile-only: nothing is sent to the bank',
  ],
  'rowError.bank': ['O banco recusou', 'The bank rejected it'],
  'rowError.other': ['Recusada: {code}', 'Rejected: {code}'],

  'action.upload file': ['Enviou um arquivo', 'Uploaded a file'],
  'action.check file': ['Conferiu um arquivo', 'Checked a file'],
  'action.take file': ['Baixou um arquivo', 'Downloaded a file'],
  'subject.file': ['arquivo', 'file'],
  'subject.upload': ['envio em lote', 'upload'],

  'exports.title': ['Exportações', 'Exports'],
  'exports.intro': [
    'Cada arquivo é produzido enquanto o navegador o baixa: um arquivo longo mostra o andamento nos downloads do navegador. Um download que termina normalmente está completo.',
    'A file is written while the browser downloads it: a long one shows its progress among the downloads of the browser. A download that ends normally is complete.',
  ],
  'exports.delimiter': ['Separador do CSV', 'Delimiter of CSV'],
  'exports.delimiter.semicolon': [
    'Ponto e vírgula (Excel em português)',
    'Semicolon (Excel in Portuguese)',
  ],
  'exports.delimiter.comma': ['Vírgula', 'Comma'],
  'exports.format.csv': ['CSV', 'CSV'],
  'exports.format.xlsx': ['Excel (XLSX)', 'Excel (XLSX)'],
  'exports.format.ofx': ['OFX, para sistemas contábeis', 'OFX, for accounting systems'],
  'exports.format.cnab240': ['CNAB 240, para ERPs', 'CNAB 240, for ERPs'],
  'exports.statement': ['Extrato', 'Statement'],
  'exports.statementWhy': [
    'Cada lançamento do período com a explicação, a contraparte e o saldo. Até 366 dias por arquivo.',
    'Each line of the period with its explanation, counterparty and balance. Up to 366 days a file.',
  ],
  'exports.numbered': [
    'Um arquivo CNAB 240 recebe um número: o mesmo conteúdo mantém o número, e um conteúdo novo gasta o próximo.',
    'A CNAB 240 file gets a number: the same content keeps its number, and new content takes the next one.',
  ],
  'exports.breaks': ['Divergências abertas', 'Open breaks'],
  'exports.breaksWhy': [
    'O que falta resolver, por tipo, com a idade e o valor de cada divergência.',
    'What is left to resolve, by kind, with the age and amount of each break.',
  ],
  'exports.overdue': ['Pagamentos previstos em atraso', 'Overdue expected payments'],
  'exports.overdueWhy': [
    'O que deveria ter aparecido no extrato e não apareceu, do mais antigo ao mais novo.',
    'What should have appeared on the statement and did not, oldest first.',
  ],
  'exports.month': ['Relatório mensal', 'Monthly report'],
  'exports.monthWhy': [
    'Uma página para imprimir: saldos, de onde veio e para onde foi o dinheiro, divergências e dias.',
    'A printable page: balances, where money came from and went to, breaks, and days.',
  ],
  'exports.bundle': ['Pacote do mês para a contabilidade', 'The month for the accountant'],
  'exports.bundleWhy': [
    'Um arquivo ZIP: extrato, itens em aberto, divergências, certificados e o relatório em PDF.',
    'One ZIP file in Portuguese: statement, open items, breaks, certificates, report as PDF.',
  ],
  'exports.auditWhy': ['Quem fez o quê, em CSV ou NDJSON.', 'Who did what, as CSV or NDJSON.'],
  'exports.auditLink': ['Abrir a auditoria', 'Open the audit'],
  'exports.forAnalysts': [
    'Baixar arquivos exige o papel Análise: eles trazem nomes e documentos.',
    'Downloads need the role analyst: the files hold names and documents.',
  ],
  'exports.problem.not_found': [
    'Não há extrato deste mês.',
    'There is no statement of this month.',
  ],
  'exports.problem.validation_failed': [
    'O período é inválido: informe de 1 a 366 dias, com o início antes do fim.',
    'The period is invalid: give 1 to 366 days, beginning before its end.',
  ],
  'exports.problem.too_many_lines': [
    'O período tem mais lançamentos do que este formato comporta. Peça menos dias.',
    'The period has more lines than this format can hold. Request fewer days.',
  ],
  'exports.problem.bank_details_missing': [
    'Este formato informa a conta no banco, que ainda não foi cadastrada. Um administrador a cadastra em Conta.',
    'This format states the account at the bank, which is not set. An admin sets it on the page Account.',
  ],
  'exports.problem.bank_code_missing': [
    'O CNAB 240 informa o código do banco, que não está nos dados da conta.',
    'CNAB 240 states the code of the bank, and the details of the account have none.',
  ],
  'exports.problem.file_numbers_exhausted': [
    'Os números de arquivo do CNAB 240 acabaram.',
    'The numbers of CNAB 240 files are used up.',
  ],
  'exports.problem.rate_limited': [
    'Já há quatro arquivos abertos nesta conta. Espere um deles terminar.',
    'Four files of this account are open already. Wait for one to end.',
  ],

  'imports.title': ['Leitura do extrato', 'Reading the statement'],
  'imports.running': [
    'O histórico do extrato está sendo lido pela primeira vez.',
    'The history of the statement is being read for the first time.',
  ],
  'imports.done': [
    'O histórico foi lido até o começo. Lançamentos novos chegam a cada sincronização.',
    'The history was read to its beginning. New lines arrive with each sync.',
  ],
  'imports.none': [
    'O extrato ainda não foi lido. A leitura começa com a primeira sincronização.',
    'The statement was not read yet. Reading begins with the first sync.',
  ],
  'imports.lines': ['Lançamentos lidos', 'Lines read'],
  'imports.rate': ['Lançamentos por segundo', 'Lines a second'],
  'imports.oldest': ['Lido até', 'Read back to'],
  'imports.newest': ['Lançamento mais novo', 'Newest line'],
  'imports.startedAt': ['Início da leitura', 'Reading began'],
  'imports.first': ['Primeira leitura', 'First reading'],
  'imports.closing': ['Conferência', 'Closing'],
  'imports.closingWhy': [
    'Um período fica conferido quando duas leituras completas dele coincidem: então não falta nenhum lançamento.',
    'A period is closed when two complete readings of it agree: then no line is missing.',
  ],
  'imports.closedFrom': ['Conferido desde', 'Closed from'],
  'imports.closingFailures': [
    'Leituras seguidas que divergiram',
    'Readings in a row that disagreed',
  ],
  'imports.syncs': ['Sincronizações', 'Syncs'],
  'imports.interval': ['Intervalo entre sincronizações', 'Interval between syncs'],
} as const satisfies Texts;
