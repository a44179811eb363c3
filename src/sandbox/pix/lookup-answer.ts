import { formatTaxId, maskTaxId, parseTaxId } from '../../brazil/tax-id.js';
import type { PixLookupRequest, PixLookupResponse } from '../../contract/pix-lookup.js';
import type { Lookup } from './dict.queries.js';

/** As a look-up shows it: a CPF by its six middle digits, a CNPJ without its first and last two. */
export function maskedDocument(document: string): string {
  const taxId = parseTaxId(document);
  if (!taxId) return '*'.repeat(document.length);
  if (taxId.kind === 'NATURAL') return maskTaxId(taxId);
  return `**${formatTaxId(taxId).slice(2, -2)}**`;
}

/** `holderDocument` is what the caller believes to be the holder's. */
export function lookupAnswer(
  { endToEndId, key, beneficiary }: Pick<Lookup, 'endToEndId' | 'key' | 'beneficiary'>,
  holderDocument: PixLookupRequest['holderDocument'],
): PixLookupResponse {
  const { number, branch, type, participant, holder } = beneficiary;
  const asked = holderDocument ? parseTaxId(holderDocument) : null;
  return {
    endToEndId,
    key,
    beneficiary: {
      number,
      branch,
      type,
      participant,
      holder: { name: holder.name, document: maskedDocument(holder.document), type: holder.type },
    },
    keyBelongsHolder: asked !== null && asked.number === parseTaxId(holder.document)?.number,
  };
}
