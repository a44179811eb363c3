// Whom the look-up of a Pix key names, as it is stored until it is too old.
import { z } from 'zod';
import { readParty, type PaymentParty } from '../../access/counterparties/party.js';
import type { PixLookupResponse } from '../../bank-contract/pix-lookup.js';
import { parsePixKey } from '../../brazil/pix-key.js';

export interface LookedUpPayee extends PaymentParty {
  /** In the form of the DICT. */
  key: string;
}

const part = z.string().nullable();
const stored = z.object({
  ...{ key: z.string(), name: part, taxId: part, ispb: part, branch: part, account: part },
});

export function lookedUpPayee(key: string, { beneficiary }: PixLookupResponse): LookedUpPayee {
  return { ...readParty(beneficiary), key: parsePixKey(key)?.key ?? key };
}

export function readLookedUpPayee(text: string): LookedUpPayee {
  return stored.parse(JSON.parse(text));
}
