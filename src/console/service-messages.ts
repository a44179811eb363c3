// What the service says about a field or a file, in the reader's language. The service writes its
// messages in English, as the API returns them.
import { AppError } from '../platform/errors.js';
import type { Visit } from './requests.js';
import { findTextKey } from './texts.js';
import type { Language } from './texts/languages.js';

/** Each message of the service, and its Portuguese. `(…)` is a value, `$1` where it stands. */
const portuguese: readonly (readonly [message: RegExp, text: string])[] = [
  [/^Must be a number\.$/, 'Precisa ser um número.'],
  [/^Must have at most two decimals/, 'Pode ter no máximo duas casas decimais.'],
  [/^Must be greater than zero\.$/, 'Precisa ser maior que zero.'],
  [/^Must not be negative\.$/, 'Não pode ser negativo.'],
  [/^Must be a whole number/, 'Precisa ser um número inteiro.'],
  [/^Must be a string\.$/, 'Precisa ser um texto.'],
  [/^Must not be empty\.$/, 'Não pode ficar vazio.'],
  [/^Must have at most (\d+) characters\.$/, 'Pode ter no máximo $1 caracteres.'],
  [/^Must be a date, yyyy-mm-dd\.$/, 'Precisa ser uma data, aaaa-mm-dd.'],
  [/^Must be 1 to (\d+) printable/, 'Precisa ter de 1 a $1 caracteres visíveis, sem acentos.'],
  [/^Must be a CPF or a CNPJ\.$/, 'Precisa ser um CPF ou CNPJ válido.'],
  [/^Must be a Pix key\.$/, 'Precisa ser uma chave Pix.'],
  [/^Must be one of (.+)\.$/, 'Precisa ser um destes: $1.'],
  [/^Must be ([A-Z_]+) or ([A-Z_]+)\.$/, 'Precisa ser $1 ou $2.'],
  [/^Must be an object/, 'Precisa ter subcampos.'],
  [/^Must be from (\d+) to (\d+)\.$/, 'Precisa estar entre $1 e $2.'],
  [/^Must be (\w+) digits\.$/, 'Precisa ter só dígitos, no tamanho indicado.'],
  [/^Must be ([\d ]+to[\d ]+) digits\.$/, 'Precisa ter só dígitos, no tamanho indicado.'],
  [/^Must not be before (\w+)\.$/, 'Não pode ser antes de $1.'],
  [/^The field is required\.$/, 'O campo é obrigatório.'],
  [/^Is required\.$/, 'O campo é obrigatório.'],
  [/^Each row must have an externalId or/, 'Cada linha precisa de externalId ou idempotencyKey.'],
  [/^The row has more cells than the header/, 'A linha tem mais células que o cabeçalho.'],
  [/^The row must be a JSON value/, 'A linha precisa ser um JSON sem campos repetidos.'],
  [/^The file has more than (\d+) rows/, 'O arquivo tem mais de $1 linhas.'],
  [/^The file must be UTF-8 \(line (\d+)\)/, 'A linha $1 não é UTF-8: salve como “CSV UTF-8”.'],
  [
    /^Line (\d+) could not be read as CSV/,
    'A linha $1 não pôde ser lida como CSV: revise as aspas.',
  ],
  [
    /^Several visible sheets have rows: (.+)\. Name/,
    'Várias abas visíveis têm linhas: $1. Informe qual vale.',
  ],
  [/^The file has no sheet (.+)\. It has (.+)\.$/, 'O arquivo não tem a aba $1. Tem: $2.'],
  [/^The file has no visible sheet/, 'O arquivo não tem aba visível.'],
  [
    /^Line (\d+) of the sheet (.+) is hidden/,
    'A linha $1 da aba $2 está oculta. Mostre-a ou escolha o que fazer.',
  ],
  [
    /^Column (\w+) of the sheet (.+) is hidden/,
    'A coluna $1 da aba $2 está oculta. Mostre-a ou escolha o que fazer.',
  ],
  [/^Must be sent with an XLSX file only/, 'Só vale para arquivos XLSX.'],
  [/^The file has no rows/, 'O arquivo não tem linhas.'],
  [/^(?:Line \d+: )?The file has no header row/, 'O arquivo não tem cabeçalho.'],
  [/^(?:Line \d+: )?The header must not name a field twice/, 'O cabeçalho repete um campo.'],
  [/^(?:Line \d+: )?Column (\d+) of the header/, 'A coluna $1 do cabeçalho não é um campo válido.'],
  [/^Line (\d+) has (?:more|too many)/, 'A linha $1 é longa demais.'],
  [/^An XLSX file must have at most 20 MB/, 'Um XLSX pode ter no máximo 20 MB.'],
  [/^The file is not XLSX/, 'O arquivo não é XLSX.'],
  [/^The (?:file|sheet) (?:is|has)/, 'O arquivo está danificado ou é grande demais.'],
  [/^Must be lower-case letters, digits/, 'Use letras minúsculas, dígitos e hifens internos.'],
  [/^Must be the name of an HTTP header/, 'Precisa ser o nome de um cabeçalho HTTP.'],
  [/^Must be one or more certificates/, 'Precisa ser um ou mais certificados em PEM.'],
  [/^Must be a private key in PEM/, 'Precisa ser uma chave privada em PEM, sem senha.'],
  [/^Must be the private key of/, 'Não é a chave privada do certificado.'],
  [/^Must be set together with (\w+)/, 'Informe junto com $1.'],
];
const unknown = 'Valor inválido.';

/** A message that this version does not know is shown in general words, unless others are given. */
export function serviceMessageIn(
  language: Language,
  message: string,
  otherwise: string = unknown,
): string {
  if (language === 'en') return message;
  const known = portuguese.find(([pattern]) => pattern.test(message));
  return known ? message.replace(new RegExp(`${known[0].source}.*`, 's'), known[1]) : otherwise;
}

/** One sentence for each field: `payer.document: Precisa ser um CPF ou CNPJ válido.` */
export function fieldMessagesIn(
  language: Language,
  errors: Readonly<Record<string, readonly string[]>>,
): string[] {
  return Object.entries(errors).map(([path, messages]) => {
    const field = path.replace(/^\$\.?/, '');
    const said = messages.map((message) => serviceMessageIn(language, message)).join(' ');
    return field === '' ? said : `${field}: ${said}`;
  });
}

/**
 * What the page of a form says about an error: the words of its code, or of its fields. Rethrows
 * what is no error of a known kind.
 */
export function problemIn(
  { t, language }: Pick<Visit, 't' | 'language'>,
  error: unknown,
  describe = (errors: Record<string, string[]>) => fieldMessagesIn(language, errors).join(' '),
): string {
  if (!(error instanceof AppError) || error.status === 500) throw error;
  const { errors, reason } = error.details;
  if (errors) return describe(errors);
  const key = findTextKey(`problem.${reason}`) ?? findTextKey(`error.${error.status}`);
  return t(key ?? (error.status < 500 ? 'error.400' : 'error.503'));
}
