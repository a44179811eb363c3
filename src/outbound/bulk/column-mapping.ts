// What the columns of a foreign table may be, and the request of a row by them: the rows are those
// that the API takes, so the same rules validate, identify and issue them.
import { getBankByCode } from '@brazilian-utils/brazilian-utils/get-bank-by-code';
import { getBankByIspb } from '@brazilian-utils/brazilian-utils/get-bank-by-ispb';
import { fieldError, type FieldError, type FieldErrors } from '../../bank-contract/field-errors.js';
import { parseTaxId } from '../../brazil/tax-id.js';
import { plainWords, type CellValue } from './spreadsheet-cell.js';
import type { BulkKind } from './bulk.schema.js';

/** What a row asks for. Expected payments are two: no column says their direction. */
export const mappingTargets = ['transfers', 'payables', 'receivables', 'charges'] as const;
export type MappingTarget = (typeof mappingTargets)[number];

export const kindOfTarget: Readonly<Record<MappingTarget, BulkKind>> = {
  transfers: 'transfers',
  payables: 'expected_payments',
  receivables: 'expected_payments',
  charges: 'charges',
};

export const columnFields = [
  ...(['amount', 'name', 'taxId', 'key', 'bank', 'branch', 'account', 'accountDigit'] as const),
  ...(['accountType', 'date', 'description', 'category', 'costCentre', 'id'] as const),
] as const;
export type ColumnField = (typeof columnFields)[number];

/** The fields of a target; a row needs all fields of one of the lists of `needed`. */
export const targetFields: Readonly<
  Record<
    MappingTarget,
    { fields: readonly ColumnField[]; needed: readonly (readonly ColumnField[])[] }
  >
> = {
  transfers: {
    fields: [
      ...(['amount', 'key', 'name', 'taxId', 'bank', 'branch', 'account', 'accountDigit'] as const),
      ...(['accountType', 'description', 'id'] as const),
    ],
    needed: [
      ['amount', 'key'],
      ['amount', 'name', 'taxId', 'bank', 'branch', 'account'],
    ],
  },
  payables: {
    fields: ['amount', 'date', 'name', 'taxId', 'category', 'costCentre', 'id'],
    needed: [['amount', 'date']],
  },
  receivables: {
    fields: ['amount', 'date', 'name', 'taxId', 'category', 'costCentre', 'id'],
    needed: [['amount', 'date']],
  },
  charges: {
    fields: ['amount', 'date', 'name', 'taxId', 'id'],
    needed: [['amount', 'date', 'name', 'taxId']],
  },
};

/** What a foreign table's columns are. */
export interface ColumnMapping {
  target: MappingTarget;
  /** The line of the header; what stands above it is not read. */
  line: number;
  /** Of each column; null for one that is not read. */
  fields: readonly (ColumnField | null)[];
}

/** The fields that no column gives, of the list that lacks fewest. */
export function missingFields(
  target: MappingTarget,
  fields: readonly (ColumnField | null)[],
): readonly ColumnField[] {
  const lacking = targetFields[target].needed.map((needed) =>
    needed.filter((field) => !fields.includes(field)),
  );
  return lacking.reduce((least, one) => (one.length < least.length ? one : least));
}

/** What is wrong with a mapping; none when its rows can be read. */
export function mappingErrors({
  target,
  fields,
}: Pick<ColumnMapping, 'target' | 'fields'>): FieldErrors {
  const errors: FieldErrors = {};
  const seen = new Set<ColumnField>();
  for (const [at, field] of fields.entries()) {
    if (field === null) continue;
    if (seen.has(field)) errors[`$.column${at}`] = [fieldError('column_twice')];
    else if (!targetFields[target].fields.includes(field))
      errors[`$.column${at}`] = [fieldError('column_not_of_kind')];
    seen.add(field);
  }
  const missing = missingFields(target, fields);
  if (missing.length > 0)
    errors.$ = [fieldError('columns_missing', { fields: missing.join(', ') })];
  return errors;
}

export type MappedValues = Partial<Record<ColumnField, CellValue['value'] & {}>>;
type Row = Record<string, unknown>;

