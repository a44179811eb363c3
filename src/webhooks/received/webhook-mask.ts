// A stored webhook as a person without the right to personal data sees it. The bank's published
// shapes conflict, and a webhook in quarantine has fields that nobody knows: a text is shown only
// where the name of its field says that it is an id, a time or a kind.
import { maskResponse } from '../../access/counterparties/masked-response.js';
import { isJsonObject } from '../../platform/json/exact-json.js';

export const hiddenText = '•••';

const impersonalField =
  /(^id|Id|_id|At|_at|[dD]ate|[tT]ime|[sS]tatus|[tT]ype|[cC]ode|[aA]mount|[cC]urrency|[eE]vent|nsu|NSU|[mM]ethod|[vV]ersion|[iI]spb|[kK]ind|[sS]equence)$/;
const personalField = /tax|document|cpf|cnpj|person|client|customer/i;
/** Eleven or fourteen digits with punctuation: a CPF, a CNPJ, or a telephone number. */
const taxIdLike = /^[\d.\-/() +*]*$/;

/** Numbers, ids, times and kinds stay; names and tax ids are masked; other texts are hidden. */
export function maskWebhook(fields: Record<string, unknown>): Record<string, unknown> {
  return withoutTexts(fields, maskResponse(fields)) as Record<string, unknown>;
}

/** `masked` has the fields of `value`, and shows of persons what may be shown. */
function withoutTexts(value: unknown, masked: unknown, name = ''): unknown {
  if (typeof masked === 'string') {
    if (masked !== value) return masked;
    return isImpersonal(name, masked) ? masked : hiddenText;
  }
  if (Array.isArray(masked) && Array.isArray(value))
    return masked.map((one, index) => withoutTexts(value[index], one, name));
  if (!isJsonObject(masked) || !isJsonObject(value)) return masked;
  return Object.fromEntries(
    Object.entries(masked).map(([field, content]) => [
      field,
      withoutTexts(value[field], content, field),
    ]),
  );
}

function isImpersonal(name: string, text: string): boolean {
  if (!impersonalField.test(name) || personalField.test(name)) return false;
  const digits = text.replace(/\D/g, '').length;
  const isTaxId = taxIdLike.test(text) && (digits === 11 || digits === 14);
  return text.length <= 100 && (!isTaxId || /nsu$/i.test(name));
}
