// How the API shows a counterparty, and what a caller may see of it.
import { nameSchemas } from '../../bank-contract/wire.js';
import { z } from 'zod';
import { maskResponse } from './masked-response.js';
import { maskCounterparty, maskParty, maskValue } from './masking.js';
import { unknownParty, type PaymentParty } from './party.js';
import { counterpartySources, type Counterparty } from './resolution.js';

/** Null where unknown. Without the scope `personal-data`, masked and without message. */
export const counterpartyView = z.object({
  name: z.string().nullable(),
  taxId: z.string().nullable().describe('CPF or CNPJ without punctuation; `*` where it is masked.'),
  ispb: z.string().nullable(),
  branch: z.string().nullable(),
  account: z.string().nullable(),
  message: z.string().nullable().describe('What the payer wrote.'),
  source: z.enum(counterpartySources).nullable().describe('What the name comes from.'),
});

/** Whether a caller with these scopes may see who paid. */
export function seesPersonalData(scopes: readonly string[]): boolean {
  return scopes.includes('personal-data');
}

export function shownCounterparty(counterparty: Counterparty, isVisible: boolean): Counterparty {
  return isVisible ? counterparty : maskCounterparty(counterparty);
}

/** A party of whom only the name and the tax id are known. */
export function shownParty(
  { name, taxId }: Pick<PaymentParty, 'name' | 'taxId'>,
  isVisible: boolean,
): Pick<PaymentParty, 'name' | 'taxId'> {
  const shown = isVisible ? { name, taxId } : maskParty({ ...unknownParty, name, taxId });
  return { name: shown.name, taxId: shown.taxId };
}

/** Who receives money, as `maskValue` hides it. */
export function shownPayee(payee: string | null, scopes: readonly string[]): string | null {
  return seesPersonalData(scopes) ? payee : maskValue('payee', payee);
}

/** A view of a request and the bank's response to it, as a caller with these scopes may see it. */
export function shownResponse<View>(view: View, scopes: readonly string[]): View {
  return seesPersonalData(scopes) ? view : maskResponse(view);
}

/** A list of such views. */
export function shownList<View, List extends { data: View[] }>(
  list: List,
  scopes: readonly string[],
): List {
  return { ...list, data: list.data.map((view) => shownResponse(view, scopes)) };
}

nameSchemas({ Counterparty: counterpartyView });
