// Who paid a credit, or was paid by a debit, as the proof of the line names it.
import { isJsonObject } from '../platform/exact-json.js';
import type { StatementLine } from '../generated/service/client.js';

/** Null where the bank does not say it. */
export interface LineCounterparty {
  name: string | null;
  /** CPF or CNPJ, or as much of it as the bank shows. */
  taxId: string | null;
  ispb: string | null;
  branch: string | null;
  account: string | null;
}

const unknown: LineCounterparty = {
  name: null,
  taxId: null,
  ispb: null,
  branch: null,
  account: null,
};

/**
 * The payer of a credit, the beneficiary of a debit. A party of a Pix has its name and document in
 * its holder, the payer of a bank slip has them itself. The content of an erased line is empty.
 */
export function counterpartyOf({
  content,
  isCredit,
}: Pick<StatementLine, 'content' | 'isCredit'>): LineCounterparty {
  if (content === '') return unknown;
  const proof = fieldOf(JSON.parse(content), 'proof');
  const party = fieldOf(proof, isCredit ? 'payer' : 'beneficiary');
  const holder = fieldOf(party, 'holder');
  return {
    name: textOf(fieldOf(holder, 'name')) ?? textOf(fieldOf(party, 'name')),
    taxId: textOf(fieldOf(holder, 'document')) ?? textOf(fieldOf(party, 'document')),
    ispb: textOf(fieldOf(fieldOf(party, 'participant'), 'ispb')),
    branch: textOf(fieldOf(party, 'branch')),
    account: textOf(fieldOf(party, 'number')),
  };
}

function fieldOf(value: unknown, name: string): unknown {
  return isJsonObject(value) ? value[name] : undefined;
}

/** A number of the bank is text. A JSON number may have lost leading zeros or last digits. */
function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
