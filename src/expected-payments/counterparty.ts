// The other side of a movement in one spelling, so that what was asked for and what a line tells can be compared.
export interface AccountAtBank {
  ispb: string;
  branch: string;
  number: string;
}

/** `ispb/branch/number`: without the hyphens and points that banks write in some places and not in others. */
export function writeCounterparty({ ispb, branch, number }: AccountAtBank): string {
  return [ispb, branch, number].map(plain).join('/');
}

/** An account of the bank itself, of which the client knows the number alone: what a counterparty ends with. */
export function accountNumber(text: string): string {
  return plain(text);
}

/**
 * A CPF or CNPJ by its digits and letters alone, so that what was asked for and what a line tells can be compared; null
 * for what is none, as where the bank masks it.
 */
export function plainDocument(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  const bare = text.toUpperCase().replace(/[.\-/\s]/g, '');
  return /^(?:\d{11}|[0-9A-Z]{12}\d{2})$/.test(bare) ? bare : null;
}

function plain(text: string): string {
  const bare = text.toUpperCase().replace(/[^0-9A-Z]/g, '');
  // `0001` and `1` are one branch, `0123` and `123` one account.
  return bare.replace(/^0+(?=.)/, '');
}
