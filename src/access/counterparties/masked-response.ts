// What requests and the bank's responses say about persons: which fields it is in, and how callers
// without the scope `personal-data` see it. It is masked as a counterparty is.
import { isJsonObject, parseJson, stringifyJson } from '../../platform/json/exact-json.js';
import { maskValue } from './masking.js';

const nameFields = new Set(['name', 'fantasyname', 'beneficiaryname', 'mothername', 'fathername']);
const taxIdFields = new Set(['document', 'taxid', 'cpf', 'cnpj']);
const contactFields = ['birthdate', 'email', 'phone', 'address', 'pixkey'];
/** Names of fields with personal data, in lower case, as the contract and its usages spell them. */
const partyFields: ReadonlySet<string> = new Set([...nameFields, ...taxIdFields, ...contactFields]);
/** The bank writes into the notes of a movement whom it pays. */
const maskedFields: ReadonlySet<string> = new Set([...partyFields, 'notes']);
const personalFields: ReadonlySet<string> = new Set([
  ...partyFields,
  // A Pix key, and free texts that people write.
  ...['key', 'description', 'additionalinfo', 'additionalinformation', 'notes', 'message'],
]);

/**
 * Below these fields stand institutions and kinds, whose names are not personal data, and the texts
 * of the business system.
 */
const impersonalFields = new Set(['participant', 'issuer', 'bank', 'type', 'error', 'metadata']);

const accountFields = new Set([
  ...['account', 'accountnumber', 'beneficiaryaccount', 'beneficiaryaccountnumber'],
]);

/**
 * JSON text without personal data, as it stays of the response to an operation that ended long ago.
 * Its fields stay: a text is empty, anything else is null. Null if the text is not JSON.
 */
export function withoutPersonalData(text: string): string | null {
  const withoutText: Replacement = (field, content) =>
    personalFields.has(field) ? emptied(content) : undefined;
  try {
    return stringifyJson(replaced(parseJson(text), withoutText));
  } catch {
    return null;
  }
}

/**
 * A request, or the bank's response to it, as a caller without the scope `personal-data` sees it.
 * Its texts are the business system's own, and have the codes by which a charge is paid.
 */
export function maskResponse<Value>(value: Value): Value {
  return replaced(value, masked(maskedFields)) as Value;
}

const referenceValues = new Set(['value', 'referencevalue']);

type Replacement = (field: string, content: unknown, parent: object) => unknown;

/** `replace` returns undefined for a field that is no personal data. Its name is in lower case. */
function replaced(value: unknown, replace: Replacement): unknown {
  if (Array.isArray(value)) return value.map((one) => replaced(one, replace));
  if (!isJsonObject(value) || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, content]) => {
      const field = name.toLowerCase();
      if (impersonalFields.has(field)) return [name, content];
      const replacement = replace(field, content, value);
      return [name, replacement === undefined ? replaced(content, replace) : replacement];
    }),
  );
}

const masked =
  (fields: ReadonlySet<string>): Replacement =>
  (field, content, parent) => {
    const isAccount = accountFields.has(field) || (field === 'number' && isParty(parent));
    if (typeof content === 'string') {
      if (nameFields.has(field)) return maskValue('name', content);
      if (taxIdFields.has(field)) return maskValue('taxId', content);
      if (isAccount) return maskValue('account', content);
      if (referenceValues.has(field) && isPersonalReference(parent))
        return maskValue('payee', content);
    }
    return fields.has(field) ? emptied(content) : undefined;
  };

/** An account may be a reference of a payment, and so in what explains a line or a break. */
function isPersonalReference(value: object): boolean {
  const { kind, referenceKind } = value as { kind?: unknown; referenceKind?: unknown };
  return kind === 'counterparty' || referenceKind === 'counterparty';
}

function isParty(value: object): boolean {
  return ['branch', 'holder', 'participant', 'bank'].some((field) => field in value);
}

function emptied(content: unknown): string | null {
  return typeof content === 'string' ? '' : null;
}