/** The request of a row. `rowId` identifies a row that has no id of its own. */
export function mappedRequest(
  target: MappingTarget,
  values: MappedValues,
  rowId: string,
): { request: Row } | { problem: FieldError } {
  const { id = rowId, amount, date, name, taxId } = values;
  if (target === 'transfers') return transferOf(values, id);
  if (target === 'charges') {
    const payer = { name, document: taxId };
    const charge = { type: 'BANKSLIP_PIX', correlationId: id, dueDate: date, Amount: amount };
    return { request: given({ ...charge, payer: given(payer) }) };
  }
  const direction = target === 'payables' ? 'debit' : 'credit';
  const { category, costCentre } = values;
  const counterparty = given({ name, taxId });
  return {
    request: given({
      ...{ externalId: id, direction, amount, dateFrom: date, category, costCentre },
      ...(Object.keys(counterparty).length > 0 ? { counterparty } : {}),
    }),
  };
}

/** By its Pix key where the row has one, else by its bank account. */
function transferOf(
  values: MappedValues,
  externalId: unknown,
): { request: Row } | { problem: FieldError } {
  const { amount, description, key, name, taxId, bank, accountType } = values;
  const common = { externalId, amount, description };
  if (key !== undefined) return { request: given({ ...common, key, holderDocument: taxId }) };
  if (bank === undefined && values.branch === undefined && values.account === undefined)
    return { problem: fieldError('payee_of_row') };
  const ispb = bank === undefined ? undefined : ispbOf(String(bank));
  if (ispb === null) return { problem: fieldError('bank_of_row') };
  const type = accountTypeOf(accountType);
  if (type === null) return { problem: fieldError('account_type_of_row') };
  const number = [values.account, values.accountDigit].filter((one) => one !== undefined);
  const holderKind = typeof taxId === 'string' ? parseTaxId(taxId)?.kind : undefined;
  const beneficiary = given({
    number: number.length > 0 ? number.join('-') : undefined,
    // As a number in a sheet, a branch has lost its leading zeros.
    branch: values.branch === undefined ? undefined : String(values.branch).padStart(4, '0'),
    ...{ type, participantIspb: ispb },
    holder: given({ name, document: taxId, type: holderKind }),
  });
  return { request: given({ ...common, beneficiary }) };
}

/** The fields of the requests that columns give, by what their paths end with. */
const fieldOfPath: Readonly<Record<string, ColumnField>> = {
  ...{ amount: 'amount', key: 'key', description: 'description', category: 'category' },
  ...{ holderDocument: 'taxId', document: 'taxId', taxId: 'taxId', 'holder.type': 'taxId' },
  ...{ name: 'name', number: 'account', branch: 'branch', participantIspb: 'bank' },
  ...{ dueDate: 'date', dateFrom: 'date', dateTo: 'date', costCentre: 'costCentre' },
  ...{ externalId: 'id', correlationId: 'id' },
};

/** The errors of a request, each by its column; the first one of each. */
export function namedErrors(
  errors: FieldErrors,
  columns: readonly ({ field: string; label?: string } | null)[],
): FieldErrors {
  const named: FieldErrors = {};
  for (const [path, found] of Object.entries(errors)) {
    const parts = path.split('.');
    const last = parts.at(-1) ?? '';
    const field =
      fieldOfPath[parts.slice(-2).join('.')] ??
      fieldOfPath[last] ??
      fieldOfPath[last.toLowerCase()];
    const column = columns.find((one) => one?.field === field);
    named[column?.label === undefined ? path : `$.${column.label}`] ??= found;
  }
  return named;
}

function given(fields: Row): Row {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Of `341`, `1`, `341 - Itaú` or an ISPB; null for another text, such as `BRADESCO`. */
export function ispbOf(text: string): string | null {
  if (/^(?=.*\d)[0-9A-Z]{8}$/.test(text.trim())) return text.trim();
  const code = /^\d{1,7}(?=\D|$)/.exec(text.trim())?.[0];
  if (code === undefined) return null;
  // As a number in a sheet, an ISPB has lost its leading zeros.
  const bank =
    code.length <= 3 ? getBankByCode(code.padStart(3, '0')) : getBankByIspb(code.padStart(8, '0'));
  return bank?.ispb ?? null;
}

const accountTypes = [
  ['CURRENT', /^(conta )?(corrente|current|cc)$/],
  ['SAVING', /^(conta )?(poupanca|savings?|cp)$/],
  ['PAYMENT', /^(conta )?(de )?(pagamentos?|payment)$/],
  ['SALARY', /^(conta )?(salario|salary)$/],
] as const;

/** Without a column it is a current account; null for a word that is none. */
function accountTypeOf(text: unknown): string | null {
  if (typeof text !== 'string') return 'CURRENT';
  const word = plainWords(text);
  return accountTypes.find(([, pattern]) => pattern.test(word))?.[0] ?? null;
}
