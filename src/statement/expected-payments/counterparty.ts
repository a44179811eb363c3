// Normalizes accounts, so that the values of a request and of a statement line compare equal.
export interface CounterpartyAccount {
  ispb: string;
  branch: string;
  number: string;
}

/** `ispb/branch/number`, without hyphens and points: banks write them inconsistently. */
export function formatCounterparty({ ispb, branch, number }: CounterpartyAccount): string {
  return [ispb, branch, number].map(normalizeAccountNumber).join('/');
}

/**
 * The account number alone: a client knows only the number of another account at the same bank. A
 * counterparty from `formatCounterparty` ends with this number.
 */
export function normalizeAccountNumber(text: string): string {
  const characters = text.toUpperCase().replace(/[^0-9A-Z]/g, '');
  // `0001` and `1` are the same branch, `0123` and `123` the same account.
  return characters.replace(/^0+(?=.)/, '');
}
