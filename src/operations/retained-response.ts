// What stays of the bank's response to an operation that has ended long ago: everything but the
// data of persons. `/v1/charges` and other views show it, and repeats of the request get it.
import { withoutPersonalFields } from '../counterparties/masked-response.js';
import { parseJson, stringifyJson } from '../platform/exact-json.js';

/**
 * The response without personal data. Its fields stay: a text is empty, anything else is null.
 * Null if the text is not JSON.
 */
export function withoutPersonalData(text: string): string | null {
  try {
    return stringifyJson(withoutPersonalFields(parseJson(text)));
  } catch {
    return null;
  }
}
