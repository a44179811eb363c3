import { formatTaxId, maskTaxId, parseTaxId } from '../../brazil/tax-id.js';
import type { PixLookupRequest, PixLookupResponse } from '../../bank-contract/pix-lookup.js';
import type { DictLookup as DictLookupRow } from '../../generated/sandbox/client.js';
import type { Party } from '../accounts/party.js';

/** The stored response of a look-up. */
export interface DictLookup extends DictLookupRow {
  /** With the holder's document unmasked. */
  beneficiary: Party;
}

/**
 * Masks a document as a look-up shows it: a CPF except its six middle digits, a CNPJ at its ends.
 */
export function maskedDocument(document: string): string {
  const taxId = parseTaxId(document);
  if (!taxId) return '*'.repeat(document.length);
  if (taxId.kind === 'NATURAL') return maskTaxId(taxId);
  return `**${formatTaxId(taxId).slice(2, -2)}**`;
}

/** `holderDocument` is the document that the caller expects the holder to have. */
export function dictLookupResponse(
  { endToEndId, key, beneficiary }: Pick<DictLookup, 'endToEndId' | 'key' | 'beneficiary'>,
  holderDocument: PixLookupRequest['holderDocument'],
): PixLookupResponse {
  const { number, branch, type, participant, holder } = beneficiary;
  const expected = holderDocument ? parseTaxId(holderDocument) : null;
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
    keyBelongsHolder: expected !== null && expected.number === parseTaxId(holder.document)?.number,
  };
}
