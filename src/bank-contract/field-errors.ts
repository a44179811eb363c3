// What can be wrong with a field of a request: a reason with its parameters. The English message is
// made here; the console has each reason in Portuguese.
import type { z } from 'zod';

const englishMessages = {
  required: 'The field is required.',
  not_empty: 'Must not be empty.',
  string: 'Must be a string.',
  number: 'Must be a number.',
  boolean: 'Must be true or false.',
  list: 'Must be an array.',
  object: 'Must be an object.',
  one_of: 'Must be one of {values}.',
  min_characters: 'Must have at least {least} characters.',
  max_characters: 'Must have at most {most} characters.',
  min_items: 'Must have at least {least} items.',
  max_items: 'Must have at most {most} items.',
  whole_number: 'Must be a whole number.',
  whole_number_from: 'Must be a whole number of at least {least}.',
  two_decimals: 'Must have at most two decimals.',
  too_large: 'Is too large.',
  positive: 'Must be greater than zero.',
  not_negative: 'Must not be negative.',
  between: 'Must be from {least} to {most}.',
  more_than: 'Must be more than {least} and at most {most}.',
  at_most: 'Must be at most {most}.',
  less_than_field: 'Must not be less than {field}.',
  less_than_amount: 'Must be less than the amount.',
  date: 'Could not be read as a date, yyyy-mm-dd.',
  time: 'Could not be read as a date and time.',
  before_field: 'Must not be before {field}.',
  after_field: 'Must not be after {field}.',
  window_days: 'The window must have at most {most} days.',
  storable: 'Must not contain NUL or lone surrogates.',
  identifier:
    'Must be 1 to 200 printable ASCII characters, without white space at its ends, and not ' +
    'dots alone.',
  tax_id: 'Must be a CPF or a CNPJ.',
  pix_key: 'Must be a Pix key.',
  digits: 'Must be {count} digits.',
  slug: 'Must be lower-case letters, digits and inner hyphens, as in webhook addresses.',
  header_name: 'Must be the name of an HTTP header.',
  certificates: 'Must be one or more certificates in PEM form.',
  private_key: 'Must be a private key in PEM form, without a passphrase.',
  bank_key_refused: 'The bank refuses it.',
  bank_key_untried: 'Could not be tried: the bank did not answer.',
  key_of_certificate: 'Must be the private key of clientCertificate.',
  set_together: 'Must be set together with {field}.',
  // Expected payments that are declared.
  other_terms: 'The externalId names a payment that was declared with other terms.',
  metadata_key: 'A key must have 1 to 40 characters of A–Z, a–z, 0–9, _, . and -.',
  amount_or_range: 'amount, or amountFrom and amountTo.',
  not_with_range: 'Must not be sent with a range.',
  whole_range: 'A range has amountFrom and amountTo.',
  range_needs_identity: 'A range needs a reference, a taxId or a text: an amount is not enough.',
  wide_range: 'A range over four orders of magnitude needs a reference.',
  pattern: 'Must be a valid pattern (RE2 syntax).',
  pattern_size: 'Repeats too much: use smaller numbers of repetitions.',
  pattern_of_empty: 'Must not match an empty text: it would distinguish no line.',
  pattern_of_all: 'Must not match nearly every text: it would distinguish no line.',
  // Rules.
  name_taken: 'A rule with this name already exists.',
  once: 'Must be given once.',
  type_name: 'Must be a type’s name, or a prefix followed by *.',
  part_of_all: 'Must not be a part of nearly every text.',
  needs_condition: 'Must have at least one condition to classify lines.',
  needs_identity: 'Must have document or notes: an amount alone identifies no payment.',
  needs_amount_or_window: 'Must have amount or window.',
  window_needed: 'Is required if by contains window.',
  only_by_amount: 'Is allowed only if by contains amount.',
  only_by_document: 'Is allowed only if by contains document.',
  shared_days: 'Must be at most {most}: instalments must not share days.',
  settlement_days: 'Must have at most {most} days for a net settlement.',
  group_by_notes: 'Must contain notes to group by notes.',
  group_by_day: 'Must contain document and window to group by day or window.',
  fee_bounds: 'Must have percent or perSale.',
  // Uploaded files.
  row_without_id: 'Each row must have an externalId or an idempotencyKey.',
  row_too_wide: 'The row has more cells than the header.',
  row_not_json: 'The row must be a JSON value without duplicate fields, in any letter case.',
  row_too_long: 'Line {line} has more than {most} characters.',
  too_many_columns: 'Line {line} has more than {most} columns.',
  too_many_rows: 'The file has more than {most} rows (line {line}).',
  no_rows: 'The file has no rows.',
  not_utf8: 'The file must be UTF-8 (line {line}): save it as “CSV UTF-8”.',
  not_csv: 'Line {line} could not be read as CSV: quote whole cells, and double quotes in them.',
  no_header: 'Line {line}: The file has no header row.',
  header_twice: 'Line {line}: The header must not name a field twice, in any letter case.',
  header_field: 'Line {line}: Column {column} of the header is not a valid field name.',
  header_parent:
    'Line {line}: Column {column} of the header names a field that also has subfields.',
  header_missing: 'No row of the file names its columns.',
  kind_unknown: 'Say what the file holds: its columns do not show it.',
  column_twice: 'Another column is this field already.',
  column_not_of_kind: 'Rows of this kind have no such field.',
  columns_missing: 'No column gives: {fields}.',
  payee_of_row: 'The row has no Pix key, and no bank, branch and account.',
  bank_of_row: 'The bank must be its number, such as 341, or its ISPB.',
  account_type_of_row: 'The type of the account is none that the bank knows.',
  cell_thousands_or_decimals:
    '{field} may be thousands or decimals. Write the cents: 1.234,00 or 1234.00.',
  cell_day_or_month:
    '{field} may have the month first, as another day of the file has. Write dd/mm/yyyy.',
  cell_error: '{field} has an error or a number that cannot be read.',
  cell_long_number:
    '{field} is a number of more than 15 digits, which loses digits. Store it as text.',
  cell_no_tax_id:
    '{field} is a number that is no CPF or CNPJ, with or without leading zeros. Store it as text.',
  cell_cpf_or_cnpj:
    '{field} is a number that may be a CPF or a CNPJ without its leading zeros. Store it as text.',
  sheet_needed: 'Several visible sheets have rows: {sheets}. Name the one to read (sheet=…).',
  no_such_sheet: 'The file has no sheet “{sheet}”. It has {sheets}.',
  no_visible_sheet: 'The file has no visible sheet.',
  hidden_line:
    'Line {line} of the sheet {sheet} is hidden. Show it, or send hidden=include or skip.',
  hidden_column:
    'Column {column} of the sheet {sheet} is hidden. Show it, or send hidden=include or skip.',
  xlsx_only: 'Must be sent with an XLSX file only.',
  xlsx_size: 'An XLSX file must have at most {most} MB.',
  not_xlsx: 'The file is not XLSX.',
  damaged: 'The file is damaged.',
  too_many_parts: 'The file has too many parts.',
  encrypted: 'The file is encrypted or packed in another way.',
  sheet_too_large: 'The sheet is too large when it is unpacked.',
  // The chart of accounts, and the mapping to its codes.
  chart_characters: 'Line {line}, column {column}: must have 1 to {most} characters.',
  chart_twice: 'Line {line}, column {column}: the code stands there twice.',
  chart_kind: 'Line {line}, column {column}: must be asset, liability, equity, revenue or expense.',
  chart_postable: 'Line {line}, column {column}: must be yes or no.',
  chart_code_used: 'Lacks the code {code}, to which the mapping posts.',
  chart_needed: 'Must be a code of a chart: store one first.',
  chart_code: 'Must be a code of the chart that is no heading.',
  code_of_bank: 'Must be another code than the bank’s.',
} as const;

