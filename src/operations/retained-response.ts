// What stays of the bank's response to an operation that has ended long ago: everything but the
// data of persons. `/v1/charges` and other views show it, and repeats of the request get it.
import { isJsonObject, parseJson, stringifyJson } from '../platform/exact-json.js';

/** Names of fields with personal data, in lower case, as the contract and its usages spell them. */
const personalFields = new Set([
  ...['name', 'fantasyname', 'beneficiaryname', 'mothername', 'fathername', 'birthdate'],
  ...['document', 'taxid', 'cpf', 'cnpj', 'email', 'phone', 'address', 'pixkey', 'key'],
  // Free texts that people write.
  ...['description', 'additionalinfo', 'additionalinformation', 'notes', 'message'],
]);

/** Below these fields stand institutions and kinds, whose names are not personal data. */
const impersonalFields = new Set(['participant', 'issuer', 'bank', 'type', 'error']);

/**
 * The response without personal data. Its fields stay: a text is empty, anything else is null.
 * Null if the text is not JSON.
 */
export function withoutPersonalData(text: string): string | null {
  try {
    return stringifyJson(redacted(parseJson(text)));
  } catch {
    return null;
  }
}

function redacted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redacted);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([field, content]) => {
      const name = field.toLowerCase();
      if (personalFields.has(name)) return [field, typeof content === 'string' ? '' : null];
      return [field, impersonalFields.has(name) ? content : redacted(content)];
    }),
  );
}