export type FieldReason = keyof typeof englishMessages;
type Parameters = Readonly<Record<string, string | number>>;

/** What is wrong with a field. A sentence has no reason: no page distinguishes it from others. */
export type FieldError = string | { reason: FieldReason; params: Parameters };
/** JSON path → errors. */
export type FieldErrors = Record<string, FieldError[]>;

type Names<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never;
/** The parameters that the message of a reason names; none are left out. */
type ParametersOf<Reason extends FieldReason> = [Names<(typeof englishMessages)[Reason]>] extends [
  never,
]
  ? []
  : [params: Readonly<Record<Names<(typeof englishMessages)[Reason]>, string | number>>];

export function fieldError<Reason extends FieldReason>(
  reason: Reason,
  ...[params]: ParametersOf<Reason>
): Exclude<FieldError, string> {
  return { reason, params: params ?? {} };
}

/** The error of a check of a schema. */
export function failing<Reason extends FieldReason>(
  reason: Reason,
  ...[params]: ParametersOf<Reason>
): { error: Reason; params: Record<string, string | number> } {
  return { error: reason, params: params ?? {} };
}

/** Adds an error to a value that a schema checks as a whole. */
export function refuse(
  context: { addIssue: (issue: z.core.$ZodRawIssue & { code: 'custom' }) => void },
  path: PropertyKey[],
  error: FieldError,
): void {
  const { reason, params } = typeof error === 'string' ? { reason: error, params: {} } : error;
  context.addIssue({ code: 'custom', path, message: reason, params, input: undefined });
}

/** How a schema reads a request, so that `fieldErrorOf` knows each of its issues. */
export const readingFields = { error: reasonOf };

/** The reason of an issue for which the schema has no error of its own. */
function reasonOf(issue: z.core.$ZodRawIssue): FieldReason | undefined {
  const isMissing = issue.input === undefined;
  if (issue.code === 'invalid_type')
    return isMissing ? 'required' : (reasonsOfTypes[issue.expected] ?? 'object');
  if (issue.code === 'invalid_value') return isMissing ? 'required' : 'one_of';
  if (issue.code !== 'too_big' && issue.code !== 'too_small') return undefined;
  const [characters, items] =
    issue.code === 'too_big'
      ? (['max_characters', 'max_items'] as const)
      : (['min_characters', 'min_items'] as const);
  return issue.origin === 'string' ? characters : issue.origin === 'array' ? items : undefined;
}

const reasonsOfTypes: Partial<Record<string, FieldReason>> = {
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  array: 'list',
};

/** A sentence about unknown fields names each of them. */
const maxSentenceLength = 500;

/** The error of an issue that a schema found, with its parameters. */
export function fieldErrorOf(issue: z.core.$ZodIssue): FieldError {
  const { message: reason } = issue;
  if (!isReason(reason)) return reason.slice(0, maxSentenceLength);
  const params: Record<string, string | number> = {};
  if (issue.code === 'custom') Object.assign(params, issue.params);
  if (issue.code === 'too_big') params.most = Number(issue.maximum);
  if (issue.code === 'too_small') params.least = Number(issue.minimum);
  if (issue.code === 'invalid_value') params.values = issue.values.map(String).join(', ');
  return { reason, params };
}

function isReason(text: string): text is FieldReason {
  return Object.hasOwn(englishMessages, text);
}

/** The English message. */
export function fieldMessage(error: FieldError): string {
  return typeof error === 'string' ? error : fill(englishMessages[error.reason], error.params);
}

export function fieldMessages(errors: FieldErrors): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(errors).map(([path, ofPath]) => [path, ofPath.map(fieldMessage)]),
  );
}

/** A text with its parameters. */
export function fill(text: string, params: Parameters): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(params[name] ?? ''));
}
